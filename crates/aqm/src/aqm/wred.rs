//! WRED: RED with separate thresholds and a separate drop probability for each class of service, after Cisco and RIO.
//!
//! A packet of class k is decided on as in `red`, by the `min_th`, `max_th` and `max_p` of its class and an average
//! queue:
//!
//! ```text
//! "shared":          avg of all packets that wait, updated by every arrival                    (WRED)
//! "own-and-higher":  avg of waiting packets of the classes 1 to k, updated by their arrivals   (RIO)
//! ```
//!
//! Class 1 has the most protection. With "own-and-higher", its average does not include the classes below it, and that
//! of the last class includes all packets. Two classes with "own-and-higher" are RIO: class 1 is In, class 2 Out.
//!
//! Each class counts its own packets between its own drops.
//!
//! Decides at: enqueue. Timer: none. Randomness: one draw per arrival with the average above min_th. State: that of
//! `red` for every class; with "own-and-higher", the class and size of every packet that waits.
//!
//! # Departures from the source
//! Those of `red`; with "own-and-higher", a class is not dropped while at most one packet of its own and higher
//! classes waits. Cisco's eight precedences and 64 code points are four classes here. RIO has two classes; ns-2's RIO
//! updates the total average for In packets only, which its head calls a bug, and which is not reproduced.
//! # Sources
//! Cisco, "Congestion avoidance overview", and its command reference on random-detect: a maximum of 40, the minima
//! from 9/18 to 16/18 of it for the precedences 0 to 7, 1 in 10, weight 2^-9; the defaults are those of the precedences
//! 6, 4, 2 and 0. Clark, Fang, "Explicit allocation of best-effort packet delivery service", IEEE/ACM ToN 6(4), 1998;
//! ns-2.35, rio.cc and ns-default.tcl. Tested against a transcription of these laws.

use crate::aqm::red::{self, Red, Spacing};
use crate::contract::{Aqm, Backlog, CLASSES, Packet, Port, Signal, Uniform, Verdict};
use crate::mirror::Mirror;
use crate::params::{ParamError, Range};
use crate::unit::{Bytes, Span, Time};
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::choice! {
    /// The average queue that decides on a class.
    pub enum Average {
        /// That of the whole queue.
        Shared = "shared",
        /// That of waiting packets of its own and higher classes.
        OwnAndHigher = "own-and-higher",
    }
}

crate::params! {
    /// Weighted RED's parameters. A list has a value for each class, from the first; its last value applies to the
    /// classes beyond its end.
    pub struct Params {
        /// Average queue at which drops begin, for each class; in packets also in byte mode.
        min_th: Vec<f64> = vec![33.0, 28.0, 24.0, 20.0], "packets", Range::above(0.0, 1e9), ["minth"];
        /// Average queue at which p_b is `max_p`, for each class; in packets also in byte mode.
        max_th: Vec<f64> = vec![40.0], "packets", Range::above(0.0, 1e9), ["maxth"];
        /// p_b at `max_th`, for each class (Cisco's mark probability denominator is its inverse).
        max_p: Vec<f64> = vec![0.1], "", Range::above(0.0, 1.0), ["maxp"];
        /// The average queue that decides: `shared`, that of the whole queue; `own-and-higher`, that of waiting
        /// packets of the packet's own and higher classes.
        average: Average = Average::Shared, "";
        /// Weight of the present queue in the average (2^-n for Cisco's exponential weighting constant n).
        w_q: f64 = 1.0 / 512.0, "", Range::above(0.0, 1.0), ["wq", "q_weight_"];
        /// From `max_th` to twice that, let p_b rise from `max_p` to 1 instead of jumping.
        gentle: bool = false, "", Range::ANY, ["gentle_"];
        /// How drops are spaced: `1993`, the gaps uniform on [1, 1/p_b]; `wait`, on [1/p_b, 2/p_b]; `none`,
        /// independent drops.
        spacing: Spacing = Spacing::Uniform, "";
        /// Measure the queue in bytes over `mean_packet`.
        bytes: bool = false, "", Range::ANY, ["queue_in_bytes_"];
        /// Count bytes over `mean_packet`, and scale p by a packet's size over `mean_packet`; if omitted, as `bytes`.
        by_size: Option<bool> = None, "", Range::ANY, ["bytes_"];
        /// The packet size for thresholds and idle time; if omitted, the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["mean_pktsize_"];
        /// Mark packets of ECN-capable transports instead of dropping them, while p_b is less than 1.
        ecn: bool = false, "", Range::ANY, ["setbit_"];
        /// Drop packets at p_b = 1 in spite of `ecn`.
        hard_drop: bool = true, "";
    }
}

impl Params {
    /// The value of class `k`, counted from 0, in a list.
    fn of(list: &[f64], k: usize) -> f64 {
        list[k.min(list.len() - 1)]
    }

    /// RED's parameters for class `k`, counted from 0.
    fn class(&self, k: usize) -> red::Params {
        red::Params {
            min_th: Some(Self::of(&self.min_th, k)),
            max_th: Some(Self::of(&self.max_th, k)),
            max_p: Some(Self::of(&self.max_p, k)),
            w_q: Some(self.w_q),
            gentle: self.gentle,
            spacing: self.spacing,
            bytes: self.bytes,
            by_size: self.by_size,
            mean_packet: self.mean_packet,
            ecn: self.ecn,
            hard_drop: self.hard_drop,
            ..red::Params::default()
        }
    }
}

const N: usize = CLASSES as usize;

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Wred {
    average: Average,
    /// On the heap, so that not every algorithm takes the space of four.
    classes: Box<[Red; N]>,
    /// The backlog of each class, which only RIO's average needs.
    held: [Backlog; N],
    /// The class index and the size of every packet that waits, for that average.
    waiting: Option<Mirror<(usize, u32)>>,
    /// The class of the last arrival.
    last: usize,
}

impl Wred {
    /// The backlog that class `k` sees, in a whole `queue`.
    #[inline]
    fn seen(&self, k: usize, queue: &Backlog) -> Backlog {
        match self.average {
            Average::Shared => *queue,
            Average::OwnAndHigher => {
                let seen = &self.held[..=k];
                Backlog {
                    packets: seen.iter().map(|class| class.packets).sum(),
                    bytes: seen.iter().map(|class| class.bytes).sum(),
                    full: queue.full,
                }
            }
        }
    }

    /// Subtracts the packets that have left the queue from their classes.
    #[inline]
    fn forget(&mut self, queue: &Backlog) {
        while let Some((k, size)) = self.waiting.as_mut().and_then(|waiting| waiting.gone(queue.packets)) {
            self.held[k].packets -= 1;
            self.held[k].bytes -= u64::from(size);
        }
    }
}

impl Aqm for Wred {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal {
            name: "p",
            unit: "",
            doc: "Drop probability p_b at the last arrival, in its class, before drops are spaced.",
        },
        Signal { name: "avg", unit: "packets", doc: "The average queue that decided at the last arrival." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] = &[(
        "ns2-rio",
        "ns-2's RIO: In (class 1) 15, 30 and 1/50 by its own average, Out 5, 15 and 0.1; spacing \"wait\"",
    )];

    fn new(params: &Params, port: &Port) -> Self {
        Self {
            average: params.average,
            classes: Box::new(core::array::from_fn(|k| Red::new(&params.class(k), port))),
            held: [Backlog::default(); N],
            waiting: (params.average == Average::OwnAndHigher).then(|| Mirror::new(port)),
            last: 0,
        }
    }

    fn preset(name: &str) -> Option<Params> {
        (name == "ns2-rio").then(|| Params {
            min_th: vec![15.0, 5.0],
            max_th: vec![30.0, 15.0],
            max_p: vec![0.02, 0.1],
            average: Average::OwnAndHigher,
            w_q: 0.002,
            spacing: Spacing::Wait,
            ..Params::default()
        })
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        for (name, list) in [("min_th", &params.min_th), ("max_th", &params.max_th), ("max_p", &params.max_p)]
        {
            if list.len() > N {
                let allowed = format!("at most {N} values, one a class");
                return Err(ParamError::invalid(name, format!("{list:?}"), allowed));
            }
        }
        (0..N).try_for_each(|k| Red::check(&params.class(k)))
    }

    #[inline]
    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Backlog,
        rng: &mut R,
    ) -> Verdict {
        self.forget(queue);
        let k = packet.place();
        for class in 0..N {
            if class >= k || self.average == Average::Shared {
                let seen = self.seen(class, queue);
                self.classes[class].estimate(now, &seen);
            } else {
                // No packet of its own or higher classes has come, but the link's idle time ages its average.
                self.classes[class].end_idle(now, queue.full);
            }
        }
        self.last = k;
        let seen = self.seen(k, queue);
        let verdict = self.classes[k].decide(packet, &seen, rng);
        if verdict != Verdict::Drop
            && !queue.full
            && let Some(waiting) = &mut self.waiting
        {
            waiting.push((k, packet.size));
            self.held[k].packets += 1;
            self.held[k].bytes += u64::from(packet.size);
        }
        verdict
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        _: &Packet,
        queue: &Backlog,
        _: Span,
        _: &mut R,
    ) -> Verdict {
        self.forget(queue);
        Verdict::Pass
    }

    #[inline]
    fn on_idle(&mut self, now: Time) {
        for class in self.classes.iter_mut() {
            class.on_idle(now);
        }
    }

    fn is_final(&self) -> bool {
        true
    }

    fn can_resume(&self, before: &Self) -> bool {
        // Only one of the averages needs a record of what waits.
        self.average == before.average
    }

    fn resume(&mut self, before: Self) {
        for (class, before) in self.classes.iter_mut().zip(*before.classes) {
            class.resume(before);
        }
        if let (Some(waiting), Some(before)) = (&mut self.waiting, before.waiting) {
            waiting.resume(before);
        }
        (self.held, self.last) = (before.held, before.last);
    }

    fn signals(&self, visit: impl FnMut(usize, f64)) {
        self.classes[self.last].signals(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, waiting};

    /// A full-sized packet of this class.
    fn of_class(class: u8) -> Packet {
        Packet { class, ..PACKET }
    }

    /// p_b at the last arrival.
    fn p_b(wred: &Wred) -> f64 {
        wred.classes[wred.last].p_b
    }

    /// Average queue at the last arrival.
    fn avg(wred: &Wred) -> f64 {
        wred.classes[wred.last].avg
    }

    /// Runs an arrival of `class` that finds a queue of this many packets, and keeps it waiting.
    fn arrive(wred: &mut Wred, now: Time, class: u8, queue: u32) {
        let verdict = wred.on_enqueue(now, &of_class(class), &waiting(queue), &mut Draw(0.999));
        assert_eq!(verdict, Verdict::Pass);
    }

    #[test]
    fn each_class_has_its_own_line_over_one_average() {
        let params = Params {
            min_th: vec![30.0, 20.0, 10.0],
            max_th: vec![50.0, 40.0],
            max_p: vec![0.1, 0.2, 0.3, 0.4],
            w_q: 1.0,
            ..Params::default()
        };
        let mut wred = Wred::new(&params, &PORT);
        // At 35: 0.1 of 5/20, 0.2 of 15/20, 0.3 and 0.4 of 25/30.
        for (class, expected) in [(1, 0.025), (2, 0.15), (3, 0.25), (4, 1.0 / 3.0)] {
            arrive(&mut wred, Time::ZERO, class, 35);
            assert_close(p_b(&wred), expected);
            assert_close(avg(&wred), 35.0);
        }
    }

    #[test]
    fn the_defaults_are_ciscos_for_every_other_precedence() {
        let mut params = Params::default();
        assert_eq!(Wred::check(&params), Ok(()));
        for (k, precedence) in [6, 4, 2, 0].into_iter().enumerate() {
            assert_close(params.min_th[k], f64::floor(40.0 * f64::from(9 + precedence) / 18.0));
        }
        params.w_q = 1.0;
        let mut wred = Wred::new(&params, &PORT);
        // Half-way from 20 to 40; above 40 every packet is dropped.
        arrive(&mut wred, Time::ZERO, 4, 30);
        assert_close(p_b(&wred), 0.05);
        arrive(&mut wred, Time::ZERO, 1, 30);
        assert_close(p_b(&wred), 0.0);
        arrive(&mut wred, Time::ZERO, 1, 40);
        assert_close(p_b(&wred), 1.0);
    }

    #[test]
    fn an_arrival_of_any_class_moves_the_shared_average() {
        let mut wred = Wred::new(&Params { w_q: 0.5, ..Params::default() }, &PORT);
        for (class, expected) in [(1, 8.0), (4, 12.0), (2, 14.0), (3, 15.0)] {
            arrive(&mut wred, Time::ZERO, class, 16);
            assert_close(avg(&wred), expected);
        }
    }

    #[test]
    fn a_class_sees_only_its_own_and_higher_classes() {
        let params = Params {
            average: Average::OwnAndHigher,
            w_q: 1.0,
            min_th: vec![90.0],
            max_th: vec![99.0],
            ..Params::default()
        };
        let mut wred = Wred::new(&params, &PORT);
        let classes = [1, 2, 2, 3, 4, 4, 4];
        for (queue, class) in (0..).zip(classes) {
            arrive(&mut wred, Time::ZERO, class, queue);
        }
        for (queue, (class, seen)) in (7..).zip([(1, 1.0), (2, 4.0), (3, 6.0), (4, 10.0)]) {
            arrive(&mut wred, Time::ZERO, class, queue);
            assert_close(avg(&wred), seen);
        }
        // Eleven wait, 2 3 2 4 by class. The first three leave: one of class 1 and two of class 2.
        for left in [10, 9, 8] {
            wred.on_dequeue(Time::ZERO, &PACKET, &waiting(left), Span::ZERO, &mut Draw(0.5));
        }
        for (queue, (class, seen)) in (8..).zip([(1, 1.0), (2, 3.0), (3, 6.0), (4, 11.0)]) {
            arrive(&mut wred, Time::ZERO, class, queue);
            assert_close(avg(&wred), seen);
        }
    }

    #[test]
    fn packets_dropped_from_the_head_to_make_room_no_longer_wait() {
        let params = Params {
            average: Average::OwnAndHigher,
            w_q: 1.0,
            min_th: vec![90.0],
            max_th: vec![99.0],
            ..Params::default()
        };
        let mut wred = Wred::new(&params, &PORT);
        for (queue, class) in (0..).zip([1, 1, 1, 4]) {
            arrive(&mut wred, Time::ZERO, class, queue);
        }
        // Two packets of class 1 have left, and the count is updated only now.
        arrive(&mut wred, Time::ZERO, 1, 2);
        assert_close(avg(&wred), 1.0);
    }

    #[test]
    fn dropped_packets_do_not_wait() {
        let params = Params {
            average: Average::OwnAndHigher,
            w_q: 1.0,
            min_th: vec![1.0],
            max_th: vec![1.0],
            ..Params::default()
        };
        let mut wred = Wred::new(&params, &PORT);
        // The third finds two and is the first above the threshold, hence spared; the fourth is dropped.
        for (queue, verdict) in (0..).zip([Verdict::Pass, Verdict::Pass, Verdict::Pass, Verdict::Drop]) {
            assert_eq!(
                wred.on_enqueue(Time::ZERO, &of_class(2), &waiting(queue), &mut Draw(0.5)),
                verdict,
                "at {queue}"
            );
        }
        let full = Backlog { full: true, ..waiting(3) };
        wred.on_enqueue(Time::ZERO, &of_class(2), &full, &mut Draw(0.5));
        assert_eq!((wred.held[1].packets, wred.held[1].bytes), (3, 1500));
    }

    #[test]
    fn a_class_without_arrivals_keeps_its_average_except_for_idle_time() {
        let params = Params { average: Average::OwnAndHigher, w_q: 0.5, ..Params::default() };
        let mut wred = Wred::new(&params, &PORT);
        wred.classes.iter_mut().for_each(|class| class.avg = 16.0);
        wred.on_idle(Time::ZERO);
        // The time of two packets; then class 2 comes, and 1 and its arrivals are passed by.
        let now = Time::ZERO + Span::us(800);
        arrive(&mut wred, now, 2, 0);
        let avgs: Vec<f64> = wred.classes.iter().map(|class| class.avg).collect();
        assert_eq!(avgs, [4.0, 2.0, 2.0, 2.0]);
        // The link was busy since: class 1 has no idle time, and the other classes see the waiting packet.
        arrive(&mut wred, now + Span::s(1), 2, 1);
        let avgs: Vec<f64> = wred.classes.iter().map(|class| class.avg).collect();
        assert_eq!(avgs, [4.0, 1.5, 1.5, 1.5]);
    }

    #[test]
    fn each_class_counts_its_own_packets_between_drops() {
        let params = Params {
            min_th: vec![10.0],
            max_th: vec![30.0],
            max_p: vec![0.5],
            w_q: 1.0,
            ..Params::default()
        };
        let mut wred = Wred::new(&Params { spacing: Spacing::Wait, ..params }, &PORT);
        let mut verdict = |class| wred.on_enqueue(Time::ZERO, &of_class(class), &waiting(20), &mut Draw(0.0));
        // p_b = 0.25: every fourth packet of each class is dropped, whatever comes between.
        let verdicts = [1, 2, 2, 1, 1, 2, 1, 2].map(&mut verdict);
        assert_eq!(verdicts[..6], [Verdict::Pass; 6]);
        assert_eq!(verdicts[6..], [Verdict::Drop; 2]);
    }

    #[test]
    fn parameters_that_contradict_each_other_are_refused() {
        let error = |params: Params| Wred::check(&params).unwrap_err().to_string();
        let max_th = vec![40.0, 40.0, 22.0];
        assert_eq!(error(Params { max_th, ..Params::default() }), "min_th = 24: must be at most max_th = 22");
        assert_eq!(
            error(Params { max_p: vec![0.5; 5], ..Params::default() }),
            "max_p = [0.5, 0.5, 0.5, 0.5, 0.5]: must be at most 4 values, one a class"
        );
    }
}
