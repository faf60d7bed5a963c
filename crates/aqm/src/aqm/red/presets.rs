//! RED with the parameters of implementations, periods and papers.

use super::params::{Form, Params, Rules};
use super::spacing::Spacing;
use crate::unit::{Bytes, Frequency};

/// The names, and whose values they are.
pub(super) const PRESETS: &[(&str, &str)] = &[
    ("floyd1993", "The paper of 1993: thresholds 5 and 15, weight 0.002, max_p 1/50; not gentle"),
    ("floyd1997", "Floyd's recommendation of 1997: thresholds 5 and 15, weight 0.002, max_p 0.1, not gentle"),
    ("floyd2000", "Gentle RED as Floyd proposed it in 2000: the recommendation of 1997, and gentle"),
    (
        "ns2-2000",
        "ns-2 before May 2001: thresholds 5 and 15, weight 0.002, spacing \"wait\"; not gentle; marks below max_th",
    ),
    ("ns2-2001-05", "ns-2 from May 2001: gentle"),
    ("ns2-2001-12", "ns-2 from 29 December 2001: gentle, automatic thresholds and weight"),
    ("ns2.35", "ns-2.35's defaults: gentle, automatic thresholds and weight, byte mode, spacing \"wait\""),
    (
        "ns3",
        "ns-3's defaults: 500-byte packets on 1.5 Mbit/s whatever the link, max_p 1/50 (its buffer is 25 packets)",
    ),
    (
        "linux",
        "sch_red of Linux 7.2 as tc sets it: thresholds from the buffer, in bytes; marks also above max_th",
    ),
    (
        "inet",
        "INET's RedDropper: thresholds 5 and 50, 150 packets a second in idle time, marks also above max_th",
    ),
    ("cisco", "Cisco IOS random-detect at its documented defaults for precedence 0: 20, 40, 1/10 and 2^-9"),
    (
        "impact",
        "RED in the study of tail drop and RED: thresholds 30 and 90 (ours: lost in our copy), max_p 0.1, not gentle",
    ),
    (
        "impact-gred",
        "Its testbed's approximation of gentle RED: sharp RED with thresholds 30 (ours) and 130 and max_p 1",
    ),
    (
        "gred-i",
        "Its gentle RED on the instantaneous queue: thresholds 30 (ours) and 200, max_p 1, independent drops",
    ),
    ("survey", "The survey of Koo et al.: thresholds of 20 and 80 kB, max_p 1, marks below max_th"),
];

/// The parameters of a preset.
pub(super) fn preset(name: &str) -> Option<Params> {
    let thresholds = |min_th, max_th, max_p, w_q| Params {
        min_th: Some(min_th),
        max_th: Some(max_th),
        max_p: Some(max_p),
        w_q: Some(w_q),
        gentle: false,
        ..Params::default()
    };
    let ns2 = Params { spacing: Spacing::Wait, mark_p: 0.1, ..Params::default() };
    Some(match name {
        "floyd1993" => thresholds(5.0, 15.0, 0.02, 0.002),
        "floyd1997" => Params { max_p: None, ..thresholds(5.0, 15.0, 0.1, 0.002) },
        "floyd2000" => Params { max_p: None, gentle: true, ..thresholds(5.0, 15.0, 0.1, 0.002) },
        "ns2-2000" => Params { max_p: None, spacing: Spacing::Wait, ..thresholds(5.0, 15.0, 0.1, 0.002) },
        "ns2-2001-05" => Params { min_th: Some(5.0), max_th: Some(15.0), w_q: Some(0.002), ..ns2 },
        "ns2-2001-12" => ns2,
        "ns2.35" => Params { bytes: true, ..ns2 },
        "ns3" => Params {
            max_p: None,
            linterm: Some(50.0),
            gentle: true,
            spacing: Spacing::Wait,
            mean_packet: Some(Bytes(500)),
            pkrate: Some(Frequency(375.0)),
            spare_first: false,
            ..thresholds(5.0, 15.0, 0.02, 0.002)
        },
        "linux" => Params {
            max_p: Some(0.02),
            rules: Rules::Linux,
            gentle: false,
            bytes: true,
            by_size: Some(false),
            hard_drop: false,
            form: Form::Linux,
            ..Params::default()
        },
        "inet" => Params {
            pkrate: Some(Frequency(150.0)),
            hard_drop: false,
            spare_first: false,
            ..thresholds(5.0, 50.0, 0.02, 0.002)
        },
        "cisco" => thresholds(20.0, 40.0, 0.1, 1.0 / 512.0),
        "impact" => thresholds(30.0, 90.0, 0.1, 0.002),
        "impact-gred" => thresholds(30.0, 130.0, 1.0, 0.002),
        "gred-i" => Params { gentle: true, spacing: Spacing::None, ..thresholds(30.0, 200.0, 1.0, 1.0) },
        "survey" => Params {
            min_bytes: Some(Bytes(20_000)),
            max_bytes: Some(Bytes(80_000)),
            max_p: Some(1.0),
            w_q: Some(0.002),
            spacing: Spacing::Wait,
            bytes: true,
            // ns-2's default of 2004.
            by_size: Some(false),
            ecn: true,
            ..Params::default()
        },
        _ => return None,
    })
}
