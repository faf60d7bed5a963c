//! LRED: drop at the loss ratio measured lately, corrected in proportion to the queue's distance from `q0`.
//!
//! With L the smoothed loss ratio and q the queue that an arrival finds:
//!
//! ```text
//! p = L + beta sqrt(L) (q - q0), clipped to [0, 1]                        (equation 3)
//! L <- weight L + (1 - weight) l, every `period`                          (equation 2)
//! ```
//!
//! with l = drops / arrivals over the last `window` periods. Drops for want of room count too: they are how L
//! leaves 0, since at L = 0 nothing is dropped early however long the queue.
//!
//! Decides at: enqueue. Timer: `period`. Randomness: one draw an arrival. State: L, p, two counters a period of
//! the window.
//!
//! # Departures from the source
//! The pseudocode's line for p lacks the square root that equation (3), the analysis and the text have; the root
//! is taken. A window without an arrival, 0/0 in the pseudocode, leaves L as it is. Marks count as drops, for L
//! is to be the ratio at which sources are told of congestion. In byte mode, which the paper only suggests, p is
//! scaled by a packet's size over the mean. `l_min`, a floor under L, is ours, and 0 unless set.
//!
//! # Sources
//! The LRED paper: equations (2) and (3), figure 3, section 3. Tested against that pseudocode.

use crate::aqm::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Bytes, Span, Time};

crate::params! {
    /// LRED's parameters.
    pub struct Params {
        /// Target queue length.
        q0: f64 = 100.0, "packets", Range::new(0.0, 1e9), ["target"];
        /// Weight of the queue's error.
        beta: f64 = 0.001, "per packet", Range::above(0.0, 10.0);
        /// How often the loss ratio is measured (the paper's m_t).
        period: Span = Span::s(1), "s", Range::new(1e-6, 1e6), ["m_t"];
        /// Over how many periods the loss ratio is measured.
        window: u32 = 4, "periods", Range::new(1.0, 1000.0), ["M"];
        /// Weight of the old loss ratio in the smoothed one.
        weight: f64 = 0.1, "", Range::new(0.0, 0.999), ["m_w"];
        /// Measure the queue in bytes over `mean_packet`, and scale p by a packet's size over `mean_packet`.
        bytes: bool = false, "";
        /// The packet size behind `q0` and `beta` in byte mode; the port's packet if left out.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "";
        /// A floor under the smoothed loss ratio, so that early drops can begin before the buffer has overflowed.
        l_min: f64 = 0.0, "", Range::new(0.0, 1.0);
    }
}

/// What happened to the arrivals of one period.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    arrivals: u64,
    drops: u64,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Lred {
    q0: f64,
    beta: f64,
    period: Span,
    weight: f64,
    bytes: bool,
    mean: f64,
    ecn: bool,
    l_min: f64,
    now: Tally,
    past: Box<[Tally]>,
    oldest: usize,
    loss_ratio: f64,
    /// beta sqrt(L), kept so that no packet has to take a root.
    gain: f64,
    p: f64,
}

impl Lred {
    fn measure(&mut self, loss_ratio: f64) {
        self.loss_ratio = loss_ratio.max(self.l_min);
        self.gain = self.beta * self.loss_ratio.sqrt();
    }
}

impl Aqm for Lred {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "p", unit: "", doc: "Drop probability at the last arrival." },
        Signal { name: "loss_ratio", unit: "", doc: "Smoothed loss ratio L." },
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let mut lred = Self {
            q0: params.q0,
            beta: params.beta,
            period: params.period,
            weight: params.weight,
            bytes: params.bytes,
            mean: params.mean_packet.unwrap_or(port.packet).0 as f64,
            ecn: params.ecn,
            l_min: params.l_min,
            now: Tally::default(),
            past: vec![Tally::default(); params.window as usize].into(),
            oldest: 0,
            loss_ratio: 0.0,
            gain: 0.0,
            p: 0.0,
        };
        lred.measure(0.0);
        lred
    }

    fn target(params: &Params) -> Option<f64> {
        Some(params.q0)
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        self.now.arrivals += 1;
        let q = queue.length(self.bytes, self.mean);
        self.p = (self.loss_ratio + self.gain * (q - self.q0)).clamp(0.0, 1.0);
        if queue.full {
            self.now.drops += 1;
            return Verdict::Pass;
        }
        let p = if self.bytes { self.p * f64::from(packet.size) / self.mean } else { self.p };
        if !rng.happens(p) {
            return Verdict::Pass;
        }
        self.now.drops += 1;
        Verdict::signal(self.ecn && packet.ect)
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_period(&mut self, _: Time, _: &Backlog) {
        self.past[self.oldest] = std::mem::take(&mut self.now);
        self.oldest = (self.oldest + 1) % self.past.len();
        let arrivals: u64 = self.past.iter().map(|tally| tally.arrivals).sum();
        let drops: u64 = self.past.iter().map(|tally| tally.drops).sum();
        if arrivals > 0 {
            let latest = drops as f64 / arrivals as f64;
            self.measure(self.weight * self.loss_ratio + (1.0 - self.weight) * latest);
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p);
        visit(1, self.loss_ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, numbers, vectors, waiting};

    /// LRED that has measured the loss ratio `l`.
    fn lossy(l: f64, params: &Params) -> Lred {
        let mut lred = Lred::new(params, &PORT);
        lred.measure(l);
        lred
    }

    #[test]
    fn the_loss_ratio_is_smoothed_over_the_window() {
        let vector = vectors("lred_measure");
        let mut lred = Lred::new(&Params::default(), &PORT);
        assert_eq!(lred.period(), Some(Span::s(1)));
        let rows = numbers(&vector["arrivals"]).into_iter().zip(numbers(&vector["drops"]));
        for ((arrivals, drops), l) in rows.zip(numbers(&vector["lossRatio"])) {
            lred.now = Tally { arrivals: arrivals as u64, drops: drops as u64 };
            lred.on_period(Time::ZERO, &waiting(100));
            assert_close(lred.loss_ratio, l);
        }
    }

    #[test]
    fn p_is_the_loss_ratio_corrected_by_the_queue() {
        for row in vectors("lred_p").as_array().unwrap() {
            let number = |key: &str| row[key].as_f64().unwrap();
            let params = Params { q0: number("q0"), beta: number("beta"), ..Params::default() };
            let mut lred = lossy(number("lossRatio"), &params);
            lred.on_enqueue(Time::ZERO, &PACKET, &waiting(number("q") as u32), &mut Draw(0.5));
            assert_close(lred.p, number("p"));
        }
    }

    #[test]
    fn overflow_drops_are_what_wakes_it() {
        let mut lred = Lred::new(&Params::default(), &PORT);
        assert_eq!(lred.on_enqueue(Time::ZERO, &PACKET, &waiting(199), &mut Draw(0.0)), Verdict::Pass);
        lred.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.0));
        lred.on_period(Time::ZERO, &full());
        assert_close(lred.loss_ratio, 0.9 / 2.0);
        assert_eq!(lred.on_enqueue(Time::ZERO, &PACKET, &waiting(199), &mut Draw(0.0)), Verdict::Drop);
    }

    #[test]
    fn marks_count_as_drops() {
        let mut lred = lossy(0.5, &Params { ecn: true, ..Params::default() });
        assert_eq!(lred.on_enqueue(Time::ZERO, &PACKET, &waiting(100), &mut Draw(0.4)), Verdict::Mark);
        assert_eq!(lred.on_enqueue(Time::ZERO, &PACKET, &waiting(100), &mut Draw(0.6)), Verdict::Pass);
        let udp = Packet { ect: false, ..PACKET };
        assert_eq!(lred.on_enqueue(Time::ZERO, &udp, &waiting(100), &mut Draw(0.4)), Verdict::Drop);
        assert_eq!((lred.now.arrivals, lred.now.drops), (3, 2));
    }

    #[test]
    fn byte_mode_counts_mean_packets_and_spares_small_ones() {
        let mut lred = lossy(0.25, &Params { bytes: true, ..Params::default() });
        let queue = Backlog { packets: 300, bytes: 75_000, full: false };
        let mut verdict =
            |size, u| lred.on_enqueue(Time::ZERO, &Packet::new(size, false), &queue, &mut Draw(u));
        // 150 mean packets: p = 0.25 + 0.001 * 0.5 * 50 = 0.275.
        assert_eq!(verdict(500, 0.274), Verdict::Drop);
        assert_eq!(verdict(500, 0.276), Verdict::Pass);
        assert_eq!(verdict(50, 0.0274), Verdict::Drop);
        assert_eq!(verdict(50, 0.0276), Verdict::Pass);
    }

    #[test]
    fn the_floor_holds_from_the_start_and_when_losses_cease() {
        let mut lred = Lred::new(&Params { l_min: 0.01, ..Params::default() }, &PORT);
        assert_close(lred.loss_ratio, 0.01);
        for _ in 0..9 {
            lred.on_enqueue(Time::ZERO, &PACKET, &waiting(100), &mut Draw(0.5));
            lred.on_period(Time::ZERO, &waiting(100));
        }
        assert_close(lred.loss_ratio, 0.01);
    }
}
