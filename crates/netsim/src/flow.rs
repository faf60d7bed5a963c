//! Flows: the endpoints of the traffic, and the streams that their randomness comes from.

use crate::rng::Stream;
use crate::route::Routes;
use crate::tcp::{Profile, Receiver, Sender};
use aqm::unit::{Span, Time};
use aqm::{Bytes, Rate, Uniform};
use rand_distr::{Distribution, Exp};
use scenario::Start;
use scenario::model::{Kind, Traffic};

/// Header bytes of a UDP datagram over IP.
pub(crate) const UDP_HEADER: u32 = 28;

/// What a traffic entry's flows have in common.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) profile: Option<Profile>,
    /// Payload bytes of a finite transfer.
    pub(crate) payload: Option<u64>,
}

/// A TCP flow as the engine sees it: which class, which paths, which timers are pending.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) class: u16,
    pub(crate) forth: u32,
    pub(crate) back: u32,
    /// When the pending events for the sender's deadlines go off, each at or before it ([`Time::MAX`]: none pending).
    pub(crate) timers: [Time; 2],
    /// The same for the receiver's delayed ACK.
    pub(crate) ack_timer: Time,
    pub(crate) start: Time,
    /// When all of a transfer was acknowledged.
    pub(crate) finished: Option<Time>,
    pub(crate) at_warmup: Snapshot,
}

/// A flow's counters at the end of the warm-up.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Snapshot {
    pub(crate) delivered: u64,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

/// A UDP source of constant rate.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) class: u16,
    pub(crate) forth: u32,
    pub(crate) size: u16,
    pub(crate) interval: Span,
    pub(crate) start: Time,
    pub(crate) stop: Time,
    /// Payload bytes that reached the other end, and as many at the end of the warm-up.
    pub(crate) delivered: u64,
    pub(crate) delivered_at_warmup: u64,
}

/// All endpoints.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    pub(crate) classes: Vec<Class>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) sources: Vec<Source>,
    /// When the TCP flows' applications stop, where they do.
    pub(crate) stops: Vec<(Time, u32)>,
}

impl Class {
    /// Payload bytes that `segments` segments in order carry.
    pub(crate) fn payload_of(&self, segments: u32) -> u64 {
        let profile = self.profile.as_ref().expect("only TCP counts segments");
        let full = u64::from(segments) * u64::from(profile.payload());
        self.payload.map_or(full, |payload| full.min(payload))
    }

    /// Segments that the application has to send; the most there are for one without an end.
    pub(crate) fn segments(&self) -> u32 {
        let full = self.profile.as_ref().map_or(1, Profile::payload);
        let needed = |payload: u64| payload.div_ceil(u64::from(full));
        self.payload.map_or(u32::MAX, |payload| u32::try_from(needed(payload)).unwrap_or(u32::MAX))
    }
}

impl Endpoints {
    pub(crate) fn new(traffic: &[Traffic], routes: &mut Routes<'_>, seed: u64) -> Self {
        let mut endpoints = Self::default();
        for (class, entry) in traffic.iter().enumerate() {
            // Start times have a stream of their own: neither the AQM nor other traffic moves them.
            let mut rng = Stream::new(seed, &format!("traffic.{}.start", entry.name));
            let starts = (0..entry.count).map(|_| Time::ZERO + draw(&entry.start, &mut rng));
            endpoints.add(class as u16, entry, starts, routes);
        }
        endpoints
    }

    fn add(
        &mut self,
        class: u16,
        entry: &Traffic,
        starts: impl Iterator<Item = Time>,
        routes: &mut Routes<'_>,
    ) {
        let size = entry.packet_size.0 as u16;
        let (tcp, payload) = match &entry.kind {
            Kind::Ftp(tcp) => (Some(tcp), None),
            Kind::Transfer(tcp, size) => (Some(tcp), Some(size.0)),
            Kind::Cbr(_) => (None, None),
        };
        let common = Class { profile: tcp.map(|tcp| Profile::new(tcp, u32::from(size))), payload };
        for (i, start) in starts.enumerate() {
            let (from, to) = (entry.from[i % entry.from.len()], entry.to[i % entry.to.len()]);
            let forth = routes.path(from, to);
            match (&entry.kind, &common.profile) {
                (Kind::Cbr(rate), _) => {
                    self.add_source(class, forth, entry.packet_size, *rate, start, entry.stop)
                }
                (_, Some(profile)) => {
                    let sender = Sender::new(profile, common.segments());
                    self.add_flow(
                        class,
                        (forth, routes.path(to, from)),
                        sender,
                        profile.first(),
                        start,
                        entry.stop,
                    );
                }
                (_, None) => unreachable!("every other kind is TCP"),
            }
        }
        self.classes.push(common);
    }

    fn add_source(
        &mut self,
        class: u16,
        forth: u32,
        size: Bytes,
        rate: Rate,
        start: Time,
        stop: Option<Span>,
    ) {
        let interval = rate.transmission(size.0 as u32);
        let stop = stop.map_or(Time::MAX, |stop| Time::ZERO + stop);
        let size = size.0 as u16;
        let (delivered, delivered_at_warmup) = (0, 0);
        self.sources.push(Source {
            class,
            forth,
            size,
            interval,
            start,
            stop,
            delivered,
            delivered_at_warmup,
        });
    }

    fn add_flow(
        &mut self,
        class: u16,
        (forth, back): (u32, u32),
        sender: Sender,
        first: u32,
        mut start: Time,
        stop: Option<Span>,
    ) {
        if let Some(stop) = stop {
            // A flow that would start after its stop never starts.
            let stop = Time::ZERO + stop;
            start = if start < stop { start } else { Time::MAX };
            self.stops.push((stop, self.flows.len() as u32));
        }
        self.senders.push(sender);
        self.receivers.push(Receiver::new(first));
        self.flows.push(Flow {
            class,
            forth,
            back,
            timers: [Time::MAX; 2],
            ack_timer: Time::MAX,
            start,
            finished: None,
            at_warmup: Snapshot::default(),
        });
    }

    /// The counters of a flow since the start.
    pub(crate) fn snapshot(&self, flow: usize) -> Snapshot {
        let class = &self.classes[usize::from(self.flows[flow].class)];
        Snapshot {
            delivered: class.payload_of(self.receivers[flow].delivered()),
            retransmits: self.senders[flow].retransmits(),
            timeouts: self.senders[flow].timeouts(),
        }
    }

    /// Remembers the counters of all flows as they are.
    pub(crate) fn note_warmup(&mut self) {
        for flow in 0..self.flows.len() {
            self.flows[flow].at_warmup = self.snapshot(flow);
        }
        for source in &mut self.sources {
            source.delivered_at_warmup = source.delivered;
        }
    }
}

/// A start time.
fn draw(start: &Start, rng: &mut Stream) -> Span {
    match *start {
        Start::At(time) => time,
        Start::Uniform(low, high) => low + Span::from_secs((high.secs() - low.secs()) * rng.uniform()),
        Start::Exponential(mean) if mean == Span::ZERO => mean,
        Start::Exponential(mean) => {
            let rate = Exp::new(1.0 / mean.secs()).expect("a positive mean has a finite rate");
            Span::from_secs(rate.sample(&mut rng.0))
        }
    }
}
