//! The queue of a link with an AQM: the packets that wait, the state of the transmitter, and the statistics.

use crate::engine::event::NO_SLOT;
use crate::engine::rng::Stream;
use crate::measure::delays::Delays;
use crate::measure::loss_runs::Losses;
use crate::measure::occupancy::Occupancy;
use crate::measure::probe::Owner;
use crate::measure::settling::QueueSettling;
use crate::network::access::{Access, Tally};
use crate::network::ahead::Due;
use crate::network::bearer::Bearer;
use crate::network::link::Transmitter;
use crate::network::modem::Modem;
use crate::network::radio::Radio;
use crate::network::station::Station;
use crate::packet::Packet;
use aqm::queue::Counts;
use aqm::unit::{Rate, Span, Time};
use aqm::{Bytes, Queue, Reading};
use scenario::Scenario;
use scenario::model;
use std::collections::BTreeMap;

/// A link's queue with an AQM, the state of its transmitter, and its statistics.
#[derive(Debug)]
pub(crate) struct AqmQueue {
    pub(crate) queue: Queue<Packet>,
    /// If another queue, outside, decides in place of this one: the packets that wait to be handed over to it, by their
    /// numbers, and when they came. This one keeps account of them.
    pub(crate) outside: Option<Vec<(u32, Time, bool)>>,
    /// If the link shares its medium with others: its end of it, which has the frames that are busy.
    pub(crate) access: Option<Box<Access>>,
    pub(crate) rng: Stream,
    pub(crate) busy: bool,
    /// The start and the end of the transmission of the last packet.
    began: Time,
    pub(crate) sent: Time,
    /// The next work, if the link works ahead.
    pub(crate) ahead: Option<Due>,
    /// The owner of that packet, and its bytes on the link.
    pub(crate) sending: Owner,
    pub(crate) sending_bytes: u32,
    /// Bits of the packet in transmission at the end of the warm-up that were still to be sent, and its owner.
    pub(crate) unsent_at_warmup: (f64, Owner),
    idle: Idle,
    /// Its number among the links with an AQM, and the number of its transmitter's slot.
    pub(crate) number: usize,
    pub(crate) ready_slot: usize,
    pub(crate) period_slot: usize,
    /// The counters at the end of the warm-up.
    pub(crate) at_warmup: Vec<Counts>,
    /// The counts of its algorithm itself then, in order.
    pub(crate) own_at_warmup: Vec<u64>,
    /// Size of the usual packet, which decides whether there is room for another.
    pub(crate) packet: Bytes,
    pub(crate) occupancy: Occupancy,
    pub(crate) settling: QueueSettling,
    /// One row per class.
    pub(crate) delays: Vec<Delays>,
    pub(crate) losses: Losses,
    /// Whether the lanes are not those of the start, so that their counters do not cover the run.
    pub(crate) lanes_are_new: bool,
    /// One for each queue that has a name; none if its queues have no names.
    pub(crate) meters: Vec<Meter>,
}

/// The bits that the link could have sent while it was idle. Together with the bits sent they are the link's capacity, so
/// a packet that keeps its rate when the link's rate changes leaves no room for others meanwhile.
#[derive(Clone, Copy, Default, Debug)]
struct Idle {
    /// The start of the present idle time, if the link is idle.
    since: Time,
    /// Idle nanoseconds at the present rate before it.
    ns: u64,
    /// Bits that it could have sent while idle at earlier rates.
    bits: f64,
}

/// The statistics of one of the queues that share a buffer.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) occupancy: Occupancy,
    pub(crate) delays: Delays,
    /// Its counters at the end of the warm-up.
    pub(crate) at_warmup: Counts,
}

impl AqmQueue {
    pub(crate) fn new(
        link: &model::Link,
        aqm: &aqm::AnyParams,
        scenario: &Scenario,
        seed: u64,
        number: usize,
        delay: Span,
        observed: bool,
    ) -> Self {
        let port = link.port(delay);
        let services: Vec<u8> = scenario.traffic.iter().map(|traffic| traffic.class).collect();
        let classes = services.len();
        let target = scenario.target().filter(|_| observed);
        let queue = Queue::new(aqm.build(&port), &port, &services);
        let lanes = queue.algorithm().lanes();
        let access = access(link, scenario, seed, Tally::new(classes, lanes)).map(Box::new);
        Self {
            queue,
            outside: None,
            access,
            ahead: None,
            rng: Stream::new(seed, &format!("link.{}.aqm", link.name)),
            busy: false,
            began: Time::ZERO,
            sent: Time::ZERO,
            sending: Owner::default(),
            sending_bytes: 0,
            unsent_at_warmup: (0.0, Owner::default()),
            idle: Idle::default(),
            number,
            ready_slot: NO_SLOT,
            period_slot: NO_SLOT,
            at_warmup: vec![Counts::default(); classes],
            own_at_warmup: Vec::new(),
            packet: link.packet,
            occupancy: Occupancy::new(Some(link.buffer)),
            settling: QueueSettling::new(target, &scenario.response),
            delays: (0..classes).map(|_| Delays::new()).collect(),
            losses: Losses::new(classes, lanes, scenario.record.loss_event),
            lanes_are_new: false,
            meters: link.lanes().iter().map(|_| Meter::new()).collect(),
        }
    }

    /// The statistics of the lanes start again, because the algorithm has other lanes now.
    pub(super) fn restart_lanes(&mut self, now: Time, link: &model::Link) {
        self.lanes_are_new = true;
        self.meters = link.lanes().iter().map(|_| Meter::new()).collect();
        self.note_lanes(now);
        self.meters.iter_mut().for_each(|meter| meter.occupancy.reset(now));
    }

    /// Notes that the queue's length has changed.
    #[inline(always)]
    pub(crate) fn note_length(&mut self, now: Time) {
        let (queue, usual) = (&self.queue, self.packet.0 as u32);
        self.settling.roll(now, &self.occupancy);
        self.occupancy.change(now, queue.len(), || queue.backlog(usual).full);
        if !self.meters.is_empty() {
            self.note_lanes(now);
        }
    }

    #[inline(never)]
    fn note_lanes(&mut self, now: Time) {
        for (meter, lane) in self.meters.iter_mut().zip(self.queue.lanes()) {
            meter.occupancy.change(now, lane.packets as usize, || false);
        }
    }

    /// A packet has come to an idle link.
    #[inline]
    pub(crate) fn end_idleness(&mut self, now: Time) {
        self.busy = true;
        self.idle.ns += (now - self.idle.since).nanos();
    }

    /// Whether packets wait, on a medium that takes them later than at once.
    pub(crate) fn note_waiting(&mut self, now: Time, waits: bool) {
        if waits && !self.busy {
            self.end_idleness(now);
        }
        self.sent = if waits { Time::MAX } else { now };
    }

    /// There is no packet to send.
    #[inline]
    pub(crate) fn begin_idleness(&mut self, now: Time) {
        self.busy = false;
        self.idle.since = now;
    }

    /// The transmission of a packet with `bytes` on the link begins.
    #[inline]
    pub(crate) fn note_sending(&mut self, now: Time, owner: Owner, bytes: u32) {
        (self.began, self.sending, self.sending_bytes) = (now, owner, bytes);
    }

    /// Until `now` the link's rate was `rate`.
    pub(super) fn note_rate(&mut self, now: Time, rate: Rate) {
        self.idle = Idle { since: now, ns: 0, bits: self.idle_bits(now, rate) };
    }

    /// Bits that the link, with the rate `rate`, could have sent in this window while it had nothing to send.
    pub(crate) fn idle_bits(&self, now: Time, rate: Rate) -> f64 {
        let Idle { since, ns, bits } = self.idle;
        let waiting = if self.busy { 0 } else { now.since(since).nanos() };
        bits + Span::ns(ns + waiting).secs() * rate.bits()
    }

    /// Bits of the packet in transmission that `wire` is still to send at `now`; 0 without a packet, and all while it is not
    /// known when it is sent.
    pub(crate) fn unsent(&self, now: Time, transmitter: &Transmitter) -> f64 {
        let part = match self.sent {
            sent if sent <= now => return 0.0,
            Time::MAX => 1.0,
            sent => transmitter.work(now, sent) / transmitter.work(self.began, sent),
        };
        part * 8.0 * f64::from(self.sending_bytes)
    }

    /// Whether packets that leave the queue are sent later, or not at all.
    pub(crate) fn holds(&self) -> bool {
        self.tally().is_some()
    }

    /// The counts of its packets that were sent and given up, if its medium holds them.
    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.access.as_ref().and_then(|access| access.tally())
    }

    pub(crate) fn tally_mut(&mut self) -> Option<&mut Tally> {
        self.access.as_mut().and_then(|access| access.tally_mut())
    }

    /// The counts of all its packets. On a medium that links share their bytes depart when they are sent.
    pub(crate) fn counts(&self) -> Counts {
        let mut all = self.queue.counts().iter().fold(Counts::default(), |sum, counts| sum.plus(counts));
        all.departed_bytes -= self.access.as_ref().map_or(0, |access| access.unsent());
        all
    }

    /// Starts the statistics of the queue in front of `wire` at `now`.
    pub(crate) fn end_warmup(&mut self, now: Time, transmitter: &Transmitter) {
        self.note_length(now);
        self.occupancy.reset(now);
        self.unsent_at_warmup = (self.unsent(now, transmitter), self.sending);
        self.idle = Idle { since: now.max(self.sent), ..Idle::default() };
        self.queue.begin_window();
        self.at_warmup.copy_from_slice(self.queue.counts());
        self.own_at_warmup.clear();
        self.queue.algorithm().counters(&mut |_, reading| {
            if let Reading::Count(count) = reading {
                self.own_at_warmup.push(count);
            }
        });
        self.delays.iter_mut().for_each(Delays::reset);
        self.losses.reset();
        self.access.iter_mut().for_each(|access| access.end_warmup());
        for (meter, counts) in self.meters.iter_mut().zip(self.queue.lane_counts()) {
            meter.occupancy.reset(now);
            meter.delays.reset();
            meter.at_warmup = *counts;
        }
    }

    /// The numbers that its algorithm itself shows: counts since the warm-up, levels as they are.
    pub(crate) fn own(&self) -> BTreeMap<String, f64> {
        let (mut own, mut earlier) = (BTreeMap::new(), self.own_at_warmup.iter());
        self.queue.algorithm().counters(&mut |name, reading| {
            let value = match reading {
                Reading::Count(count) => count.saturating_sub(earlier.next().copied().unwrap_or(0)) as f64,
                Reading::Level(level) => level,
            };
            own.insert(name.to_owned(), value);
        });
        own
    }
}

/// A link's end of a medium that it shares, if it does.
fn access(link: &model::Link, scenario: &Scenario, seed: u64, tally: Tally) -> Option<Access> {
    let stream = |what: &str| Stream::new(seed, &format!("link.{}.{what}", link.name));
    if let Some(distance) = link.half_duplex {
        return Some(Access::Ethernet(Station::new(stream("backoff"), link.rate, distance, tally)));
    }
    if let Some(place) = link.cell {
        let streams = [stream("quality"), stream("errors")];
        return Some(Access::Cell(Bearer::new(&scenario.cells[place.cell], place, streams, tally)));
    }
    if let Some(place) = link.modem() {
        return Some(Access::Modem(Modem::new(place, stream("requests"), tally)));
    }
    let model::Air { lan, part } = link.wifi?;
    let wifi = &scenario.wifis[lan];
    let radio = |station: usize, is_down| {
        let limits = (wifi.access.retries, wifi.access.block_ack);
        Radio::new((lan, station, is_down), wifi.stations[station].clone(), stream("errors"), limits, tally)
    };
    Some(match part {
        model::Part::Front => Access::Driver(lan),
        model::Part::Down(station) => Access::Wifi(radio(station, true)),
        model::Part::Up(station) => Access::Wifi(radio(station, false)),
    })
}

impl Meter {
    fn new() -> Self {
        Self { occupancy: Occupancy::new(None), delays: Delays::new(), at_warmup: Counts::default() }
    }
}
