//! JoBS: schedules and drops four classes of service to meet bounds on delay, rate and loss, absolute or relative.
//!
//! Since the buffer was last empty, A_i bits of class i have arrived and R_i of them have been accepted; the class's
//! loss is l_i = (A_i - R_i) / A_i. B_i bits wait, and the first of them has waited for D_i. Each class has a service
//! rate r_i; the r_i sum to the link's rate C, and are allocated anew when a class begins or ceases to wait:
//!
//! ```text
//! serve:     the class furthest behind, largest S_i - s_i   (S_i: r_i over time; s_i: bits sent)
//! absolute:  r_i >= m_i = max(B_i / (delay_i - D_i), rate_i)
//! short:     each class, class 1 first, takes the rate that it lacks from the last class that can spare it;
//!            if a delay is still out of reach, packets of its class are dropped until B_i <= r_i (delay_i - D_i)
//! relative:  r_i <- r_i + K e_i,  e_i = mean_j(w_j D_j) - w_i D_i,  but no r_i below m_i
//! K          = -2 C'^2 min_i(R_i / sum_j R_j) load max(load, 1) / (max_i(w_i) packet sampling)
//! w_i        = prod_(j != i) prod_(k < j) relative_delay_k, over the classes that take part
//! overflow:  the class furthest below the mean of v_i l_i loses a packet   (v_i as w_i, of relative_loss)
//! ```
//!
//! The relative step is taken every `sampling` arrivals, and whenever a class was short. C' is the part of C that
//! classes outside the relation do not use; the load is measured over the last half second.
//!
//! Guarantees that cannot all be met are given up in this order: relative bounds, absolute delays and rates, absolute
//! losses. No class loses a packet to meet a delay or a loss relation if its loss would exceed its bound; the class
//! with the largest margin loses it instead. That bound is broken only by a full buffer in which no class has a
//! margin.
//!
//! Decides at: enqueue, where packets that wait may be dropped; overflow; dequeue, which class is served. Timer: none.
//! Randomness: none. State: per class A, R, S, s, r, m and l; the load.
//!
//! # Departures from the source
//! ns-2's program deviates in six places from its comments or from the bounds; `form = "ns2"` keeps these deviations.
//! If several packets are dropped at one arrival, only the last counts as a loss. If the loss relation does not
//! decide, the last class loses a packet, not the class with the largest margin. A class that may lose no more stops
//! the drops of the others. A minimum rate may exceed the link's rate, so that a late class that may lose nothing has
//! priority until the buffer is empty. With shared relief, minimum rates count packets that have been dropped. S_i
//! grows at arrivals of class i only, so that a class without arrivals keeps waiting. In both forms, a rate alone does
//! not drop packets (in ns-2 they are dropped to a bound that is never set), a load measured over no time counts as 1
//! (in ns-2 it is infinite), and classes have no buffers of their own. With a limit in bytes, an arrival may push out
//! several packets.
//!
//! # Sources
//! Liebeherr, Christin, "JoBS: Joint buffer management and scheduling for differentiated services", IWQoS 2001;
//! Christin, Liebeherr, Abdelzaher, "A quantitative assured forwarding service", INFOCOM 2002, for the feedback;
//! ns-2.35, jobs.cc. Tested against a transcription of jobs.cc, packet for packet and rate for rate, and against ns-2
//! runs.

use crate::contract::{Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Eviction, Lane};
use crate::params::{ParamError, Params as _, Range};
use crate::unit::{Bytes, Limit, Rate, Span, Time};
use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use load::Load;
use shedding::{N, Shedding};

mod load;
mod losses;
mod rates;
mod shedding;
#[cfg(test)]
mod tests;

crate::choice! {
    /// Whether ns-2's deviations are kept.
    pub enum Form {
        /// The rules as the source's comments describe them.
        Paper = "paper",
        /// The rules as ns-2 executes them.
        Ns2 = "ns2",
    }
}

crate::choice! {
    /// The classes that lose packets if a delay is out of reach.
    pub enum Relief {
        /// The late classes.
        Own = "own",
        /// All classes, according to the relation of their losses.
        Shared = "shared",
    }
}

crate::params! {
    /// The parameters of JoBS. Each of the first five is a list with an entry per class; classes beyond its end have
    /// no bound.
    pub struct Params {
        /// Longest delay of each class; auto for no bound.
        delay: Vec<Option<Span>> = vec![None; N], "s", Range::new(1e-6, 1e6), ["init-adcs", "adc"];
        /// Lowest rate of each class while it waits; auto for no bound.
        rate: Vec<Option<Rate>> = vec![None; N], "bit/s", Range::new(1.0, 1e12), ["init-arcs", "arc"];
        /// Largest loss of each class; auto for no bound.
        loss: Vec<Option<f64>> = vec![None; N], "", Range::new(0.0, 1.0), ["init-alcs", "alc"];
        /// Ratio of the delay of the next class in the relation to that of this class; auto for a class outside the
        /// relation. The value of the last class only makes it take part.
        relative_delay: Vec<Option<f64>> = vec![None; N], "", Range::new(1e-6, 1e6), ["init-rdcs", "rdc"];
        /// The same ratio for losses.
        relative_loss: Vec<Option<f64>> = vec![None; N], "", Range::new(1e-6, 1e6), ["init-rlcs", "rlc"];
        /// Arrivals from one relative step to the next.
        sampling: u32 = 1, "packets", Range::new(1.0, 1e6), ["sampling-period"];
        /// Usual packet size; auto is the port's. (ns-2's mean_pkt_size_ is in bits.)
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Drop the first waiting packet of a class, not the last.
        drop_front: bool = false, "", Range::ANY, ["drop_front_"];
        /// The classes that lose packets if a delay is out of reach: `own`, the late ones; `shared`, all, according to
        /// the relation of their losses (ns-2's adc_resolution_type_).
        relief: Relief = Relief::Own, "";
        /// The rules: `paper`, as the source's comments describe them; `ns2`, as ns-2 executes them.
        form: Form = Form::Paper, "";
    }
}

/// A class of service: its bounds and its service so far. Amounts are in bits.
#[derive(Clone, Debug)]
struct Class {
    delay: Option<f64>,
    min: Option<f64>,
    /// Infinite for no bound.
    most_lost: f64,
    delay_weight: Option<f64>,
    loss_weight: Option<f64>,
    /// A, R, S and s.
    arrived: f64,
    entered: f64,
    due: f64,
    sent: f64,
    /// The time up to which S is counted.
    counted: Option<Time>,
    /// r and m.
    rate: f64,
    min_rate: f64,
    loss: f64,
    loss_before: f64,
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Jobs {
    classes: [Class; N],
    link: f64,
    limit: Limit,
    /// K without its variable factors.
    gain: f64,
    absolute: bool,
    sampling: u32,
    drop_front: bool,
    relief: Relief,
    ns2: bool,
    /// Whether the link has been idle.
    idle: bool,
    /// The class and size of an arrival that is counted but not yet decided.
    arrival: Option<(usize, u32)>,
    shedding: Option<Shedding>,
    arrivals: u32,
    load: Load,
}

/// The weights of the classes that take part in a relation.
fn weights(factors: &[Option<f64>]) -> [Option<f64>; N] {
    let mut scales = [None; N];
    let mut scale = 1.0;
    for (place, factor) in scales.iter_mut().zip(factors) {
        if let Some(factor) = factor {
            *place = Some(scale);
            scale *= factor;
        }
    }
    let all = |but: usize| (0..N).filter(|j| *j != but).filter_map(|j| scales[j]).product();
    core::array::from_fn(|i| scales[i].map(|_| all(i)))
}

const fn bits(bytes: u64) -> f64 {
    8.0 * bytes as f64
}

impl Class {
    /// Takes over the service so far; the rates are this `part` of those before, as the link's is.
    fn resume(&mut self, before: &Self, part: f64) {
        (self.arrived, self.entered) = (before.arrived, before.entered);
        (self.due, self.sent, self.counted) = (before.due, before.sent, before.counted);
        (self.rate, self.min_rate) = (before.rate * part, before.min_rate * part);
        (self.loss, self.loss_before) = (before.loss, before.loss_before);
    }

    fn lost(&self) -> f64 {
        if self.arrived > 0.0 { (self.arrived - self.entered) / self.arrived } else { 0.0 }
    }

    /// Whether the class may lose this many more bits.
    fn may_lose(&self, bits: f64) -> bool {
        self.loss + bits / self.arrived <= self.most_lost
    }
}

impl Jobs {
    /// Counts an arrival, before the decision.
    fn count(&mut self, now: Time, packet: &Packet, lanes: &[Lane]) -> usize {
        let class = packet.place();
        let size = bits(u64::from(packet.size));
        self.arrival = Some((class, packet.size));
        self.load.arrive(now, size);
        if core::mem::take(&mut self.idle) {
            for class in &mut self.classes {
                (class.arrived, class.entered, class.due, class.sent) = (0.0, 0.0, 0.0, 0.0);
                class.counted = None;
            }
        }
        let own = &mut self.classes[class];
        own.arrived += size;
        own.entered += size;
        if !self.ns2 {
            self.advance(now, lanes);
        } else if let Some(before) = own.counted.replace(now) {
            own.due += now.since(before).secs() * own.rate;
        }
        for class in &mut self.classes {
            class.loss = class.lost();
            class.loss_before = class.loss;
        }
        class
    }
}

impl Discipline for Jobs {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "r1", unit: "bit/s", doc: "Service rate of class 1." },
        Signal { name: "r2", unit: "bit/s", doc: "Service rate of class 2." },
        Signal { name: "r3", unit: "bit/s", doc: "Service rate of class 3." },
        Signal { name: "r4", unit: "bit/s", doc: "Service rate of class 4." },
        Signal { name: "l1", unit: "", doc: "Loss of class 1 since the buffer was last empty." },
        Signal { name: "l2", unit: "", doc: "Loss of class 2 since the buffer was last empty." },
        Signal { name: "l3", unit: "", doc: "Loss of class 3 since the buffer was last empty." },
        Signal { name: "l4", unit: "", doc: "Loss of class 4 since the buffer was last empty." },
    ];
    const LANES: &'static [&'static str] = &["1", "2", "3", "4"];
    const PRESETS: &'static [(&'static str, &'static str)] = &[
        (
            "lossdel",
            "the guarantees of ns-2's example jobs-lossdel: of 10 Mbit/s, 1 ms and 1 % for the first class, relations for the others",
        ),
        ("ns2.35", "the same with ns-2's deviations"),
        ("rates", "the guarantees of ns-2's rate test: 4, 3, 2 and 1 Mbit/s"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let delay_weights = weights(&params.relative_delay);
        let loss_weights = weights(&params.relative_loss);
        let classes = core::array::from_fn(|i| Class {
            delay: entry(&params.delay, i).map(Span::secs),
            min: entry(&params.rate, i).map(Rate::bits),
            most_lost: entry(&params.loss, i).unwrap_or(f64::INFINITY),
            delay_weight: delay_weights[i],
            loss_weight: loss_weights[i],
            arrived: 0.0,
            entered: 0.0,
            due: 0.0,
            sent: 0.0,
            counted: None,
            rate: 0.0,
            min_rate: 0.0,
            loss: 0.0,
            loss_before: 0.0,
        });
        let largest = delay_weights.iter().flatten().fold(0.0, |a: f64, b| a.max(*b));
        let mean = bits(params.mean_packet.unwrap_or(port.packet).0);
        Self {
            absolute: classes.iter().any(|class: &Class| class.delay.is_some() || class.min.is_some()),
            classes,
            link: port.rate.bits(),
            limit: port.limit,
            gain: -2.0 / (largest * mean * f64::from(params.sampling)),
            sampling: params.sampling,
            drop_front: params.drop_front,
            relief: params.relief,
            ns2: params.form == Form::Ns2,
            idle: true,
            arrival: None,
            shedding: None,
            arrivals: 0,
            load: Load::default(),
        }
    }

    fn preset(name: &str) -> Option<Params> {
        let relation = |factor| vec![None, Some(factor), Some(factor), Some(factor)];
        let lossdel = Params {
            delay: vec![Some(Span::ms(1)), None, None, None],
            loss: vec![Some(0.01), None, None, None],
            relative_delay: relation(4.0),
            relative_loss: relation(2.0),
            mean_packet: Some(Bytes(500)),
            ..Params::default()
        };
        match name {
            "lossdel" => Some(lossdel),
            "ns2.35" => Some(Params { form: Form::Ns2, ..lossdel }),
            "rates" => Some(Params {
                rate: [4, 3, 2, 1].map(|rate| Some(Rate::mbit_per_s(rate))).into(),
                ..Params::default()
            }),
            _ => None,
        }
    }

    /// A list becomes a number for each class: its bound, or one that is none; its weight, in units of the largest, or 0.
    fn fixed(params: &Params, port: &Port) -> Numbers {
        let mean = bits(params.mean_packet.unwrap_or(port.packet).0);
        let mut values = vec![("link", port.rate.bits()), ("step", mean * f64::from(params.sampling))];
        let mut add = |names: [&'static str; N], value: &dyn Fn(usize) -> f64| {
            values.extend(names.into_iter().enumerate().map(|(i, name)| (name, value(i))));
        };
        let weighted = |factors: &[Option<f64>]| {
            let weights = weights(factors);
            let largest = weights.iter().flatten().fold(0.0, |a: f64, b| a.max(*b));
            move |i: usize| weights[i].map_or(0.0, |weight| weight / largest)
        };
        let delay = |i| entry(&params.delay, i).map_or(0.0, |delay| delay.nanos() as f64);
        add(["delay_1", "delay_2", "delay_3", "delay_4"], &delay);
        add(["rate_1", "rate_2", "rate_3", "rate_4"], &|i| entry(&params.rate, i).map_or(0.0, Rate::bits));
        add(["loss_1", "loss_2", "loss_3", "loss_4"], &|i| entry(&params.loss, i).unwrap_or(2.0));
        let names = ["delay_weight_1", "delay_weight_2", "delay_weight_3", "delay_weight_4"];
        add(names, &weighted(&params.relative_delay));
        let names = ["loss_weight_1", "loss_weight_2", "loss_weight_3", "loss_weight_4"];
        add(names, &weighted(&params.relative_loss));
        let of = vec!["delay", "rate", "loss", "relative_delay", "relative_loss", "mean_packet"];
        Numbers { values, of }
    }

    fn check(params: &Params) -> Result<(), ParamError> {
        let Params { delay, rate, loss, relative_delay, relative_loss, .. } = params;
        let lengths = [delay.len(), rate.len(), loss.len(), relative_delay.len(), relative_loss.len()];
        match lengths.iter().zip(Params::specs()).find(|(length, _)| **length > N) {
            None => Ok(()),
            Some((length, spec)) => Err(ParamError::Invalid {
                name: spec.name.to_owned(),
                found: format!("a list of {length}"),
                allowed: format!("a list of at most {N}, an entry a class"),
            }),
        }
    }

    fn lanes(&self) -> usize {
        N
    }

    fn on_enqueue<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        _: &mut R,
    ) -> (usize, Verdict) {
        let class = self.arrival.map_or_else(|| self.count(now, packet, lanes), |(class, _)| class);
        if buffer.full {
            self.lose(class, bits(u64::from(packet.size)));
        }
        self.arrival = None;
        self.arrivals = self.arrivals.saturating_add(1);
        (class, Verdict::Pass)
    }

    fn make_room<R: Uniform>(
        &mut self,
        now: Time,
        packet: &Packet,
        buffer: &Backlog,
        lanes: &[Lane],
        _: &mut R,
    ) -> Option<(usize, u32)> {
        if !buffer.full || self.limit.refuses(0, 0, packet.size) {
            return None;
        }
        let own = self.arrival.map_or_else(|| self.count(now, packet, lanes), |(class, _)| class);
        let class = self.overflowing(own, packet.size, lanes);
        let (place, lost) = self.victim(class, lanes);
        let place = place?;
        self.lose(class, lost);
        Some((class, place))
    }

    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<Eviction> {
        let mut shedding = if let Some(shedding) = self.shedding.take() {
            shedding
        } else {
            self.conserve_work(lanes);
            if !self.absolute || self.has_min_rates(now, lanes) {
                if self.arrivals >= self.sampling {
                    self.adjust_rates(now, lanes);
                }
                return None;
            }
            self.assign_rates(now, lanes)
        };
        let Some(class) = self.next_to_shed(&mut shedding, lanes) else {
            self.settle(&shedding, lanes);
            self.adjust_rates(now, lanes);
            return None;
        };
        let (place, lost) = self.victim(class, lanes);
        self.lose(class, lost);
        self.shedding = Some(shedding);
        Some(Eviction { lane: class, place: place?, full: false })
    }

    fn serve(&mut self, now: Time, lanes: &[Lane]) -> usize {
        if !self.ns2 {
            self.advance(now, lanes);
        }
        let behind = |i: usize| self.classes[i].due - self.classes[i].sent;
        let waiting = (0..N).filter(|i| lanes[*i].packets > 0);
        waiting.reduce(|first, i| if behind(i) > behind(first) { i } else { first }).expect("a packet waits")
    }

    #[inline]
    fn on_dequeue<R: Uniform>(
        &mut self,
        _: Time,
        lane: usize,
        packet: &Packet,
        _: &Backlog,
        _: &[Lane],
        _: Span,
        _: &mut R,
    ) -> Verdict {
        self.classes[lane].sent += bits(u64::from(packet.size));
        Verdict::Pass
    }

    fn on_idle(&mut self, _: Time) {
        self.idle = true;
    }

    fn resume(&mut self, _: Time, before: Self) {
        let part = self.link / before.link;
        for (class, before) in self.classes.iter_mut().zip(&before.classes) {
            class.resume(before, part);
        }
        (self.idle, self.arrival, self.shedding) = (before.idle, before.arrival, before.shedding);
        (self.arrivals, self.load) = (before.arrivals, before.load);
    }

    fn on_trim(&mut self, lane: usize, size: u32, _: &[Lane]) {
        self.lose(lane, bits(u64::from(size)));
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        for (i, class) in self.classes.iter().enumerate() {
            visit(i, class.rate);
        }
        for (i, class) in self.classes.iter().enumerate() {
            visit(N + i, class.loss);
        }
    }
}

/// The entry of class `i`, if the list has one.
fn entry<T: Copy>(list: &[Option<T>], i: usize) -> Option<T> {
    list.get(i).copied().flatten()
}
