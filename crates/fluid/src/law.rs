//! The algorithms in the mean.

use crate::model::Unsupported;
use aqm::aqm::{AnyParams, Port};

/// The algorithms that have a law.
const KNOWN: &str = "droptail, lred, pi, rem, red, ared, avq, raqm, blue";

/// What an algorithm does in the mean.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Whether it marks packets of ECN-capable transports.
    pub(crate) marks: bool,
    /// What of it is left out.
    pub(crate) left_out: Vec<String>,
}

impl Rule {
    /// The algorithm at its start.
    pub(crate) fn new(params: &AnyParams, _port: &Port) -> Result<Self, Unsupported> {
        let marks = match params {
            AnyParams::DropTail(_) => false,
            AnyParams::Lred(p) => p.ecn,
            AnyParams::Pi(p) => p.ecn,
            AnyParams::Rem(p) => p.ecn,
            AnyParams::Red(p) => p.ecn,
            AnyParams::Ared(p) => p.red.ecn,
            AnyParams::Avq(p) => p.ecn,
            AnyParams::Raqm(p) => p.ecn,
            AnyParams::Blue(p) => p.ecn,
            other => {
                return Err(Unsupported::new(format!(
                    "aqm.name = {:?}: the fluid model has laws for {KNOWN}; for others use `aqmlab run`",
                    other.name()
                )));
            }
        };
        Ok(Self { marks, left_out: Vec::new() })
    }
}
