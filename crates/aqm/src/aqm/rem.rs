//! REM: drops with a probability that grows exponentially with a price, which rises while demand exceeds capacity.
//!
//! Every `interval`, the price u and the probability p become
//!
//! ```text
//! u <- max(0, u + gamma (q(k) - (1 - alpha) q(k-1) - alpha b_star))      form = "paper"
//! u <- max(0, u + gamma (in + alpha (q(k) - b_star) - c))                form = "ns2"
//! p = 1 - phi^-u
//! ```
//!
//! with q(k) the queue now, q(k-1) one interval ago, `in` the packets that arrived in the interval, smoothed with the
//! weight `inw`, and c the packets that the link can send in an interval. Every arrival is dropped (marked) with
//! probability p. The price has no upper bound, so a long overload winds it up.
//!
//! The forms agree while the link is busy and nothing is dropped, since the queue then grows by in - c. But `in`
//! counts dropped packets too: at a loss ratio l, the rate form settles at q = b_star - (c / alpha) l / (1 - l), below
//! its target.
//!
//! Decides at: enqueue; `form = "ns2"` with `ecn` at dequeue. Timer: `interval`. Randomness: one draw per decision.
//! State: u, p, q(k-1), arrivals; all are 0 at the start.
//!
//! # Departures from the source
//! ns-2 fixes alpha at 0.1, whatever value papers that use ns-2 list; here it is a parameter. ns-2's buffer of 200
//! packets holds 199; here it holds 200. No random number is drawn for a packet that overflows the buffer. As in ns-2,
//! the rate form with `ecn` marks ECN-capable packets as they leave and drops no packet early, not even one that
//! cannot be marked; the paper's form drops packets that cannot be marked.
//!
//! # Sources
//! Athuraliya, Li, Low, Yin, "REM: active queue management", IEEE Network 15(3), 2001; the LRED paper's
//! equation (36); ns-2.35, rem.cc. Tested against both equations.

use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Bytes, Span, Time};

crate::choice! {
    /// How the price measures demand.
    pub enum Form {
        /// By the change of the queue: equation (36) of the LRED paper.
        Paper = "paper",
        /// By the arrival rate, including dropped packets: ns-2's rem.cc.
        Ns2 = "ns2",
    }
}

crate::params! {
    /// REM's parameters.
    pub struct Params {
        /// Target queue length. The default is ns-2's; the LRED paper uses 100.
        b_star: f64 = 20.0, "packets", Range::new(0.0, 1e9), ["q0", "target", "pbo_"];
        /// Base of the exponential that turns the price into a probability.
        phi: f64 = 1.001, "", Range::above(1.0, 1e6), ["phi_"];
        /// Step size of the price.
        gamma: f64 = 0.001, "per packet", Range::above(0.0, 1e6), ["gamma_"];
        /// Weight of the queue's distance from the target, relative to the mismatch of rates.
        alpha: f64 = 0.1, "", Range::above(0.0, 1.0);
        /// Period of the update of the price.
        interval: Span = Span::ms(2), "s", Range::new(1e-6, 100.0), ["period", "pupdtime_"];
        /// How the price measures demand: `paper`, by the change of the queue; `ns2`, by the arrival rate.
        form: Form = Form::Paper, "";
        /// Weight of the present arrivals in their smoothed number, in the rate form. ns-2's default does not smooth.
        inw: f64 = 1.0, "", Range::above(0.0, 1.0), ["inw_"];
        /// Measure queue and arrivals in bytes over `mean_packet`.
        bytes: bool = false, "", Range::ANY, ["qib_"];
        /// Scale p by a packet's size over `mean_packet`, so that small packets are dropped more rarely. If omitted,
        /// as in ns-2: in the rate form with `bytes`, but not in the paper's form.
        by_size: Option<bool> = None, "", Range::ANY;
        /// The packet size for `b_star`, `bytes` and `by_size`, and for c in the rate form. It must be the real one,
        /// or the rate form misses its target (ns-2's default of 1000 B halves c for 500-byte packets). If omitted,
        /// the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["mean_pktsize_"];
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "", Range::ANY, ["markpkts_"];
    }
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Rem {
    b_star: f64,
    ln_phi: f64,
    gamma: f64,
    alpha: f64,
    interval: Span,
    form: Form,
    inw: f64,
    bytes: bool,
    by_size: bool,
    mean: f64,
    ecn: bool,
    /// The packets that the link can send in an interval.
    c: f64,
    u: f64,
    p: f64,
    q_old: f64,
    /// The arrivals of this interval, as a queue.
    arrived: Backlog,
    /// The arrivals of an interval, smoothed.
    input: f64,
}

impl Rem {
    /// Whether the decision is made when a packet leaves rather than when it arrives.
    #[inline]
    fn decides_late(&self) -> bool {
        self.ecn && self.form == Form::Ns2
    }

    /// The probability that this packet is marked or dropped; above 1 if certain.
    #[inline]
    fn chance(&self, packet: &Packet) -> f64 {
        if self.by_size { self.p * f64::from(packet.size) / self.mean } else { self.p }
    }

    /// The smoothed arrivals, the price and the probability after a period in which `arrived` packets came and that
    /// ends with a queue of `q`.
    fn next(&self, q: f64, arrived: f64) -> [f64; 3] {
        let input = (1.0 - self.inw) * self.input + self.inw * arrived;
        let excess = match self.form {
            Form::Paper => q - (1.0 - self.alpha) * self.q_old - self.alpha * self.b_star,
            Form::Ns2 => input + self.alpha * (q - self.b_star) - self.c,
        };
        let u = (self.u + self.gamma * excess).max(0.0);
        [input, u, -libm::expm1(-u * self.ln_phi)]
    }

    /// The update after such a period.
    pub fn step(&mut self, q: f64, arrived: f64) {
        [self.input, self.u, self.p] = self.next(q, arrived);
        self.q_old = q;
    }

    /// Drop probability since the last update.
    #[must_use]
    pub const fn p(&self) -> f64 {
        self.p
    }

    /// The price.
    #[must_use]
    pub const fn price(&self) -> f64 {
        self.u
    }
}

impl Aqm for Rem {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "Drop probability since the last update." },
        Signal { name: "price", unit: "", doc: "The price u." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        ("ns2.35", "ns-2.35's defaults: the rate form, packets of 1000 bytes, whatever the traffic's"),
        ("survey", "The survey of Koo et al.: ns-2's, for packets of 1000 bytes, with marks"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let mean = params.mean_packet.unwrap_or(port.packet);
        Self {
            b_star: params.b_star,
            ln_phi: libm::log(params.phi),
            gamma: params.gamma,
            alpha: params.alpha,
            interval: params.interval,
            form: params.form,
            inw: params.inw,
            bytes: params.bytes,
            by_size: params.by_size.unwrap_or(params.bytes && params.form == Form::Ns2),
            mean: mean.0 as f64,
            ecn: params.ecn,
            c: params.interval.secs() * port.rate.packets(mean),
            u: 0.0,
            p: 0.0,
            q_old: 0.0,
            arrived: Backlog::default(),
            input: 0.0,
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let rem = Self::new(params, port);
        let values = vec![
            ("log2_phi", rem.ln_phi * core::f64::consts::LOG2_E),
            ("by_size", f64::from(u8::from(rem.by_size))),
            ("mean_packet", rem.mean),
            ("c", rem.c),
        ];
        Numbers { values, of: vec!["phi"] }
    }

    fn preset(name: &str) -> Option<Params> {
        let ns2 = Params { form: Form::Ns2, mean_packet: Some(Bytes(1000)), ..Params::default() };
        match name {
            "ns2.35" => Some(ns2),
            "survey" => Some(Params { ecn: true, ..ns2 }),
            _ => None,
        }
    }

    fn target(params: &Params) -> Option<f64> {
        Some(params.b_star)
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        self.arrived.packets += 1;
        self.arrived.bytes += u64::from(packet.size);
        if queue.full || self.decides_late() || !rng.happens(self.chance(packet)) {
            return Verdict::Pass;
        }
        Verdict::signal(self.ecn && packet.ect)
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        packet: &Packet,
        _: &Backlog,
        _: Span,
        rng: &mut R,
    ) -> Verdict {
        if self.decides_late() && packet.ect && rng.happens(self.chance(packet)) {
            Verdict::Mark
        } else {
            Verdict::Pass
        }
    }

    fn period(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_period(&mut self, _: Time, queue: &Backlog) {
        let arrived = core::mem::take(&mut self.arrived);
        let length = |of: &Backlog| of.length(self.bytes, self.mean);
        self.step(length(queue), length(&arrived));
    }

    fn rests(&self, queue: &Backlog) -> bool {
        let q = queue.length(self.bytes, self.mean);
        let now = [self.input, self.u, self.p].map(f64::to_bits);
        self.arrived == Backlog::default() && self.q_old == q && self.next(q, 0.0).map(f64::to_bits) == now
    }

    fn is_final(&self) -> bool {
        !self.decides_late()
    }

    fn resume(&mut self, before: Self) {
        (self.u, self.p, self.q_old) = (before.u, before.p, before.q_old);
        self.input = before.input * (self.interval.secs() / before.interval.secs());
        if self.interval == before.interval {
            self.arrived = before.arrived;
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p);
        visit(1, self.u);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, numbers, vectors, waiting};

    const UDP: Packet = Packet { ect: false, ..PACKET };

    /// REM with so high a price that nearly every packet is dropped.
    fn expensive(params: &Params) -> Rem {
        let mut rem = Rem::new(&Params { gamma: 1e3, ..params.clone() }, &PORT);
        rem.on_period(Time::ZERO, &waiting(200));
        assert!(rem.p > 0.99, "p = {}", rem.p);
        rem
    }

    #[test]
    fn the_paper_form_follows_equation_36() {
        let vector = vectors("rem_eq36");
        let number = |key: &str| vector[key].as_f64().unwrap();
        let params = Params {
            b_star: number("q0"),
            phi: number("phi"),
            gamma: number("gamma"),
            alpha: number("alpha"),
            ..Params::default()
        };
        let mut rem = Rem::new(&params, &PORT);
        assert_eq!(rem.period(), Some(Span::ms(2)));
        for (q, u_p) in numbers(&vector["q"]).into_iter().zip(vector["u_p"].as_array().unwrap()) {
            rem.on_period(Time::ZERO, &waiting(q as u32));
            assert_close(rem.u, u_p[0].as_f64().unwrap());
            assert_close(rem.p, u_p[1].as_f64().unwrap());
        }
    }

    #[test]
    fn the_rate_form_counts_every_arrival_refused_ones_too() {
        let vector = vectors("rem_ns2_rate_form");
        let mut rem = Rem::new(&Params { b_star: 100.0, form: Form::Ns2, ..Params::default() }, &PORT);
        assert_close(rem.c, vector["c_per_interval"].as_f64().unwrap());
        let rows = numbers(&vector["arrivals"]).into_iter().zip(numbers(&vector["q"]));
        for ((arrivals, q), u_p) in rows.zip(vector["u_p"].as_array().unwrap()) {
            for _ in 0..arrivals as u32 {
                rem.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.0));
            }
            rem.on_period(Time::ZERO, &waiting(q as u32));
            assert_close(rem.u, u_p[0].as_f64().unwrap());
            assert_close(rem.p, u_p[1].as_f64().unwrap());
        }
    }

    #[test]
    fn the_paper_form_marks_on_arrival_and_drops_what_cannot_be_marked() {
        let mut rem = expensive(&Params { ecn: true, ..Params::default() });
        assert_eq!(rem.on_enqueue(Time::ZERO, &PACKET, &waiting(9), &mut Draw(0.5)), Verdict::Mark);
        assert_eq!(rem.on_enqueue(Time::ZERO, &UDP, &waiting(9), &mut Draw(0.5)), Verdict::Drop);
        assert_eq!(
            rem.on_dequeue(Time::ZERO, &PACKET, &waiting(9), Span::ZERO, &mut Draw(0.5)),
            Verdict::Pass
        );
    }

    #[test]
    fn the_rate_form_marks_on_departure_and_never_drops_early_under_ecn() {
        let mut rem = expensive(&Params { ecn: true, form: Form::Ns2, ..Params::default() });
        for packet in [PACKET, UDP] {
            assert_eq!(rem.on_enqueue(Time::ZERO, &packet, &waiting(9), &mut Draw(0.5)), Verdict::Pass);
        }
        assert_eq!(
            rem.on_dequeue(Time::ZERO, &PACKET, &waiting(9), Span::ZERO, &mut Draw(0.5)),
            Verdict::Mark
        );
        assert_eq!(rem.on_dequeue(Time::ZERO, &UDP, &waiting(9), Span::ZERO, &mut Draw(0.5)), Verdict::Pass);
    }

    #[test]
    fn the_weight_smooths_the_arrivals() {
        let params = Params { form: Form::Ns2, inw: 0.25, gamma: 1.0, b_star: 0.0, ..Params::default() };
        let mut rem = Rem::new(&params, &PORT);
        for u in [40.0 * 0.25 - 5.0, 40.0 * (0.25 + 0.75 * 0.25) - 5.0] {
            for _ in 0..40 {
                rem.on_enqueue(Time::ZERO, &PACKET, &waiting(9), &mut Draw(1.0));
            }
            rem.u = 0.0;
            rem.on_period(Time::ZERO, &waiting(0));
            assert_close(rem.u, u);
        }
    }

    #[test]
    fn in_bytes_queue_and_arrivals_count_mean_packets() {
        let params = Params { bytes: true, form: Form::Ns2, gamma: 1.0, b_star: 0.0, ..Params::default() };
        let mut rem = Rem::new(&params, &PORT);
        for _ in 0..12 {
            rem.on_enqueue(Time::ZERO, &Packet::new(250, false), &waiting(9), &mut Draw(0.5));
        }
        // 6 mean packets arrived, 5 could leave, 10 wait.
        rem.on_period(Time::ZERO, &Backlog { packets: 20, bytes: 5000, full: false });
        assert_close(rem.u, 6.0 + 0.1 * 10.0 - 5.0);
    }

    #[test]
    fn small_packets_are_spared_by_size_which_is_the_default_of_the_rate_form_in_bytes() {
        for (form, bytes, by_size, scaled) in [
            (Form::Paper, false, None, false),
            (Form::Paper, true, None, false),
            (Form::Ns2, false, None, false),
            (Form::Ns2, true, None, true),
            (Form::Ns2, true, Some(false), false),
            (Form::Paper, false, Some(true), true),
        ] {
            for ecn in [false, true] {
                let params = Params { form, bytes, by_size, ecn, ..Params::default() };
                let mut rem = Rem { p: 0.1, ..Rem::new(&params, &PORT) };
                for (size, p) in [(500, 0.1), (40, if scaled { 0.1 * 40.0 / 500.0 } else { 0.1 })] {
                    let packet = Packet::new(size, true);
                    let mut verdict = |u| {
                        if rem.decides_late() {
                            rem.on_dequeue(Time::ZERO, &packet, &waiting(9), Span::ZERO, &mut Draw(u))
                        } else {
                            rem.on_enqueue(Time::ZERO, &packet, &waiting(9), &mut Draw(u))
                        }
                    };
                    assert_eq!(verdict(0.999 * p), if ecn { Verdict::Mark } else { Verdict::Drop });
                    assert_eq!(verdict(1.001 * p), Verdict::Pass);
                }
            }
        }
    }
}
