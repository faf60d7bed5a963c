//! The clustering of losses at a queue: in runs of consecutive packets, and in events that hit many flows.

use crate::measure::fates::{Fate, Fates, FlowKey};
use crate::packet::Packet;
use aqm::unit::{Span, Time};

/// Runs of this many losses or more share the last bin.
pub(crate) const LONGEST_RUN: usize = 100;

/// A flow that had no packet at the queue in this second nor in the one before does not count as active. An event
/// that lasts longer takes its own length instead.
const ACTIVE: Span = Span::s(1);

/// A packet that still waits when the fates of this many later ones are certain counts as sent. Otherwise memory would grow
/// without end where one lane starves while another is served.
const MOST_FATES: usize = 1 << 20;

/// The statistics of the losses at one queue.
///
/// Runs are of packets in the order of their arrivals, although they may leave the queue in another order. Therefore the fate
/// of a packet waits here until the fates of all that came before are certain.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    /// The flows of TCP and those of UDP, as far as a number has lost a packet or sent one.
    flows: [Vec<FlowLosses>; 2],
    /// The number of packets that have arrived.
    arrivals: u64,
    /// The number of the first arrival whose fate is not certain.
    first: u64,
    /// The fates of later ones, as far as they are certain.
    fates: Fates,
    /// The runs of each flow's own packets, one row per class.
    classes: Vec<Runs>,
    /// The runs of packets of any flow.
    bursts: Runs,
    /// Losses since the last packet of any flow that was sent.
    burst: u32,
    pub(crate) events: LossEvents,
}

/// The record of a flow.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct FlowLosses {
    /// Its losses since its last packet that was sent.
    run: u32,
    class: u16,
    generation: u16,
    /// The last period in which it had a packet at the queue, and the last event in which it lost one.
    period: u32,
    event: u32,
}

/// The number of runs of each length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Runs {
    /// For 1, 2, ... losses; the last bin includes all longer runs.
    counts: Vec<u64>,
    /// Losses in all of them.
    losses: u64,
}

/// Loss events, and the share of the active flows that each hits.
#[derive(Clone, Debug)]
pub(crate) struct LossEvents {
    /// The duration of an event from its first loss.
    length: Span,
    /// The number and the end of the last event; 0 before the first.
    number: u32,
    end: Time,
    /// The flows that have lost a packet in it, of how many that were active at its last loss.
    losers: u32,
    among: u32,
    /// Events before it since the last reset, and the sum of their shares of losers.
    closed: u64,
    shares: f64,
    active: Active,
}

/// Counts the flows that have had a packet at the queue lately: in this period or in the one before.
#[derive(Clone, Debug)]
struct Active {
    length: Span,
    period: u32,
    end: Time,
    /// Flows in this period; flows in this one, the one before, or both.
    now: u32,
    either: u32,
}

impl Losses {
    pub(crate) fn new(classes: usize, lanes: usize, event: Span) -> Self {
        Self {
            flows: [Vec::new(), Vec::new()],
            arrivals: 0,
            first: 0,
            fates: Fates::new(lanes),
            classes: vec![Runs::new(); classes],
            bursts: Runs::new(),
            burst: 0,
            events: LossEvents::new(event),
        }
    }

    /// An arrival joined the queue.
    #[inline]
    pub(crate) fn on_entry(&mut self) {
        self.arrivals += 1;
    }

    /// An arrival was dropped.
    pub(crate) fn on_refusal(&mut self, now: Time, packet: &Packet) {
        let key = FlowKey::of(packet);
        self.note_loss(now, key);
        self.arrivals += 1;
        self.decide(self.arrivals - 1, Fate::Lost(key));
    }

    /// A packet that waited, arrival number `number`, was dropped.
    pub(crate) fn on_late_drop(&mut self, now: Time, number: u64, packet: &Packet) {
        let key = FlowKey::of(packet);
        self.note_loss(now, key);
        self.decide(number, Fate::Lost(key));
    }

    /// A packet, arrival number `number`, was sent.
    #[inline(always)]
    pub(crate) fn on_departure(&mut self, now: Time, number: u64, packet: &Packet) {
        let key = FlowKey::of(packet);
        let flow = remembered(&mut self.flows, &mut self.classes, key);
        self.events.active.note(now, &mut flow.period);
        // First in, first out: its fate need not wait.
        if number != self.first {
            return self.decide(number, Fate::Sent(key));
        }
        if flow.run | self.burst > 0 {
            end_run(flow, &mut self.classes, &mut self.burst, &mut self.bursts, key);
        }
        self.first += 1;
        if self.fates.pass(self.first) {
            self.settle();
        }
    }

    /// Starts over: earlier drops no longer count.
    pub(crate) fn reset(&mut self) {
        self.fates.forget_losses();
        self.classes.iter_mut().for_each(Runs::reset);
        self.bursts.reset();
        self.burst = 0;
        self.flows.iter_mut().flatten().for_each(|flow| flow.run = 0);
        self.events.reset();
    }

    /// The runs of each class's flows, and those of packets of any flow, as if all of `waiting`, with their numbers,
    /// were sent `now`.
    pub(crate) fn runs<'a>(
        &self,
        now: Time,
        waiting: impl Iterator<Item = (u64, &'a Packet)>,
    ) -> (Vec<Runs>, Runs) {
        let mut all = self.clone();
        waiting.for_each(|(number, packet)| all.on_departure(now, number, packet));
        for flow in all.flows.iter_mut().flatten().filter(|flow| flow.run > 0) {
            all.classes[usize::from(flow.class)].add(&mut flow.run);
        }
        if all.burst > 0 {
            all.bursts.add(&mut all.burst);
        }
        (all.classes, all.bursts)
    }

    /// Notes the fate of an arrival, and counts the fates that are certain.
    fn decide(&mut self, number: u64, fate: Fate) {
        if number < self.first {
            return;
        }
        if self.fates.len() >= MOST_FATES {
            self.first = self.fates.give_up(self.first, number);
            self.settle();
        }
        self.fates.note(self.first, number, fate);
        self.settle();
    }

    /// Counts the fates that are certain, in the order of arrivals.
    fn settle(&mut self) {
        while let Some(fate) = self.fates.take(self.first) {
            self.first += 1;
            match fate {
                Fate::Sent(key) => {
                    let flow = remembered(&mut self.flows, &mut self.classes, key);
                    end_run(flow, &mut self.classes, &mut self.burst, &mut self.bursts, key);
                }
                Fate::Lost(key) => self.lose(key),
                Fate::Forgotten => {}
            }
        }
    }

    /// The next packet, in the order of arrivals, was lost.
    fn lose(&mut self, key: FlowKey) {
        let flow = remembered(&mut self.flows, &mut self.classes, key);
        flow.run += 1;
        flow.class = key.class;
        self.burst += 1;
    }

    fn note_loss(&mut self, now: Time, key: FlowKey) {
        self.events.on_loss(now, remembered(&mut self.flows, &mut self.classes, key));
    }
}

/// The record of a packet's flow; the number of flows is not known beforehand. Where another had
/// its number before, that one's last run is over.
#[inline]
fn remembered<'a>(
    flows: &'a mut [Vec<FlowLosses>; 2],
    classes: &mut [Runs],
    key: FlowKey,
) -> &'a mut FlowLosses {
    let (flows, flow) = (&mut flows[usize::from(key.udp)], key.flow as usize);
    if flow >= flows.len() {
        grow(flows, flow);
    }
    let flow = &mut flows[flow];
    if flow.generation != key.generation {
        renew(flow, classes, key.generation);
    }
    flow
}

/// The next packet, in the order of arrivals, was sent: the runs of its flow and of all flows end.
fn end_run(flow: &mut FlowLosses, classes: &mut [Runs], burst: &mut u32, bursts: &mut Runs, key: FlowKey) {
    if flow.run > 0 {
        classes[usize::from(key.class)].add(&mut flow.run);
    }
    if *burst > 0 {
        bursts.add(burst);
    }
}

#[cold]
fn renew(flow: &mut FlowLosses, classes: &mut [Runs], generation: u16) {
    if flow.run > 0 {
        classes[usize::from(flow.class)].add(&mut flow.run);
    }
    *flow = FlowLosses { generation, ..FlowLosses::default() };
}

#[cold]
fn grow(flows: &mut Vec<FlowLosses>, flow: usize) {
    flows.resize(flow + 1, FlowLosses::default());
}

impl Runs {
    fn new() -> Self {
        Self { counts: vec![0; LONGEST_RUN], losses: 0 }
    }

    fn reset(&mut self) {
        self.counts.fill(0);
        self.losses = 0;
    }

    /// Adds a run that is over.
    fn add(&mut self, run: &mut u32) {
        let length = std::mem::take(run);
        self.counts[(length as usize).min(LONGEST_RUN) - 1] += 1;
        self.losses += u64::from(length);
    }

    /// The sum of these runs.
    pub(crate) fn sum<'a>(of: impl IntoIterator<Item = &'a Self>) -> Self {
        of.into_iter().fold(Self::new(), |mut sum, runs| {
            sum.counts.iter_mut().zip(&runs.counts).for_each(|(sum, count)| *sum += count);
            sum.losses += runs.losses;
            sum
        })
    }

    /// Mean length; `None` if there was no loss.
    pub(crate) fn mean(&self) -> Option<f64> {
        let runs: u64 = self.counts.iter().sum();
        (runs > 0).then(|| self.losses as f64 / runs as f64)
    }

    /// The number of runs of 1, 2, ... losses, up to the longest; the last of [`LONGEST_RUN`] bins is open.
    pub(crate) fn counts(&self) -> &[u64] {
        let bins = self.counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        &self.counts[..bins]
    }
}

impl LossEvents {
    fn new(length: Span) -> Self {
        Self {
            length,
            number: 0,
            end: Time::ZERO,
            losers: 0,
            among: 0,
            closed: 0,
            shares: 0.0,
            active: Active::new(length.max(ACTIVE)),
        }
    }

    fn on_loss(&mut self, now: Time, flow: &mut FlowLosses) {
        if now >= self.end {
            (self.closed, self.shares) = (self.count(), self.sum());
            (self.number, self.end, self.losers) = (self.number + 1, now + self.length, 0);
        }
        self.active.note(now, &mut flow.period);
        self.among = self.active.either;
        if flow.event != self.number {
            flow.event = self.number;
            self.losers += 1;
        }
    }

    /// Forgets the events so far; the next loss begins another.
    fn reset(&mut self) {
        (self.closed, self.shares, self.losers, self.end) = (0, 0.0, 0, Time::ZERO);
    }

    /// The number of events.
    pub(crate) fn count(&self) -> u64 {
        self.closed + u64::from(self.losers > 0)
    }

    fn sum(&self) -> f64 {
        let last = if self.losers > 0 { f64::from(self.losers) / f64::from(self.among) } else { 0.0 };
        self.shares + last
    }

    /// The mean share of the active flows that an event hits; `None` if there was none.
    pub(crate) fn synchronisation(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum() / self.count() as f64)
    }
}

impl Active {
    const fn new(length: Span) -> Self {
        // Flows that never had a packet are in period 0, so that the first real period must not follow it directly.
        Self { length, period: 2, end: Time::from_nanos(length.nanos()), now: 0, either: 0 }
    }

    /// A flow, last seen in `seen`, has a packet at the queue.
    #[inline]
    fn note(&mut self, now: Time, seen: &mut u32) {
        if now >= self.end {
            self.roll(now);
        }
        if *seen != self.period {
            self.either += u32::from(*seen + 1 != self.period);
            self.now += 1;
            *seen = self.period;
        }
    }

    #[cold]
    fn roll(&mut self, now: Time) {
        let periods = 1 + (now - self.end).nanos() / self.length.nanos();
        self.either = if periods == 1 { self.now } else { 0 };
        self.now = 0;
        self.period += periods as u32;
        self.end += self.length * periods;
    }
}

#[cfg(test)]
mod tests;
