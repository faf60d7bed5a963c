//! PI: a proportional-integral controller that steers the queue to `q_ref`.
//!
//! At the frequency `w`, with the queue q(k) now and q(k-1) one period ago:
//!
//! ```text
//! p <- p + a (q(k) - q_ref) - b (q(k-1) - q_ref), then clipped to [0, 1]
//! ```
//!
//! Every arrival is dropped (marked) with probability p. At a constant queue p changes by (a - b)(q - q_ref) a
//! period; the clipping is the anti-windup.
//!
//! Decides at: enqueue. Timer: 1 / `frequency`. Randomness: one draw an arrival. State: p and q(k-1), both 0 at
//! the start.
//!
//! # Departures from the source
//! The first update comes one period after the start, not at it; ns-2's, on an empty queue, leaves p at 0. A packet
//! that the buffer refuses costs no draw.
//!
//! # Sources
//! Hollot, Misra, Towsley, Gong, "On designing improved controllers for AQM routers supporting TCP flows",
//! INFOCOM 2001; ns-2.35, pi.cc, against whose update equation it is tested.

use crate::aqm::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Frequency, Span, Time};

crate::params! {
    /// PI's parameters.
    pub struct Params {
        /// Target queue length. ns-2's default; the LRED paper sets 100.
        q_ref: f64 = 50.0, "packets", Range::new(0.0, 1e9), ["q0", "target", "qref_", "qref"];
        /// Gain on the present error (ns-2's and the INFOCOM paper's, for 500-byte packets).
        a: f64 = 1.822e-5, "per packet", Range::above(0.0, 1e3), ["a_"];
        /// Gain on the error one period ago; at most `a`, or the controller would push away from the target.
        b: f64 = 1.816e-5, "per packet", Range::new(0.0, 1e3), ["b_"];
        /// How often p is updated.
        frequency: Frequency = Frequency(170.0), "Hz", Range::new(1e-3, 1e6), ["w", "f", "w_"];
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "", Range::ANY, ["queue_in_bytes_"];
        /// Scale p by a packet's size over `mean_packet`, so that small packets are dropped more rarely.
        by_size: bool = false, "", Range::ANY, ["bytes_"];
        /// The packet size behind `q_ref`, `a` and `b`, for `bytes` and `by_size`; the port's packet if left out.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["mean_pktsize_"];
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "", Range::ANY, ["setbit_"];
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Pi {
    q_ref: f64,
    a: f64,
    b: f64,
    period: Span,
    bytes: bool,
    by_size: bool,
    mean: f64,
    ecn: bool,
    p: f64,
    q_old: f64,
}

impl Aqm for Pi {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Signal { name: "p", unit: "", doc: "Drop probability since the last update." }];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("survey", "160 Hz and 70 packets of 1000 bytes, as in the survey of Koo et al.")];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            q_ref: params.q_ref,
            a: params.a,
            b: params.b,
            period: Span::from_secs(1.0 / params.frequency.0),
            bytes: params.bytes,
            by_size: params.by_size,
            mean: params.mean_packet.unwrap_or(port.packet).0 as f64,
            ecn: params.ecn,
            p: 0.0,
            q_old: 0.0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "survey" => Some(Params {
                q_ref: 70.0,
                a: 1.643e-4,
                b: 1.628e-4,
                frequency: Frequency(160.0),
                bytes: true,
                by_size: false,
                mean_packet: Some(Bytes(1000)),
                ecn: true,
            }),
            _ => None,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.b > params.a {
            return Err(ParamError::Invalid {
                name: "b".to_owned(),
                found: params.b.to_string(),
                allowed: format!("at most a = {}", params.a),
            });
        }
        Ok(())
    }

    fn target(params: &Params) -> Option<f64> {
        Some(params.q_ref)
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        if queue.full {
            return Verdict::Pass;
        }
        let p = if self.by_size { self.p * f64::from(packet.size) / self.mean } else { self.p };
        if rng.happens(p) { Verdict::signal(self.ecn && packet.ect) } else { Verdict::Pass }
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_period(&mut self, _: Time, queue: &Backlog) {
        let q = queue.length(self.bytes, self.mean);
        self.p = (self.p + self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref)).clamp(0.0, 1.0);
        self.q_old = q;
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, numbers, vectors, waiting};

    #[test]
    fn p_follows_the_update_equation() {
        let vector = vectors("pi_ns2");
        let number = |key: &str| vector[key].as_f64().unwrap();
        let params = Params { q_ref: number("qref"), a: number("a"), b: number("b"), ..Params::default() };
        let mut pi = Pi::new(&params, &PORT);
        assert_close(pi.q_old, number("qold0"));
        assert_eq!(pi.period(), Some(Span::ns(5_882_353)));
        for (q, p) in numbers(&vector["q"]).into_iter().zip(numbers(&vector["p"])) {
            pi.on_period(Time::ZERO, &waiting(q as u32));
            assert_close(pi.p, p);
        }
    }

    #[test]
    fn p_is_clipped_at_one_and_comes_back_at_once() {
        let params = Params { q_ref: 10.0, a: 1.0, b: 0.5, ..Params::default() };
        let mut pi = Pi::new(&params, &PORT);
        for _ in 0..9 {
            pi.on_period(Time::ZERO, &waiting(20));
        }
        assert_close(pi.p, 1.0);
        // 1 + 1 (9 - 10) - 0.5 (20 - 10) < 0: no windup to work off.
        pi.on_period(Time::ZERO, &waiting(9));
        assert_close(pi.p, 0.0);
    }

    #[test]
    fn in_bytes_the_queue_counts_mean_packets_and_by_size_small_ones_are_spared() {
        for (bytes, by_size) in [(false, false), (false, true), (true, false), (true, true)] {
            let params = Params { q_ref: 0.0, a: 0.01, b: 0.0, bytes, by_size, ..Params::default() };
            let mut pi = Pi::new(&params, &PORT);
            // 10 packets of 250 bytes are 5 mean packets.
            pi.on_period(Time::ZERO, &Backlog { packets: 10, bytes: 2500, full: false });
            let p = if bytes { 0.05 } else { 0.1 };
            assert_close(pi.p, p);
            for (size, p) in [(500, p), (40, if by_size { p * 40.0 / 500.0 } else { p })] {
                let mut verdict =
                    |u| pi.on_enqueue(Time::ZERO, &Packet::new(size, false), &waiting(5), &mut Draw(u));
                assert_eq!(verdict(0.999 * p), Verdict::Drop);
                assert_eq!(verdict(1.001 * p), Verdict::Pass);
            }
        }
    }

    #[test]
    fn ecn_marks_what_can_be_marked_and_drops_the_rest() {
        let mut pi = Pi::new(&Params { a: 1.0, b: 0.0, ecn: true, ..Params::default() }, &PORT);
        pi.on_period(Time::ZERO, &waiting(200));
        assert_eq!(pi.on_enqueue(Time::ZERO, &PACKET, &waiting(200), &mut Draw(0.5)), Verdict::Mark);
        let udp = Packet { ect: false, ..PACKET };
        assert_eq!(pi.on_enqueue(Time::ZERO, &udp, &waiting(200), &mut Draw(0.5)), Verdict::Drop);
    }

    #[test]
    fn gains_that_push_away_from_the_target_are_refused() {
        assert!(Pi::check(&Params { a: 1e-5, b: 1e-5, ..Params::default() }).is_ok());
        let error = Pi::check(&Params { a: 1e-5, b: 2e-5, ..Params::default() }).unwrap_err();
        assert_eq!(error.to_string(), "b = 0.00002: must be at most a = 0.00001");
    }
}
