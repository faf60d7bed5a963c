//! Flows: the endpoints of the traffic, and the streams that their randomness comes from.

use crate::rng::Stream;
use crate::route::Routes;
use crate::source::Source;
use crate::tcp::{Profile, Receiver, Sender};
use aqm::Uniform;
use aqm::unit::{Span, Time};
use scenario::Law;
use scenario::law::Drawn;
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
    /// When the pending timer event goes off, at or before the sender's deadline ([`Time::MAX`]: none pending).
    pub(crate) timer: Time,
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
    pub(crate) fn new(traffic: &[Traffic], routes: &mut Routes<'_>, seed: u64, end: Time) -> Self {
        let mut endpoints = Self::default();
        for (class, entry) in traffic.iter().enumerate() {
            // Start times have a stream of their own: neither the AQM nor other traffic moves them.
            let mut rng = Stream::new(seed, &format!("traffic.{}.start", entry.name));
            let starts = (0..entry.count).map(|_| Time::ZERO + entry.begin + draw(&entry.start, &mut rng));
            endpoints.add(class as u16, entry, starts, routes, (seed, end));
        }
        endpoints
    }

    fn add(
        &mut self,
        class: u16,
        entry: &Traffic,
        starts: impl Iterator<Item = Time>,
        routes: &mut Routes<'_>,
        (seed, end): (u64, Time),
    ) {
        let size = entry.packet_size.0 as u16;
        let (tcp, payload) = match &entry.kind {
            Kind::Ftp(tcp) => (Some(tcp), None),
            Kind::Transfer(tcp, size) => (Some(tcp), Some(size.least().0)),
            Kind::Short(tcp, _) | Kind::Web(tcp, _) => (Some(tcp), None),
            Kind::Udp(_) => (None, None),
        };
        let common = Class { profile: tcp.map(|tcp| Profile::new(tcp, u32::from(size))), payload };
        for (i, start) in starts.enumerate() {
            let (from, to) = (entry.from[i % entry.from.len()], entry.to[i % entry.to.len()]);
            let forth = routes.path(from, to);
            match (&entry.kind, &common.profile) {
                (Kind::Udp(udp), _) => {
                    let rng = Stream::new(seed, &format!("traffic.{}.{i}", entry.name));
                    self.sources.push(Source::new((class, forth), entry, udp, start, end, rng));
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
            timer: Time::MAX,
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

/// A quantity drawn from its law.
pub(crate) fn draw<T: Drawn>(law: &Law<T>, rng: &mut Stream) -> T {
    match *law {
        Law::Fixed(x) => x,
        Law::Uniform(low, high) => {
            let (low, high) = (low.magnitude(), high.magnitude());
            T::of_magnitude(low + (high - low) * rng.uniform())
        }
        // By inversion, with functions that are the same on every machine.
        Law::Exponential(mean) => T::of_magnitude(-mean.magnitude() * libm::log(1.0 - rng.uniform())),
        Law::Pareto(mean, shape) => {
            let least = mean.magnitude() * (shape - 1.0) / shape;
            T::of_magnitude(least * libm::pow(1.0 - rng.uniform(), -1.0 / shape))
        }
    }
}
