//! The law that an algorithm declares which is written elsewhere: the derivative of its drop probability.

use super::SIGNALS;
use crate::unsupported::Unsupported;
use aqm::Port;
use aqm::user_defined::{Law, Params, parts};
use std::sync::Arc;

/// The law, and the greatest rate in 1/s at which p changes because of itself.
#[derive(Clone, Debug)]
pub(super) struct UserDefined {
    law: Arc<dyn Law>,
    pub(super) fastest: f64,
    /// The signals of the algorithm, and the place of p among them.
    signals: usize,
    p: Option<usize>,
}

impl UserDefined {
    pub(super) fn new(params: &Params, port: &Port) -> Result<Self, Unsupported> {
        let declaration = params.declaration();
        let class = parts(declaration.name).map_or(declaration.name, |(_, class)| class);
        let Some(law) = params.law(port) else {
            return Err(Unsupported::new(format!(
                "aqm.name = {:?}: {class} declares no law: give it a method rate(self, q, p) that returns dp/dt, or use \
                 `aqmlab run`",
                declaration.name
            )));
        };
        let signals = declaration.kind.signals.len();
        if signals > SIGNALS {
            return Err(Unsupported::new(format!(
                "aqm.name = {:?}: {class} has {signals} signals: the fluid engine records {SIGNALS} at most",
                declaration.name
            )));
        }
        let fastest = fastest(&*law, port.limit.packets(port.packet));
        let p = declaration.kind.signals.iter().position(|signal| signal.name == "p");
        Ok(Self { law: law.into(), fastest, signals, p })
    }

    pub(super) fn rate(&self, q: f64, p: f64, dq: f64) -> f64 {
        self.law.rate(q, p, dq)
    }

    /// Writes p; the law does not know the other signals.
    pub(super) fn signals(&self, p: f64, values: &mut [f64; SIGNALS]) -> usize {
        values[..self.signals].fill(f64::NAN);
        if let Some(place) = self.p {
            values[place] = p;
        }
        self.signals
    }
}

/// The greatest of the slopes of dp/dt over p, on a grid of queues up to a full buffer.
fn fastest(law: &dyn Law, buffer: f64) -> f64 {
    let queues = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0].map(|part| part * buffer.min(1e9));
    let points = [0.0, 1e-4, 1e-3, 1e-2, 0.1, 0.3, 0.6, 1.0];
    let slopes = queues.iter().flat_map(|&q| {
        points
            .windows(2)
            .map(move |ends| (law.rate(q, ends[1], 0.0) - law.rate(q, ends[0], 0.0)) / (ends[1] - ends[0]))
    });
    slopes.map(f64::abs).fold(0.0, f64::max)
}
