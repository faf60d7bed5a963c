//! JoBS: four classes of service with bounds on their delay, rate and loss, absolute or relative to the next class.
//!
//! Since the buffer was last empty, A_i bits of class i have arrived and R_i of them have entered, which leaves a loss
//! of l_i = (A_i - R_i) / A_i. B_i bits wait, and D_i is how long the first of them has waited. Each class has a service
//! rate r_i; the r_i add up to the link's rate C, and are shared out anew when a class begins or ceases to wait:
//!
//! ```text
//! serve:     the class most behind, largest S_i - s_i   (S_i: r_i over time; s_i: bits sent)
//! absolute:  r_i >= m_i = max(B_i / (delay_i - D_i), rate_i)
//! short:     each class, the first of them first, takes what it lacks from the last class that can spare it;
//!            where a delay is still out of reach, packets of its class are dropped until B_i <= r_i (delay_i - D_i)
//! relative:  r_i <- r_i + K e_i,  e_i = mean_j(w_j D_j) - w_i D_i,  but no r_i below m_i
//! K          = -2 C'^2 min_i(R_i / sum_j R_j) load max(load, 1) / (max_i(w_i) packet sampling)
//! w_i        = prod_(j != i) prod_(k < j) relative_delay_k, over the classes that take part
//! overflow:  the class most below the mean of v_i l_i loses a packet   (v_i as w_i, of relative_loss)
//! ```
//!
//! The relative step is taken every `sampling` arrivals, and whenever a class was short. C' is what classes outside the
//! relation leave of C; the load is that of the last half second.
//!
//! What cannot be kept is given up in this order: the relative bounds, then absolute delays and rates, then absolute
//! losses. No class loses a packet for a delay, or for the relation of losses, if its loss would pass its bound; then
//! the class with most to spare does. Only a full buffer in which no class can spare anything breaks that bound.
//!
//! Decides at: enqueue, where packets that wait may be dropped; overflow; dequeue, which class is served. Timer: none.
//! Randomness: none. State: per class A, R, S, s, r, m and l; the load.
//!
//! # Departures from the source
//! ns-2's program does otherwise in five places than its comments say or its bounds need, which `form = "ns2"` keeps: a loss
//! counts only the last of several packets dropped at one arrival; where the relation of losses does not decide, the last class
//! loses a packet, not that with most to spare; a class that may lose no more stops the drops of the others; a minimum
//! rate may be beyond what is there, so that a class that is late, and may lose nothing, has priority until the
//! buffer is empty; and with shared relief, minimum rates count packets dropped already.
//! In no form: a rate alone drops packets (in ns-2 to a bound never set); a load measured over no time, infinite
//! there, counts as 1; buffers of their own for the classes. With a limit in bytes an arrival may make several
//! packets leave.
//!
//! # Sources
//! Liebeherr, Christin, "JoBS: Joint buffer management and scheduling for differentiated services", IWQoS 2001;
//! Christin, Liebeherr, Abdelzaher, "A quantitative assured forwarding service", INFOCOM 2002, for the feedback;
//! ns-2.35, jobs.cc, against a transcription of which it is tested, packet for packet and rate for rate, and its runs.

use crate::aqm::{Backlog, CLASSES, Packet, Port, Signal, Uniform, Verdict};
use crate::discipline::{Discipline, Lane};
use crate::params::{ParamError, Params as _, Range};
use crate::unit::{Bytes, Limit, Rate, Span, Time};

crate::choice! {
    /// Whether ns-2's slips are kept.
    pub enum Form {
        /// What the source's comments say.
        Paper = "paper",
        /// What ns-2 does.
        Ns2 = "ns2",
    }
}

crate::choice! {
    /// Which classes lose packets where a delay is out of reach.
    pub enum Relief {
        /// Those that are late.
        Own = "own",
        /// All, by the relation of their losses.
        Shared = "shared",
    }
}

crate::params! {
    /// The parameters of JoBS. Each of the first five is a list with an entry a class; classes beyond its end have none.
    pub struct Params {
        /// The longest delay of each class; auto for no bound.
        delay: Vec<Option<Span>> = vec![None; N], "s", Range::new(1e-6, 1e6), ["init-adcs", "adc"];
        /// The least rate of each class while it waits; auto for no bound.
        rate: Vec<Option<Rate>> = vec![None; N], "bit/s", Range::new(1.0, 1e12), ["init-arcs", "arc"];
        /// The largest loss of each class; auto for no bound.
        loss: Vec<Option<f64>> = vec![None; N], "", Range::new(0.0, 1.0), ["init-alcs", "alc"];
        /// How many times the delay of a class is that of the next class in the relation; auto for a class outside it. That of
        /// the last class only says that it takes part.
        relative_delay: Vec<Option<f64>> = vec![None; N], "", Range::above(0.0, 1e6), ["init-rdcs", "rdc"];
        /// The same for losses.
        relative_loss: Vec<Option<f64>> = vec![None; N], "", Range::above(0.0, 1e6), ["init-rlcs", "rlc"];
        /// How many arrivals there are from one relative step to the next.
        sampling: u32 = 1, "packets", Range::new(1.0, 1e6), ["sampling-period"];
        /// The usual packet; auto is the port's. (ns-2's mean_pkt_size_ is in bits.)
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0);
        /// Drop the first packet of a class that waits, not the last.
        drop_front: bool = false, "", Range::ANY, ["drop_front_"];
        /// Which classes lose packets where a delay is out of reach (ns-2's adc_resolution_type_).
        relief: Relief = Relief::Own, "";
        /// Whether ns-2's slips are kept.
        form: Form = Form::Paper, "";
    }
}

const N: usize = CLASSES as usize;

/// For how long the load is measured.
const WINDOW: Span = Span::ms(500);

/// Rates that differ by less, in bit/s, are the same. ns-2 has 1e-10, less than what rounding leaves, and mostly 0.
const NO_RATE: f64 = 1e-3;

/// The least time to a deadline, in seconds: what is late has this long (ns-2).
const LATE: f64 = 1e-10;

/// A class of service: its bounds, and what it got. Amounts are bits.
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
    /// Up to when S is counted.
    counted: Option<Time>,
    /// r and m.
    rate: f64,
    min_rate: f64,
    loss: f64,
    loss_before: f64,
}

/// What one class wants to drop so that the rest is in time.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// The seconds to the deadline of its first packet, if it is to meet one.
    left: f64,
    /// The rate that it can have, and what it waited with.
    rate: f64,
    backlog: f64,
    /// Whether that rate is too low for its deadline.
    late: bool,
}

/// Packets are being dropped for the sake of delays.
#[derive(Clone, Copy, Debug)]
struct Shedding {
    wanted: [Wanted; N],
    /// With shared relief, the bits still to go.
    excess: f64,
    /// Classes that may lose no more.
    stopped: [bool; N],
}

/// The algorithm; see the module.
#[derive(Clone, Debug)]
pub struct Jobs {
    classes: [Class; N],
    link: f64,
    limit: Limit,
    /// K without what changes.
    gain: f64,
    absolute: bool,
    sampling: u32,
    drop_front: bool,
    relief: Relief,
    ns2: bool,
    /// Whether the link has had nothing to send.
    idle: bool,
    /// The class and size of an arrival that is counted but has not been told its fate.
    arrival: Option<(usize, u32)>,
    shedding: Option<Shedding>,
    arrivals: u32,
    load: Load,
}

/// The load over the last window: means of packet size in bits and of the time between arrivals in seconds.
#[derive(Clone, Debug)]
struct Load {
    packets: f64,
    size: f64,
    gap: f64,
    last: Time,
    end: Time,
}

impl Load {
    fn arrive(&mut self, now: Time, bits: f64) {
        let gap = now.since(self.last).secs();
        self.last = now;
        if now >= self.end {
            (self.packets, self.gap, self.size) = (1.0, gap, bits);
            self.end = now + WINDOW;
            return;
        }
        self.packets += 1.0;
        self.gap = (gap + self.gap * (self.packets - 1.0)) / self.packets;
        self.size = (bits + self.size * (self.packets - 1.0)) / self.packets;
    }

    fn of(&self, link: f64) -> f64 {
        if self.gap > 0.0 { self.size / (self.gap * link) } else { 1.0 }
    }
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
    std::array::from_fn(|i| scales[i].map(|_| all(i)))
}

const fn bits(bytes: u64) -> f64 {
    8.0 * bytes as f64
}

impl Class {
    fn lost(&self) -> f64 {
        if self.arrived > 0.0 { (self.arrived - self.entered) / self.arrived } else { 0.0 }
    }

    /// Whether it may lose so many bits more.
    fn may_lose(&self, bits: f64) -> bool {
        self.loss + bits / self.arrived <= self.most_lost
    }
}

impl Jobs {
    /// Counts an arrival, before anything is decided.
    fn count(&mut self, now: Time, packet: &Packet) -> usize {
        let class = usize::from(packet.class.clamp(1, CLASSES)) - 1;
        let size = bits(u64::from(packet.size));
        self.arrival = Some((class, packet.size));
        self.load.arrive(now, size);
        if std::mem::take(&mut self.idle) {
            for class in &mut self.classes {
                (class.arrived, class.entered, class.due, class.sent) = (0.0, 0.0, 0.0, 0.0);
                class.counted = None;
            }
        }
        let own = &mut self.classes[class];
        own.arrived += size;
        own.entered += size;
        if let Some(before) = own.counted.replace(now) {
            own.due += now.since(before).secs() * own.rate;
        }
        for class in &mut self.classes {
            class.loss = class.lost();
            class.loss_before = class.loss;
        }
        class
    }

    /// Whether class `i` has a packet to lose: also the arrival, which is not in its lane yet.
    fn waits(&self, i: usize, lanes: &[Lane]) -> bool {
        lanes[i].packets > 0 || self.arrival.is_some_and(|(own, _)| own == i)
    }

    /// The packet that class `i` would lose: its place, unless it is the arrival, and its bits.
    fn victim(&self, i: usize, lanes: &[Lane]) -> (Option<u32>, f64) {
        let (place, size) = match (lanes[i].head, self.arrival) {
            (Some(head), _) if self.drop_front => (Some(0), head.size),
            (_, Some((own, size))) if own == i => (None, size),
            _ => (Some(lanes[i].packets - 1), lanes[i].tail),
        };
        (place, bits(u64::from(size)))
    }

    /// The class that is next to lose a packet, of those that wait.
    fn next_to_lose(&self, lanes: &[Lane]) -> Option<usize> {
        let weighted =
            |i: usize| Some(self.classes[i].loss_weight? * self.classes[i].loss).filter(|_| self.waits(i, lanes));
        let (sum, count) = (0..N).filter_map(weighted).fold((0.0, 0.0), |(sum, n), loss| (sum + loss, n + 1.0));
        let mut least = 0.0;
        let mut chosen = None;
        for i in 0..N {
            if let Some(loss) = weighted(i)
                && loss - sum / count <= least
            {
                (least, chosen) = (loss - sum / count, Some(i));
            }
        }
        if chosen.is_some_and(|i| self.classes[i].may_lose(self.victim(i, lanes).1)) {
            return chosen;
        }
        let waiting = (0..N).filter(|i| self.waits(*i, lanes));
        let spare = |i: usize| self.classes[i].most_lost - self.classes[i].loss;
        if self.ns2 { waiting.last() } else { waiting.max_by(|i, j| spare(*i).total_cmp(&spare(*j))) }
    }

    /// The class that loses a packet for want of room.
    fn overflowing(&self, own: usize, size: u32, lanes: &[Lane]) -> usize {
        let class = &self.classes[own];
        if class.loss_weight.is_none() && class.may_lose(bits(u64::from(size))) {
            return own;
        }
        self.next_to_lose(lanes).unwrap_or(own)
    }

    /// Takes a packet of class `i` off the books, of so many bits.
    fn lose(&mut self, i: usize, lost: f64) {
        if self.ns2 {
            self.classes.iter_mut().for_each(|class| class.loss = class.loss_before);
        }
        let class = &mut self.classes[i];
        class.entered -= lost;
        class.loss = if self.ns2 { class.loss + lost / class.arrived } else { class.lost() };
    }

    /// Shares the link out anew if a class has begun or ceased to wait.
    fn conserve_work(&mut self, lanes: &[Lane]) {
        let stale = |(class, lane): (&Class, &Lane)| {
            if lane.packets > 0 { class.rate <= NO_RATE } else { class.rate > NO_RATE }
        };
        if !self.classes.iter().zip(lanes).any(stale) {
            return;
        }
        let active = lanes.iter().filter(|lane| lane.packets > 0).count() as f64;
        for (class, lane) in self.classes.iter_mut().zip(lanes) {
            class.rate = if lane.packets > 0 { self.link / active } else { 0.0 };
        }
    }

    /// Works out the minimum rates, and whether all classes have theirs.
    fn has_min_rates(&mut self, now: Time, lanes: &[Lane]) -> bool {
        let mut enough = true;
        for (class, lane) in self.classes.iter_mut().zip(lanes) {
            class.min_rate = 0.0;
            let Some(head) = lane.head else { continue };
            let for_delay = class.delay.map_or(0.0, |delay| {
                let left = delay - now.since(head.arrived).secs();
                if left > 0.0 { bits(lane.bytes) / left } else { f64::INFINITY }
            });
            class.min_rate = for_delay.max(class.min.unwrap_or(0.0));
            enough &= class.min_rate <= class.rate + NO_RATE;
        }
        enough
    }

    /// Moves rates to the classes that are short of them. What is then to be dropped.
    fn assign_rates(&mut self, now: Time, lanes: &[Lane]) -> Shedding {
        let nothing = Wanted { left: f64::INFINITY, rate: 0.0, backlog: 0.0, late: false };
        let mut wanted = [nothing; N];
        let mut spare = [0.0; N];
        for (i, (class, lane)) in self.classes.iter().zip(lanes).enumerate() {
            spare[i] = class.rate;
            let Some(head) = lane.head else { continue };
            wanted[i] = Wanted { rate: class.rate, backlog: bits(lane.bytes), ..nothing };
            if let Some(delay) = class.delay {
                wanted[i].left = (delay - now.since(head.arrived).secs()).max(LATE);
                spare[i] = class.rate - wanted[i].backlog / wanted[i].left;
            }
            if let Some(min) = class.min {
                spare[i] = spare[i].min(class.rate - min);
            }
        }
        while let Some(to) = (0..N).find(|i| spare[*i] < -NO_RATE)
            && let Some(from) = (0..N).rev().find(|i| spare[*i] > 0.0)
        {
            if spare[from] >= -spare[to] {
                let lacking = -spare[to];
                wanted[from].rate -= lacking;
                wanted[to].rate += lacking;
                spare[from] -= lacking;
                spare[to] = 0.0;
            } else {
                wanted[from].rate -= spare[from];
                wanted[to].rate += spare[from];
                spare[to] += spare[from];
                spare[from] = 0.0;
            }
        }
        let mut excess = 0.0;
        for (i, class) in self.classes.iter_mut().enumerate() {
            class.rate = if lanes[i].packets > 0 { wanted[i].rate } else { 0.0 };
            wanted[i].late = spare[i] < -NO_RATE && wanted[i].left < f64::INFINITY;
            if wanted[i].late {
                excess += wanted[i].backlog - wanted[i].left * wanted[i].rate;
            }
        }
        Shedding { wanted, excess, stopped: [false; N] }
    }

    /// The class whose packet is dropped next so that the rest is in time.
    fn next_to_shed(&self, shedding: &mut Shedding, lanes: &[Lane]) -> Option<usize> {
        let may_lose = |i: usize| self.classes[i].may_lose(self.victim(i, lanes).1);
        if self.relief == Relief::Shared {
            let class = self.next_to_lose(lanes).filter(|_| shedding.excess > 0.0)?;
            shedding.excess -= self.victim(class, lanes).1;
            return Some(class).filter(|i| may_lose(*i));
        }
        for i in 0..N {
            let wanted = &shedding.wanted[i];
            let too_long = lanes[i].packets > 0 && bits(lanes[i].bytes) > wanted.left * wanted.rate;
            if !wanted.late || !too_long || shedding.stopped[i] {
                continue;
            }
            if may_lose(i) {
                return Some(i);
            }
            shedding.stopped = if self.ns2 { [true; N] } else { shedding.stopped };
            shedding.stopped[i] = true;
        }
        None
    }

    /// The minimum rates once packets have been dropped.
    fn settle(&mut self, shedding: &Shedding, lanes: &[Lane]) {
        for (i, class) in self.classes.iter_mut().enumerate() {
            let Wanted { left, rate, backlog, .. } = shedding.wanted[i];
            class.min_rate = match (class.delay, class.min) {
                _ if lanes[i].packets == 0 => 0.0,
                (Some(_), None) if !self.ns2 => (bits(lanes[i].bytes) / left).min(rate),
                (Some(_), None) if self.relief == Relief::Own => bits(lanes[i].bytes) / left,
                (Some(_), None) => backlog / left,
                (_, Some(_)) => rate,
                (None, None) => 0.0,
            };
        }
    }

    /// Moves rates towards the relation of delays, without going below a minimum.
    fn adjust_rates(&mut self, now: Time, lanes: &[Lane]) {
        self.arrivals = 0;
        let outside = |(class, lane): &(&Class, &Lane)| class.delay_weight.is_none() && lane.packets > 0;
        let upper = self.link - self.classes.iter().zip(lanes).filter(outside).map(|(class, _)| class.rate).sum::<f64>();
        let weighted = |i: usize| {
            let waited = now.since(lanes[i].head?.arrived).secs();
            Some(self.classes[i].delay_weight? * waited)
        };
        let count = (0..N).filter_map(weighted).count();
        if upper < NO_RATE || lanes.iter().all(|lane| lane.packets == 0) {
            return;
        }
        let mean = (0..N).filter_map(weighted).sum::<f64>() / count as f64;
        let related = |class: &&Class| class.delay_weight.is_some();
        let entered: f64 = self.classes.iter().filter(related).map(|class| class.entered).sum();
        let least = self.classes.iter().fold(1.0, |least, class| f64::min(least, class.entered / entered));
        let load = self.load.of(self.link);
        let gain = self.gain * upper * upper * least * load * load.max(1.0);
        let mut change: [f64; N] = std::array::from_fn(|i| weighted(i).map_or(0.0, |delay| gain * (mean - delay)));
        let in_relation = |i: usize| self.classes[i].delay_weight.is_some();
        let minima: f64 =
            (0..N).filter(|i| weighted(*i).is_some()).map(|i| self.classes[i].min_rate).sum();
        let mut credit = 0.0;
        for i in (0..N).filter(|i| in_relation(*i)) {
            let Class { rate, min_rate, .. } = self.classes[i];
            if change[i] + rate > upper + NO_RATE {
                for (j, class) in self.classes.iter().enumerate().filter(|(j, _)| in_relation(*j)) {
                    let all = if i == j { upper - minima } else { 0.0 };
                    change[j] = all + class.min_rate - class.rate;
                }
                credit = 0.0;
                break;
            }
            if change[i] + rate < min_rate {
                credit += change[i] + rate - min_rate;
                change[i] = min_rate - rate;
            }
        }
        for i in (0..N).rev().filter(|i| weighted(*i).is_some()) {
            if credit < 0.0 {
                let available = change[i] + self.classes[i].rate - self.classes[i].min_rate;
                let given = available.min(-credit);
                change[i] -= given;
                credit += given;
            }
        }
        for (class, change) in self.classes.iter_mut().zip(change) {
            class.rate += change;
        }
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
        ("lossdel", "the guarantees of ns-2's example jobs-lossdel: of 10 Mbit/s, 1 ms and 1 % for the first class, relations for the others"),
        ("ns2.35", "the same with ns-2's slips"),
        ("rates", "the guarantees of ns-2's test of rates: 4, 3, 2 and 1 Mbit/s"),
    ];

    fn new(params: &Params, port: &Port) -> Self {
        let delay_weights = weights(&params.relative_delay);
        let loss_weights = weights(&params.relative_loss);
        let classes = std::array::from_fn(|i| Class {
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
            load: Load { packets: 0.0, size: 0.0, gap: 0.0, last: Time::ZERO, end: Time::ZERO },
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
        _: &[Lane],
        _: &mut R,
    ) -> (usize, Verdict) {
        let class = self.arrival.map_or_else(|| self.count(now, packet), |(class, _)| class);
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
        let own = self.arrival.map_or_else(|| self.count(now, packet), |(class, _)| class);
        let class = self.overflowing(own, packet.size, lanes);
        let (place, lost) = self.victim(class, lanes);
        let place = place?;
        self.lose(class, lost);
        Some((class, place))
    }

    fn evict(&mut self, now: Time, lanes: &[Lane]) -> Option<(usize, u32)> {
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
        Some((class, place?))
    }

    fn serve(&mut self, _: Time, lanes: &[Lane]) -> usize {
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
