//! PI: a proportional-integral controller that steers the queue to `q_ref`.
//!
//! At the frequency `w`, with the queue q(k) now and q(k-1) one period ago:
//!
//! ```text
//! p <- p + a (q(k) - q_ref) - b (q(k-1) - q_ref), then clipped to [0, 1]
//! ```
//!
//! Every arrival is dropped (marked) with probability p. At a constant queue, p changes by (a - b)(q - q_ref) per
//! period; clipping prevents wind-up.
//!
//! With a `design`, the gains are those of the INFOCOM paper for at least N connections with round-trip times of at
//! most R on a link of C packets/s (PI* in the LRED paper, with N and R of the traffic itself):
//!
//! ```text
//! z = 2 N / (R^2 C)     K = z |1 + j z R| (2 N)^2 / (R C)^3     a, b = K (1 / z +- 1 / (2 w))
//! ```
//!
//! The rule presumes a window R C / N of at least 2. For smaller windows the gains become too large: a = 1.26 for 800
//! connections of 100 ms at 2500 packets/s, where p jumps between 0 and 1. With `raise`, such an R is raised to 2 N /
//! C. A window of 2 is no guarantee either: in the paper's model the loop is stable from 2.33.
//!
//! Decides at: enqueue. Timer: 1 / `frequency`. Randomness: one draw per arrival. State: p and q(k-1), both 0 at the
//! start.
//!
//! # Departures from the source
//! The first update comes one period after the start, not at the start; ns-2's first update, on an empty queue, leaves
//! p at 0. No random number is drawn for a packet that overflows the buffer.
//!
//! # Sources
//! Hollot, Misra, Towsley, Gong, "On designing improved controllers for AQM routers supporting TCP flows",
//! INFOCOM 2001; ns-2.35, pi.cc, against whose update equation it is tested. The design is compared with the gains
//! that its authors and the survey of Koo et al. print, and with independently computed gains of the LRED paper's PI*.

use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::float::sqrt;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Frequency, Rate, Span, Time};

crate::params! {
    /// PI's parameters.
    pub struct Params {
        /// Target queue length, in packets in byte mode too: the survey's 70 000 bytes are 70 packets of 1000 bytes.
        /// The default is ns-2's; the LRED paper uses 100.
        q_ref: f64 = 50.0, "packets", Range::new(0.0, 1e9), ["q0", "target", "qref_", "qref"];
        /// Gain on the present error (ns-2's and the INFOCOM paper's, for 500-byte packets).
        a: f64 = 1.822e-5, "per packet", Range::above(0.0, 1e3), ["a_"];
        /// Gain on the error one period ago; at most `a`, or the controller would push away from the target.
        b: f64 = 1.816e-5, "per packet", Range::new(0.0, 1e3), ["b_"];
        /// Update frequency of p.
        frequency: Frequency = Frequency(170.0), "Hz", Range::new(1e-3, 1e6), ["w", "f", "w_"];
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "", Range::ANY, ["queue_in_bytes_"];
        /// Scale p by a packet's size over `mean_packet`, so that small packets are dropped more rarely.
        by_size: bool = false, "", Range::ANY, ["bytes_"];
        /// The packet size for `q_ref`, `a` and `b`, with `bytes` and `by_size`; if omitted, the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["mean_pktsize_"];
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "", Range::ANY, ["setbit_"];
        /// The traffic for which the gains are computed, instead of `a` and `b`; if omitted, these apply.
        design: Option<Design> = None, "";
    }
}

crate::params! {
    /// The traffic for which PI's gains are computed.
    pub struct Design {
        /// The smallest number of connections, N-.
        n: f64 = 100.0, "", Range::above(0.0, 1e9), ["N"];
        /// The longest round-trip time, R+, including queueing.
        rtt: Span = Span::ms(450), "s", Range::above(0.0, 1e3), ["R"];
        /// The link's rate; if omitted, the port's.
        rate: Option<Rate> = None, "bit/s", Range::above(0.0, 1e15), ["C"];
        /// The packet size in which windows are counted; if omitted, the port's packet.
        packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Raise `rtt` to 2 N / C if it is shorter, where the rule does not apply.
        raise: bool = false, "";
    }
}

impl Design {
    /// The gains a and b for updates at this frequency.
    fn gains(&self, frequency: Frequency, port: &Port) -> (f64, f64) {
        let c = self.rate.unwrap_or(port.rate).packets(self.packet.unwrap_or(port.packet));
        let (n2, mut r) = (2.0 * self.n, self.rtt.secs());
        if self.raise {
            r = r.max(n2 / c);
        }
        let z = n2 / (r * r * c);
        let window = r * c;
        let k = z * sqrt(1.0 + z * r * z * r) * n2 * n2 / (window * window * window);
        let half = k / (2.0 * frequency.0);
        (k / z + half, k / z - half)
    }
}

impl Params {
    /// The gains a and b on this port: those of the `design`, if there is one.
    #[must_use]
    pub fn gains(&self, port: &Port) -> (f64, f64) {
        let given = (self.a, self.b);
        self.design.as_ref().map_or(given, |design| design.gains(self.frequency, port))
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

impl Pi {
    /// p after a period that ends with this queue.
    fn next(&self, q: f64) -> f64 {
        (self.p + self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref)).clamp(0.0, 1.0)
    }

    /// The update after a period that ends with a queue of `q` packets.
    pub fn step(&mut self, q: f64) {
        self.p = self.next(q);
        self.q_old = q;
    }

    /// Drop probability since the last update.
    #[must_use]
    pub const fn p(&self) -> f64 {
        self.p
    }
}

impl Aqm for Pi {
    type Params = Params;
    const SIGNALS: &'static [Signal] =
        &[Signal { name: "p", unit: "", doc: "Drop probability since the last update." }];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("survey", "160 Hz and 70 packets of 1000 bytes, as in the survey of Koo et al."),
        ("ns2.35", "ns-2.35's defaults, the RAQM paper's PI: packets of 500 bytes whatever the traffic's"),
        ("lred", "The LRED paper's PI: ns-2's gains and a target of 100 packets"),
        (
            "pi-star",
            "the LRED paper's PI*: gains designed for N- = 100 connections and R+ = 450 ms on this link",
        ),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let (a, b) = params.gains(port);
        Self {
            q_ref: params.q_ref,
            a,
            b,
            period: Span::from_secs(1.0 / params.frequency.0),
            bytes: params.bytes,
            by_size: params.by_size,
            mean: params.mean_packet.unwrap_or(port.packet).0 as f64,
            ecn: params.ecn,
            p: 0.0,
            q_old: 0.0,
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let pi = Self::new(params, port);
        let period = pi.period.nanos() as f64;
        let values = vec![("a", pi.a), ("b", pi.b), ("period", period), ("mean_packet", pi.mean)];
        Numbers { values, of: vec!["frequency", "design"] }
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
                design: None,
            }),
            "ns2.35" => Some(Params { mean_packet: Some(Bytes(500)), ..Params::default() }),
            "lred" => Some(Params { q_ref: 100.0, ..Params::default() }),
            "pi-star" => Some(Params { q_ref: 100.0, design: Some(Design::default()), ..Params::default() }),
            _ => None,
        }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        let default = Params::default();
        for (name, given, default) in [("a", params.a, default.a), ("b", params.b, default.b)] {
            if params.design.is_some() && given != default {
                return Err(ParamError::invalid(name, given, "left out where there is a design"));
            }
        }
        if params.b > params.a {
            return Err(ParamError::invalid("b", params.b, format!("at most a = {}", params.a)));
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
        self.step(queue.length(self.bytes, self.mean));
    }

    fn rests(&self, queue: &Backlog) -> bool {
        let q = queue.length(self.bytes, self.mean);
        q == self.q_old && self.next(q).to_bits() == self.p.to_bits()
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        (self.p, self.q_old) = (before.p, before.q_old);
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
        // 1 + 1 (9 - 10) - 0.5 (20 - 10) < 0: p falls at once, without windup.
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
    fn ecn_marks_packets_that_can_be_marked_and_drops_the_others() {
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

    /// The gains for n connections of `ms` at a frequency, at 2500 packets/s.
    fn designed(n: f64, ms: u64, frequency: f64) -> (f64, f64) {
        let design = Some(Design { n, rtt: Span::ms(ms), ..Design::default() });
        let pi = Pi::new(&Params { design, frequency: Frequency(frequency), ..Params::default() }, &PORT);
        (pi.a, pi.b)
    }

    /// Asserts equality to the digits that a table prints.
    #[track_caller]
    fn assert_digits(found: (f64, f64), a: f64, b: f64, digits: f64) {
        for (found, expected) in [(found.0, a), (found.1, b)] {
            assert!((found / expected - 1.0).abs() < 0.5 / digits, "{found} instead of {expected}");
        }
    }

    #[test]
    fn the_design_gives_the_gains_of_the_survey_for_its_60_connections_of_180_ms() {
        assert_digits(designed(60.0, 180, 160.0), 1.643e-4, 1.628e-4, 1.6e3);
        assert_digits(designed(60.0, 180, 160.0), 1.643_04e-4, 1.627_90e-4, 1.6e5);
    }

    /// The INFOCOM paper rounds its controller, which changes the gains by 1.7 %.
    #[test]
    fn the_design_gives_ns2s_gains_but_for_a_rounding_in_their_paper() {
        let design =
            Design { n: 60.0, rtt: Span::ms(246), rate: Some(Rate::mbit_per_s(15)), ..Design::default() };
        assert_digits(design.gains(Frequency(160.0), &PORT), 1.853e-5, 1.847e-5, 1.8e3);
    }

    #[test]
    fn the_design_gives_the_lred_papers_pi_star() {
        for (n, ms, a, b) in [
            (100.0, 450, 2.857e-5, 2.850e-5),
            (200.0, 450, 1.1954e-4, 1.1899e-4),
            (300.0, 450, 2.8755e-4, 2.8555e-4),
            (400.0, 450, 5.5412e-4, 5.4899e-4),
            (500.0, 450, 9.4515e-4, 9.3423e-4),
            (600.0, 500, 1.0278e-3, 1.0163e-3),
            (1000.0, 900, 4.7121e-4, 4.6848e-4),
            (80.0, 550, 9.920e-6, 9.908e-6),
            (200.0, 600, 4.913e-5, 4.900e-5),
            (800.0, 100, 1.261, 0.862),
        ] {
            assert_digits(designed(n, ms, 170.0), a, b, 8e2);
        }
    }

    #[test]
    fn a_round_trip_too_short_for_the_rule_is_raised_on_demand() {
        let gains = |ms, raise| {
            Design { n: 800.0, rtt: Span::ms(ms), raise, ..Design::default() }.gains(Frequency(170.0), &PORT)
        };
        assert_eq!(gains(100, true), gains(640, false));
        assert_eq!(gains(700, true), gains(700, false));
        assert_digits(gains(700, true), 6.4971e-4, 6.4473e-4, 6e4);
    }

    #[test]
    fn a_design_is_read_from_a_table_and_leaves_no_room_for_gains() {
        use crate::params::{Params as _, Value};
        let entry = |key: &str, value| (key.to_owned(), value);
        let table =
            Value::Table(vec![entry("n", Value::Integer(300)), entry("rtt", Value::Text("450 ms".into()))]);
        let mut params = Params::default();
        params.set("design", &table).unwrap();
        assert!(Pi::check(&params).is_ok());
        let pi = Pi::new(&params, &PORT);
        assert_eq!((pi.a, pi.b), designed(300.0, 450, 170.0));
        params.set("a", &Value::Float(0.1)).unwrap();
        let error = Pi::check(&params).unwrap_err();
        assert_eq!(error.to_string(), "a = 0.1: must be left out where there is a design");
    }

    #[test]
    fn the_surveys_70_000_bytes_are_70_packets() {
        let mut pi = Pi::new(&Pi::preset("survey").unwrap(), &PORT);
        let queue = Backlog { packets: 700, bytes: 70_000, full: false };
        pi.on_period(Time::ZERO, &queue);
        let p = pi.p;
        pi.on_period(Time::ZERO, &queue);
        assert_close(pi.p, p);
    }
}
