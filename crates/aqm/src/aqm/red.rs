//! RED: drops with a probability that grows with the average queue; gentle RED included.
//!
//! With q the queue that an arrival finds, the average avg and the probability p_b are
//!
//! ```text
//! avg <- (1 - w_q)^m avg, if the queue was empty for the time of m packets
//! avg <- (1 - w_q) avg + w_q q
//! p_b = 0                                              avg < min_th
//!     = max_p (avg - min_th) / (max_th - min_th)       min_th <= avg < max_th
//!     = max_p + (1 - max_p) (avg - max_th) / max_th    max_th <= avg < 2 max_th, if gentle
//!     = 1                                              above
//! ```
//!
//! `spacing` turns p_b into the probability p_a of this packet by the `count` of packets since the last drop, so that
//! drops are evenly spaced:
//!
//! ```text
//! "1993":  p_a = p_b / (1 - count p_b), at most 1: the gap between drops is uniform on [1, 1/p_b]
//! "wait":  p_a = 0 while count p_b < 1, then p_b / (2 - count p_b): uniform on [1/p_b, 2/p_b]
//! "none":  p_a = p_b: drops are independent
//! ```
//!
//! Hence the drop ratio is about 2 p_b, p_b / 1.5 and p_b, respectively. Adaptive RED, which moves max_p, is `ared`.
//!
//! In byte mode, queue and count are bytes over `mean_packet`, and p_a is scaled by the packet's size. With ECN,
//! packets are marked while p_b < `mark_p`, so that at p_b = 1 they are always dropped, as in ns-2 and ns-3. Without
//! `hard_drop` they are marked at p_b = 1 too, as in Linux and INET, and as DCTCP's step requires: that step is RED
//! without `gentle`, with `w_q` = 1 and `min_th` = `max_th`.
//!
//! The parameters of other tools have other units: see `min_bytes`, `max_bytes`, `linterm`, `plog`, `burst` and
//! `pkrate`.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival with avg above min_th. State: avg, count, start
//! of the idle time.
//!
//! # Departures from the source
//! Three rules are from ns-2, not from the paper of 1993. The first packet that finds avg above min_th is not
//! dropped, only counted (`spare_first`); nor is a packet that finds at most one packet (in byte mode, at most one
//! byte) waiting; in byte mode the count is rounded down to whole packets. With "wait" in byte mode, the last rule
//! exempts, even at p_b = 1, packets that arrive within a mean packet of the last drop.
//!
//! Unlike in ns-2, an automatic min_th is a third of a given max_th; and a weight of 0, -1 or -2 and thresholds of 0,
//! by which ns-2 requests automatic values, are refused. No random number is drawn for a packet that overflows the
//! buffer, and that packet itself is dropped: before October 1997, ns-2 dropped a random one instead, which is not
//! offered.
//!
//! The presets use the values and switches of an implementation, not its arithmetic, except for Linux's (`form`). INET
//! ages the average by fractions of packets.
//! Cisco documents no spacing; its preset uses that of 1993.
//!
//! The study of tail drop, RED, GRED and GRED-I took RED's parameters from Cisco and Floyd, but our copy of it has lost
//! the numbers. In `impact` max_p is that of both and w_q Floyd's, while the thresholds of 30 and 90 are aqmlab's:
//! Floyd's ratio of three, scaled to the study's buffer of 200 packets, in place of Floyd's 5 and 15 or Cisco's 20 and
//! 40. `impact-gred` and `gred-i` have the same min_th; their max_th of 130 and 200, and `impact-gred`'s max_p of 1, are
//! in the text, and `gred-i`'s max_p of 1 is our reading of a sentence without its symbols. `gred-i` has independent
//! drops, as the study's model has them. The reproduction gives every RED, this one included, the spacing of what it
//! repeats: "wait", ns-2's rule, in simulations, and "1993" on the testbed.
//!
//! The form "linux" uses Linux's fixed-point numbers, so that its average loses less than a byte at each arrival. It
//! marks or drops every packet at or above max_th, exempts none, and decides before it checks the buffer. Its table for
//! idle time is tc's, which takes natural logarithms for powers of two, and counts in ticks of 64 ns, which the kernel
//! reads as microseconds: an idle average falls about twenty times as slowly as the paper's.
//! With `max_p` = 1, tc's number for it overflows, and the kernel takes 2^-k (`max_th` - `min_th`) in its place: between a
//! half and 1, and less than a thousandth for CHOKe, whose thresholds are in packets.
//!
//! # Sources
//! Floyd, Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993; Floyd,
//! "Recommendation on using the gentle variant of RED", 2000; ns-2.35, red.cc, against whose equations it is tested.
//! The presets: ns-2's ns-default.tcl through the years; ns-3, red-queue-disc.cc; Linux 7.2, red.h and sch_red.c, of
//! which `linux` is tested against a re-implementation; iproute2, q_red.c and tc_red.c, for `burst`; INET,
//! RedDropper.ned; Cisco, "Congestion avoidance overview" and the command reference on random-detect; the study of
//! tail drop, RED, GRED and GRED-I; the survey of Koo et al., which leaves the rest to the ns-2 of its time.

use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Reading, Signal, Uniform, Verdict};
use crate::float::{floor, round};
use crate::params::ParamError;
use crate::unit::{Bytes, Time};
use alloc::boxed::Box;
use linux::{Action, Kernel};
pub use params::{Effective, Form, Params, Rules};
pub use spacing::Spacing;

pub(super) mod linux;
mod params;
mod presets;
mod spacing;
mod tc;

/// How p_b rises from `min_th` to `max_th`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Curve {
    /// Linearly, to `max_p`.
    Linear,
    /// Quadratically, to 1.5 `max_p`, so that the area below the curve is the same.
    Quadratic,
}

/// How the average follows the queue. One comparison an arrival selects it, so that what does not average costs the others
/// nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Estimate {
    /// By its weight.
    Weighted,
    /// At once, as with a weight of 1: the average is the queue itself, and nothing is computed.
    Present,
    /// By Linux's arithmetic.
    Linux,
}

impl Estimate {
    fn new(params: &Params, w_q: f64) -> Self {
        match params.form {
            Form::Linux => Self::Linux,
            Form::Ns2 if w_q == 1.0 => Self::Present,
            Form::Ns2 => Self::Weighted,
        }
    }
}

/// The algorithm; see the module. The fields visible to the parent module are for algorithms built on RED.
#[derive(Clone, Debug)]
pub struct Red {
    pub(super) min_th: f64,
    pub(super) max_th: f64,
    w_q: f64,
    estimate: Estimate,
    gentle: bool,
    spacing: Spacing,
    bytes: bool,
    by_size: bool,
    mean: Bytes,
    /// The link's rate in packets per second.
    c: f64,
    /// The p_b from which on nothing is marked: 0 without ECN, infinite without hard drops.
    mark_p: f64,
    /// What happens, below it, to packets that cannot be marked.
    unmarkable: Verdict,
    /// Whether the first packet above min_th is exempt at p_b = 1.
    exempts_first: bool,
    pub(super) curve: Curve,
    pub(super) max_p: f64,
    /// The p_b at which the gentle part starts.
    pub(super) gentle_p: f64,
    pub(super) avg: f64,
    pub(super) p_b: f64,
    /// Whether the average was above min_th at the last arrival.
    above: bool,
    /// Packets, or bytes, since the last drop.
    since_drop: u64,
    idle_since: Option<Time>,
    /// Whether idle time ages the average.
    ages: bool,
    /// Linux's arithmetic, which replaces the fields above.
    kernel: Option<Box<Kernel>>,
}

impl Red {
    /// The probability p_b at the average `avg`.
    #[inline]
    pub(super) fn p_b(&self, avg: f64) -> f64 {
        if avg < self.min_th {
            0.0
        } else if avg < self.max_th {
            match self.curve {
                Curve::Linear => self.max_p * (avg - self.min_th) / (self.max_th - self.min_th),
                Curve::Quadratic => {
                    let part = (avg - self.min_th) / (self.max_th - self.min_th);
                    (1.5 * self.max_p * part * part).min(1.0)
                }
            }
        } else if self.gentle {
            (self.gentle_p + (1.0 - self.gentle_p) * (avg - self.max_th) / self.max_th).min(1.0)
        } else {
            1.0
        }
    }

    /// Sets `max_p`, and with it the start of the gentle part unless that is `frozen`.
    pub(super) fn set_max_p(&mut self, max_p: f64, frozen: bool) {
        self.max_p = max_p;
        if !frozen {
            self.gentle_p = max_p;
        }
        if let Some(kernel) = &mut self.kernel {
            kernel.set_max_p(max_p);
        }
    }

    /// Takes over a `max_p` that moved within the bounds `before`, clipped if they are others now: what began outside the
    /// same bounds stays there.
    pub(super) fn resume_max_p(&mut self, max_p: f64, bounds: [f64; 2], before: [f64; 2], frozen: bool) {
        let clipped = if bounds == before { max_p } else { max_p.max(bounds[0]).min(bounds[1]) };
        self.set_max_p(clipped, frozen);
    }

    /// Shows the thresholds as Linux counts them: by form "linux" as it has them, otherwise with `unit` for a packet.
    pub(super) fn thresholds(&self, unit: f64, visit: &mut dyn FnMut(&str, Reading)) {
        let whole = [self.min_th, self.max_th].map(|threshold| round(threshold * unit));
        let [min, max] = self.kernel.as_ref().map_or(whole, |kernel| kernel.thresholds());
        visit("min", Reading::Level(min));
        visit("max", Reading::Level(max));
    }

    /// Whether the arithmetic is Linux's.
    pub(super) const fn is_linux(&self) -> bool {
        self.kernel.is_some()
    }

    /// Makes an average equal to a threshold count as below it, as CHOKe does in Linux.
    pub(super) fn count_thresholds_as_below(&mut self) {
        if let Some(kernel) = &mut self.kernel {
            kernel.count_thresholds_as_below();
        }
    }

    /// Adapts `max_p` as Linux does, if this is Linux's arithmetic: with these steps up and down, within these bounds.
    pub(super) fn adapts_in_linux(&mut self, now: Time, steps: (f64, f64), bounds: (f64, f64)) -> bool {
        let idle = self.idle_since.map(|start| now.since(start));
        let Some(kernel) = &mut self.kernel else { return false };
        kernel.adapt(idle, steps.0, steps.1, bounds.1, bounds.0);
        self.max_p = kernel.max_p();
        true
    }

    /// The average, aged by the idle time up to `now`.
    #[inline]
    pub(super) fn aged(&self, now: Time) -> f64 {
        match self.idle_since {
            Some(start) => self.avg * libm::pow(1.0 - self.w_q, floor(now.since(start).secs() * self.c)),
            None => self.avg,
        }
    }

    /// The probability of this packet, which `since_drop` already counts.
    #[inline]
    fn p_a(&self, size: u32) -> f64 {
        if !self.by_size {
            return self.spacing.p_a(self.p_b, self.since_drop as f64);
        }
        let p = self.spacing.p_a(self.p_b, (self.since_drop / self.mean.0) as f64);
        if p < 1.0 { p * f64::from(size) / self.mean.0 as f64 } else { p }
    }

    /// Ages the average by the idle time that an arrival ends, unless the arrival is `refused`: a packet larger than
    /// the empty buffer leaves the link idle.
    #[inline]
    pub(super) fn end_idle(&mut self, now: Time, refused: bool) {
        if self.idle_since.is_some() {
            self.avg = self.aged(now);
            self.idle_since = refused.then_some(now);
        }
    }

    /// Updates the average by the queue that an arrival at `now` finds.
    #[inline]
    pub(super) fn estimate(&mut self, now: Time, queue: &Backlog) {
        match self.estimate {
            Estimate::Weighted => {
                self.end_idle(now, queue.full);
                self.avg =
                    (1.0 - self.w_q) * self.avg + self.w_q * queue.length(self.bytes, self.mean.0 as f64);
            }
            Estimate::Present => {
                self.idle_since = self.idle_since.filter(|_| queue.full).map(|_| now);
                self.avg = queue.length(self.bytes, self.mean.0 as f64);
            }
            Estimate::Linux => self.estimate_in_linux(now, queue),
        }
    }

    #[cold]
    fn estimate_in_linux(&mut self, now: Time, queue: &Backlog) {
        let kernel = self.kernel.as_mut().expect("asked for");
        let (waiting, unit) = match self.bytes {
            true => (queue.bytes, self.mean.0 as f64),
            false => (u64::from(queue.packets), 1.0),
        };
        kernel.estimate(now, waiting, self.idle_since);
        self.avg = kernel.avg() / unit;
        self.idle_since = self.idle_since.filter(|_| queue.full).map(|_| now);
    }

    /// The verdict on a packet to be marked or dropped, where packets are marked or are not.
    #[inline]
    const fn signal(&self, packet: &Packet, marks: bool) -> Verdict {
        match (marks, packet.ect) {
            (true, true) => Verdict::Mark,
            (true, false) => self.unmarkable,
            (false, _) => Verdict::Drop,
        }
    }

    #[cold]
    fn decide_in_linux<R: Uniform>(&mut self, packet: &Packet, rng: &mut R) -> Verdict {
        self.p_b = self.p_b(self.avg);
        let action = self.kernel.as_mut().expect("asked for").action(rng);
        match action {
            Action::Pass => Verdict::Pass,
            Action::Signal => self.signal(packet, self.mark_p > 0.0),
            Action::Beyond => self.signal(packet, self.mark_p > 1.0),
        }
    }

    /// The verdict on the arrival, by the present average.
    #[inline]
    pub(super) fn decide<R: Uniform>(&mut self, packet: &Packet, queue: &Backlog, rng: &mut R) -> Verdict {
        if self.kernel.is_some() {
            return self.decide_in_linux(packet, rng);
        }
        let size = if self.by_size { u64::from(packet.size) } else { 1 };
        let backlog = if self.bytes { queue.bytes } else { u64::from(queue.packets) };
        self.since_drop += size;
        let was_above = core::mem::replace(&mut self.above, self.avg >= self.min_th && backlog > 1);
        if !self.above {
            self.p_b = 0.0;
            return Verdict::Pass;
        }
        self.p_b = self.p_b(self.avg);
        if queue.full {
            self.since_drop = 0;
            return Verdict::Pass;
        }
        if !was_above && (self.exempts_first || self.p_b < 1.0) {
            self.since_drop = size;
            return Verdict::Pass;
        }
        if !rng.happens(self.p_a(packet.size)) {
            return Verdict::Pass;
        }
        self.since_drop = 0;
        self.signal(packet, self.p_b < self.mark_p)
    }
}

impl Aqm for Red {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability p_b at the last arrival, before drops are spaced.",
        },
        Signal { name: "avg", unit: "packets", doc: "Average queue at the last arrival." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = presets::PRESETS;

    fn new(params: &Params, port: &Port) -> Self {
        let effective = Effective::new(params, port);
        let Effective { min_th, max_th, max_p, w_q, mean, c } = effective;
        let mark_p = if params.hard_drop { params.mark_p } else { f64::INFINITY };
        Self {
            min_th,
            max_th,
            w_q,
            estimate: Estimate::new(params, w_q),
            gentle: params.is_gentle(),
            spacing: params.spacing,
            bytes: params.bytes,
            by_size: params.by_size.unwrap_or(params.bytes),
            mean,
            c,
            mark_p: if params.ecn { mark_p } else { 0.0 },
            unmarkable: if params.nodrop { Verdict::Pass } else { Verdict::Drop },
            exempts_first: params.spare_first && params.hard_drop,
            curve: Curve::Linear,
            max_p,
            gentle_p: max_p,
            avg: 0.0,
            p_b: 0.0,
            above: false,
            since_drop: 0,
            idle_since: params.ages.then_some(Time::ZERO),
            ages: params.ages,
            kernel: (params.form == Form::Linux).then(|| Box::new(Kernel::new(params, &effective))),
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let red = Self::new(params, port);
        let values = vec![
            ("min_th", red.min_th),
            ("max_th", red.max_th),
            ("max_p", red.max_p),
            ("w_q", red.w_q),
            ("by_size", f64::from(u8::from(red.by_size))),
            ("mean_packet", red.mean.0 as f64),
            ("c", red.c),
        ];
        let of = vec![
            "min_bytes",
            "max_bytes",
            "linterm",
            "plog",
            "burst",
            "rules",
            "pkrate",
            "bandwidth",
            "target_delay",
        ];
        Numbers { values, of }
    }

    fn preset(name: &str) -> Option<Params> {
        presets::preset(name)
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        params.check()
    }

    fn check_on(params: &Params, port: &Port) -> Result<(), ParamError> {
        tc::check(params, port)?;
        params.check_on(port)
    }

    fn counters(&self, visit: &mut dyn FnMut(&str, Reading)) {
        self.thresholds(self.mean.0 as f64, visit);
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        self.estimate(now, queue);
        self.decide(packet, queue, rng)
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        if self.ages {
            self.idle_since = Some(now);
        }
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        // Linux's average is in bytes or in packets.
        self.is_linux() == before.is_linux() && (!self.is_linux() || self.bytes == before.bytes)
    }

    fn resume(&mut self, before: Self) {
        (self.avg, self.p_b, self.above) = (before.avg, before.p_b, before.above);
        self.idle_since = before.idle_since.filter(|_| self.ages);
        if self.by_size == before.by_size {
            self.since_drop = before.since_drop;
        }
        if let (Some(kernel), Some(before)) = (&mut self.kernel, before.kernel) {
            kernel.resume(&before);
        }
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.p_b);
        visit(1, self.avg);
    }
}

#[cfg(test)]
mod tests;
