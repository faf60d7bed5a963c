//! LRED: drops with the recently measured loss ratio, corrected in proportion to the queue's distance from `q0`.
//!
//! With L the smoothed loss ratio and q the queue that an arrival finds:
//!
//! ```text
//! p = L + beta sqrt(L) (q - q0), clipped to [0, 1]                        (equation 3)
//! L <- weight L + (1 - weight) l, every `period`                          (equation 2)
//! ```
//!
//! with l = drops / arrivals over the last `window` periods. Overflow drops count too: they raise L from 0, since at L
//! = 0 nothing is dropped early, however long the queue.
//!
//! With `exponent` e, the law is p = L + beta L^e (q - q0). 1/2 is the paper's; with 0 the weight of the queue's distance
//! is constant, which is the law that the paper rejects, and packets are dropped early at L = 0 too.
//!
//! With `weights` w, the classes of service have different drop probabilities, class 1 the lowest:
//!
//! ```text
//! p_i = w_i p / sum_j f_j w_j, clipped to [0, 1]
//! ```
//!
//! with f_j the fraction of class j in the arrivals of the last `window` periods. The mean of p_i over the arrivals is
//! p, so the loss ratio and the queue are those of LRED without weights as long as no p_i is clipped and the mix does
//! not change. If a p_i is clipped, the others do not make up for it, and the queue settles above q0.
//!
//! Decides at: enqueue. Timer: `period`. Randomness: one draw per arrival. State: L, p, two counters for each period
//! of the window.
//!
//! # Departures from the source
//! Our copy of the paper shows no radicals; the square root of the pseudocode's line for p is that of the text and of
//! equations (26) to (29). A window without arrivals, 0/0 in the pseudocode, leaves L unchanged. Marks count as drops,
//! since L is to be the ratio at which sources are signalled. In byte mode, which the paper only suggests, p is scaled
//! by the packet's size over the mean. `l_min`, a lower bound of L, is aqmlab's, and 0 by default. So are the `weights`,
//! 1 by default, for priorities, which the paper leaves to future work. An `exponent` other than 1/2 and 0 is aqmlab's.
//!
//! # Sources
//! The LRED paper: equations (2) and (3), figure 3, section 3. Tested against that pseudocode.

use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::float::sqrt;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Span, Time};
use crate::weights::{Weights, factor};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// beta L^e.
#[must_use]
pub fn gain(beta: f64, exponent: f64, loss_ratio: f64) -> f64 {
    // The root is the paper's law, and exact on every processor.
    beta * if exponent == 0.5 { sqrt(loss_ratio) } else { libm::pow(loss_ratio, exponent) }
}

crate::params! {
    /// LRED's parameters.
    pub struct Params {
        /// Target queue length.
        q0: f64 = 100.0, "packets", Range::new(0.0, 1e9), ["target"];
        /// Weight of the queue's distance from `q0`.
        beta: f64 = 0.001, "per packet", Range::above(0.0, 10.0);
        /// Exponent e of L in p = L + beta L^e (q - q0): 0.5 in the paper; 0 for a constant weight, which the paper
        /// rejects.
        exponent: f64 = 0.5, "", Range::new(0.0, 2.0);
        /// Period of the measurement of the loss ratio (the paper's m_t).
        period: Span = Span::s(1), "s", Range::new(1e-6, 1e6), ["m_t"];
        /// Number of periods over which the loss ratio is measured.
        window: u32 = 4, "periods", Range::new(1.0, 1000.0), ["M"];
        /// Weight of the old loss ratio in the smoothed one.
        weight: f64 = 0.1, "", Range::new(0.0, 0.999), ["m_w"];
        /// Measure the queue in bytes over `mean_packet`, and scale p by a packet's size over `mean_packet`.
        bytes: bool = false, "";
        /// The packet size for `q0` and `beta` in byte mode; if omitted, the port's packet. If the mean size of the
        /// arrivals is s times `mean_packet`, p is scaled by s on average, and the queue settles above `q0` by (1/s -
        /// 1) L^(1 - e) / beta, with e the `exponent`.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "";
        /// Lower bound of the smoothed loss ratio, so that early drops can begin before the buffer has overflowed.
        l_min: f64 = 0.0, "", Range::new(0.0, 1.0);
        /// Relative drop probabilities of classes 1, 2, …, in ascending order; the last value also applies to the
        /// classes beyond the list. A class with 0 is never dropped early.
        weights: Vec<f64> = vec![1.0], "", Range::new(0.0, 1e6);
    }
}

/// What happened to the arrivals of one period.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    arrivals: u64,
    drops: u64,
    /// The sum of the arrivals' weights.
    weight: f64,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Lred {
    q0: f64,
    beta: f64,
    exponent: f64,
    period: Span,
    weight: f64,
    bytes: bool,
    mean: f64,
    ecn: bool,
    l_min: f64,
    weights: Weights,
    /// The mean weight of the arrivals in the window.
    mix: f64,
    now: Tally,
    past: Box<[Tally]>,
    oldest: usize,
    loss_ratio: f64,
    /// beta L^e, kept so that no root is needed per packet.
    gain: f64,
    p: f64,
}

impl Lred {
    /// Sets the smoothed loss ratio.
    pub fn measure(&mut self, loss_ratio: f64) {
        self.loss_ratio = loss_ratio.max(self.l_min);
        self.gain = gain(self.beta, self.exponent, self.loss_ratio);
    }

    /// The smoothed loss ratio.
    #[must_use]
    pub const fn loss_ratio(&self) -> f64 {
        self.loss_ratio
    }

    /// p at a queue of `q` packets, before a weight is applied.
    #[inline]
    #[must_use]
    pub fn chance(&self, q: f64) -> f64 {
        (self.loss_ratio + self.gain * (q - self.q0)).clamp(0.0, 1.0)
    }
}

impl Aqm for Lred {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability p at the last arrival, before its weight is applied.",
        },
        Signal { name: "loss_ratio", unit: "", doc: "Smoothed loss ratio L." },
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let mut lred = Self {
            q0: params.q0,
            beta: params.beta,
            exponent: params.exponent,
            period: params.period,
            weight: params.weight,
            bytes: params.bytes,
            mean: params.mean_packet.unwrap_or(port.packet).0 as f64,
            ecn: params.ecn,
            l_min: params.l_min,
            weights: Weights::new(&params.weights),
            mix: 1.0,
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

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let mean = params.mean_packet.unwrap_or(port.packet).0 as f64;
        Numbers { values: vec![("mean_packet", mean)], of: vec![] }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        Weights::check(&params.weights)
    }

    fn target(params: &Params) -> Option<f64> {
        Some(params.q0)
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        let weight = self.weights.of(packet);
        self.now.arrivals += 1;
        self.now.weight += weight;
        self.p = self.chance(queue.length(self.bytes, self.mean));
        if queue.full {
            self.now.drops += 1;
            return Verdict::Pass;
        }
        let p = self.p * factor(weight, self.mix);
        let p = if self.bytes { p * f64::from(packet.size) / self.mean } else { p };
        if !rng.happens(p) {
            return Verdict::Pass;
        }
        self.now.drops += 1;
        Verdict::signal(self.ecn && packet.ect)
    }

    fn on_overflow(&mut self, _: Time) {
        self.now.drops += 1;
    }

    fn period(&self) -> Option<Span> {
        Some(self.period)
    }

    fn on_period(&mut self, _: Time, _: &Backlog) {
        self.past[self.oldest] = core::mem::take(&mut self.now);
        self.oldest = (self.oldest + 1) % self.past.len();
        let arrivals: u64 = self.past.iter().map(|tally| tally.arrivals).sum();
        let drops: u64 = self.past.iter().map(|tally| tally.drops).sum();
        if arrivals > 0 {
            self.mix = self.past.iter().map(|tally| tally.weight).sum::<f64>() / arrivals as f64;
            // In `fq`, packets of earlier windows may be lost.
            let latest = (drops as f64 / arrivals as f64).min(1.0);
            self.measure(self.weight * self.loss_ratio + (1.0 - self.weight) * latest);
        }
    }

    fn rests(&self, _: &Backlog) -> bool {
        // The order of empty periods has no effect.
        self.past.iter().chain([&self.now]).all(|tally| tally.arrivals == 0)
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        // The sums of the window are of the weights as they were.
        self.weights == before.weights
    }

    fn resume(&mut self, mut before: Self) {
        if self.past.len() == before.past.len() {
            (self.past, self.oldest) = (before.past, before.oldest);
        } else {
            before.past.rotate_left(before.oldest);
            let latest = before.past.len().saturating_sub(self.past.len());
            let kept = &before.past[latest..];
            self.past[..kept.len()].copy_from_slice(kept);
            self.oldest = kept.len() % self.past.len();
        }
        (self.now, self.mix, self.p) = (before.now, before.mix, before.p);
        self.measure(before.loss_ratio);
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

    /// LRED with the measured loss ratio `l`.
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
            lred.now = Tally { arrivals: arrivals as u64, drops: drops as u64, weight: arrivals };
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
    fn the_exponent_weights_the_distance_by_a_power_of_the_loss_ratio() {
        for (l, exponent, p) in [
            (0.04, 0.5, 0.04 + 0.2 * 0.05),
            (0.04, 0.0, 0.04 + 0.05),
            (0.04, 1.0, 0.04 + 0.04 * 0.05),
            (0.0, 0.5, 0.0),
            (0.0, 0.0, 0.05),
            (0.0, 1.0, 0.0),
        ] {
            let mut lred = lossy(l, &Params { exponent, ..Params::default() });
            lred.on_enqueue(Time::ZERO, &PACKET, &waiting(150), &mut Draw(0.5));
            assert_close(lred.p, p);
        }
    }

    #[test]
    fn overflow_drops_raise_the_loss_ratio_from_zero() {
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
    fn byte_mode_counts_mean_packets_and_drops_small_ones_less() {
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

    /// LRED that has measured L = 0.1 and these arrivals of the classes.
    fn mixed(weights: &[f64], arrivals: &[u32]) -> Lred {
        let mut lred = Lred::new(&Params { weights: weights.to_vec(), ..Params::default() }, &PORT);
        for (class, count) in (1..).zip(arrivals) {
            for _ in 0..*count {
                let packet = Packet { class, ..PACKET };
                lred.on_enqueue(Time::ZERO, &packet, &waiting(100), &mut Draw(0.5));
            }
        }
        lred.on_period(Time::ZERO, &waiting(100));
        lred.measure(0.1);
        lred
    }

    #[track_caller]
    fn assert_chances(lred: &mut Lred, chances: &[f64]) {
        for (class, p) in (1..).zip(chances) {
            let packet = Packet { class, ..PACKET };
            let mut drops =
                |u| lred.on_enqueue(Time::ZERO, &packet, &waiting(100), &mut Draw(u)) == Verdict::Drop;
            assert_eq!((drops(0.999 * p), drops(1.001 * p)), (*p > 0.0, false), "class {class}");
        }
    }

    #[test]
    fn weights_divide_p_among_the_classes_by_their_part_of_the_arrivals() {
        // The mean weight is (1 500 + 2 300 + 4 200) / 1000 = 1.9.
        let p = 0.1 / 1.9;
        assert_chances(&mut mixed(&[1.0, 2.0, 4.0], &[500, 300, 200]), &[p, 2.0 * p, 4.0 * p, 4.0 * p]);
        // Scaling all weights has no effect.
        assert_chances(&mut mixed(&[10.0, 20.0, 40.0], &[500, 300, 200]), &[p, 2.0 * p, 4.0 * p]);
    }

    #[test]
    fn a_weight_of_zero_spares_a_class_whatever_else_arrives() {
        assert_chances(&mut mixed(&[0.0, 1.0], &[500, 500]), &[0.0, 0.2]);
        assert_chances(&mut mixed(&[0.0, 1.0], &[1000, 0]), &[0.0, 0.1]);
        assert_chances(&mut mixed(&[0.0], &[1000]), &[0.0]);
    }

    #[test]
    fn weights_against_the_order_of_priority_are_refused() {
        for weights in [vec![2.0, 1.0], vec![1.0; 5]] {
            let error = Lred::check(&Params { weights, ..Params::default() }).unwrap_err();
            assert!(error.to_string().ends_with("none smaller than the one before"), "{error}");
        }
    }
}
