//! Flows: the endpoints of the traffic, and the streams that their randomness comes from.

use crate::arrivals::Arrivals;
use crate::event::{Event, Key, NEVER};
use crate::rng::Stream;
use crate::route::Routes;
use crate::slots::Tenant;
use crate::source::Source;
use crate::tcp::{Profile, Receiver, Sender};
use crate::watch::Watch;
use crate::web::{Client, Site};
use aqm::unit::{Span, Time};
use aqm::{Bytes, Uniform};
use scenario::Distribution;
use scenario::Drawn;
use scenario::model::{Kind, Tcp, Traffic};
use std::ops::{Add, Sub};

/// What the flows of a traffic entry have done together.
#[derive(Default, Debug)]
pub(crate) struct Class {
    /// Flows that started, or requests of web clients.
    pub(crate) started: u64,
    /// From first request to last byte of web sessions.
    pub(crate) sessions: Times,
    /// The counters of the guests that have left (see [`crate::slots`]).
    pub(crate) retired: Snapshot,
    /// The counters of all its guests at the end of the warm-up.
    pub(crate) at_warmup: Snapshot,
}

/// A TCP flow as the engine sees it: which class, which paths, which timers are pending. One cache line, for every
/// segment and every ACK touches it.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Flow {
    /// The retransmission timer's deadline.
    pub(crate) due: Key,
    /// The pending timer event, at or before that ([`NEVER`]: none pending).
    pub(crate) timer: Key,
    /// When the pending event for the sender's pace goes off ([`Time::MAX`]: none pending).
    pub(crate) pace: Time,
    /// The same for the receiver's delayed ACK.
    pub(crate) ack_timer: Time,
    pub(crate) forth: u32,
    pub(crate) back: u32,
    pub(crate) class: u16,
    /// Which of the profiles it has.
    pub(crate) profile: u16,
    /// Tells the connections apart that have this slot one after the other.
    pub(crate) generation: u16,
    /// Whether the application is to be told when data arrives.
    pub(crate) listens: bool,
}

const _: () = assert!(size_of::<Flow>() == 64, "a flow is one cache line");

/// What a flow is for, which is asked when it starts, when data arrives at an application that listens, and when all
/// is through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Application {
    /// To whom the flow belongs.
    pub(crate) tenant: Tenant,
    pub(crate) start: Time,
    /// Payload bytes that were handed over; [`u64::MAX`] without an end, 0 if they are no goodput.
    pub(crate) payload: u64,
    /// Bytes that the last segments of earlier objects lack to be full.
    pub(crate) padding: u64,
}

/// A flow's counters.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot {
    /// Payload bytes that arrived in order.
    pub(crate) delivered: u64,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

/// How long something took, each time that it happened.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Times {
    pub(crate) count: u64,
    nanos: u128,
}

/// All endpoints.
#[derive(Debug, Default)]
pub(crate) struct Endpoints {
    pub(crate) classes: Vec<Class>,
    pub(crate) profiles: Vec<Profile>,
    /// The phases of the ticks of each profile's flows.
    pub(crate) phases: Vec<Stream>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) applications: Vec<Application>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receivers: Vec<Receiver>,
    pub(crate) sources: Vec<Source>,
    /// When the TCP flows' applications stop, where they do.
    pub(crate) stops: Vec<(Time, u32)>,
    /// So many flows keep their slot for the whole run; the slots beyond are for guests.
    pub(crate) residents: usize,
    /// The residents' counters at the end of the warm-up.
    pub(crate) at_warmup: Vec<Snapshot>,
    /// The guests' slots that are free.
    pub(crate) free: Vec<u32>,
    /// The arrivals of each `short` entry.
    pub(crate) arrivals: Vec<Arrivals>,
    /// The `web` entries, and the clients of all.
    pub(crate) sites: Vec<Site>,
    pub(crate) clients: Vec<Client>,
    /// The first arrivals and the first sessions.
    pub(crate) agenda: Vec<(Time, Event)>,
}

impl Flow {
    /// A flow that has done nothing.
    pub(crate) const fn new(class: u16, profile: u16, (forth, back): (u32, u32)) -> Self {
        let (generation, listens) = (0, false);
        let (due, timer, pace, ack_timer) = (NEVER, NEVER, Time::MAX, Time::MAX);
        Self { due, timer, pace, ack_timer, forth, back, class, profile, generation, listens }
    }
}

impl Application {
    /// One that has so many bytes to send from `start` on.
    pub(crate) const fn new(tenant: Tenant, payload: u64, start: Time) -> Self {
        Self { tenant, start, payload, padding: 0 }
    }
}

impl Times {
    /// It happened again.
    pub(crate) fn record(&mut self, time: Span) {
        self.count += 1;
        self.nanos += u128::from(time.nanos());
    }

    /// The mean in s.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.nanos as f64 * 1e-9 / self.count as f64)
    }
}

impl Add for Snapshot {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            delivered: self.delivered + other.delivered,
            retransmits: self.retransmits + other.retransmits,
            timeouts: self.timeouts + other.timeouts,
        }
    }
}

impl Sub for Snapshot {
    type Output = Self;
    fn sub(self, then: Self) -> Self {
        Self {
            delivered: self.delivered - then.delivered,
            retransmits: self.retransmits - then.retransmits,
            timeouts: self.timeouts - then.timeouts,
        }
    }
}

impl Endpoints {
    /// The endpoints of all traffic in a run with this seed until `end`; `None` if told to stop.
    pub(crate) fn new(
        traffic: &[Traffic],
        routes: &mut Routes<'_>,
        (seed, end): (u64, Time),
        watch: &mut Watch,
    ) -> Option<Self> {
        let mut endpoints = Self::default();
        for (class, entry) in traffic.iter().enumerate() {
            // Start times have a stream of their own: neither the AQM nor other traffic moves them.
            let mut rng = Stream::new(seed, &format!("traffic.{}.start", entry.name));
            let starts = (0..entry.count).map(|_| Time::ZERO + entry.begin + draw(&entry.start, &mut rng));
            endpoints.add(class as u16, entry, starts, routes, (seed, end), watch)?;
            endpoints.classes.push(Class::default());
        }
        endpoints.residents = endpoints.flows.len();
        endpoints.at_warmup = vec![Snapshot::default(); endpoints.residents];
        Some(endpoints)
    }

    fn add(
        &mut self,
        class: u16,
        entry: &Traffic,
        starts: impl Iterator<Item = Time>,
        routes: &mut Routes<'_>,
        (seed, end): (u64, Time),
        watch: &mut Watch,
    ) -> Option<()> {
        let mut paths = |i: usize| {
            let (from, to) = (entry.from[i % entry.from.len()], entry.to[i % entry.to.len()]);
            (routes.path(from, to), routes.path(to, from))
        };
        // A stream of its own, as for the start times: whether it is drawn from moves nothing else.
        let phases = |what: &str| Stream::new(seed, &format!("traffic.{}.{what}", entry.name));
        match &entry.kind {
            Kind::Ftp(tcp) => {
                self.reserve(entry.count as usize);
                let profile = self.add_profile(tcp, entry.packet_size, phases("tick"));
                for (i, start) in starts.enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let application = Application::new(Tenant::Resident, u64::MAX, start);
                    self.add_flow(Flow::new(class, profile, paths(i)), application, entry.stop);
                }
            }
            Kind::Transfer(tcp, size) => {
                self.reserve(entry.count as usize);
                let profile = self.add_profile(tcp, entry.packet_size, phases("tick"));
                let mut sizes = Stream::new(seed, &format!("traffic.{}.sizes", entry.name));
                for (i, start) in starts.enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let payload = draw_payload(size, &mut sizes);
                    let application = Application::new(Tenant::Transfer, payload, start);
                    self.add_flow(Flow::new(class, profile, paths(i)), application, entry.stop);
                }
            }
            Kind::Short(tcp, short) => {
                let profile = self.add_profile(tcp, entry.packet_size, phases("tick"));
                let index = self.arrivals.len() as u32;
                let mut arrivals = Arrivals::new(class, profile, entry, short, seed, paths);
                let firsts = starts.map(|start| (arrivals.after(start), Event::Short(index)));
                self.agenda.extend(firsts);
                self.arrivals.push(arrivals);
            }
            Kind::Web(tcp, web) => {
                let requests = self.add_profile(tcp, web.request, phases("tick"));
                // The client's SYN opens both ways.
                let server = Tcp { handshake: false, ..tcp.clone() };
                let objects = self.add_profile(&server, entry.packet_size, phases("tick.server"));
                let site = Site::new(class, requests, objects, entry, web);
                for (i, start) in starts.enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let rng = Stream::new(seed, &format!("traffic.{}.client.{}", entry.name, i + 1));
                    let mut client = Client::new(self.sites.len() as u16, paths(i), rng);
                    let first = start + client.think(&site);
                    self.agenda.push((first, Event::Session(self.clients.len() as u32)));
                    self.clients.push(client);
                }
                self.sites.push(site);
            }
            Kind::Udp(udp, ecn) => {
                for (i, start) in starts.enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let rng = Stream::new(seed, &format!("traffic.{}.{i}", entry.name));
                    let path = paths(i).0;
                    let source = Source::new((class, path), entry, (udp, *ecn), (start, end), rng, watch)?;
                    self.sources.push(source);
                }
            }
        }
        Some(())
    }

    pub(crate) fn add_profile(&mut self, tcp: &Tcp, size: Bytes, phases: Stream) -> u16 {
        self.profiles.push(Profile::new(tcp, size.0 as u32));
        self.phases.push(phases);
        (self.profiles.len() - 1) as u16
    }

    /// A sender with this profile that has so many payload bytes to send.
    pub(crate) fn sender(&mut self, profile: u16, payload: u64) -> Sender {
        let i = usize::from(profile);
        let profile = &self.profiles[i];
        let part = if profile.tick_phase { self.phases[i].uniform() } else { 0.0 };
        Sender::new(profile, profile.segments(payload), Span::from_secs(profile.tick.secs() * part))
    }

    /// Makes room for so many flows, and for no more: there may be very many.
    fn reserve(&mut self, flows: usize) {
        self.flows.reserve_exact(flows);
        self.applications.reserve_exact(flows);
        self.senders.reserve_exact(flows);
        self.receivers.reserve_exact(flows);
    }

    fn add_flow(&mut self, flow: Flow, mut application: Application, stop: Option<Span>) {
        if let Some(stop) = stop {
            // A flow that would start after its stop never starts.
            let (stop, start) = (Time::ZERO + stop, application.start);
            application.start = if start < stop { start } else { Time::MAX };
            self.stops.push((stop, self.flows.len() as u32));
        }
        self.push(flow, application);
    }

    /// Adds a flow and its ends.
    pub(crate) fn push(&mut self, flow: Flow, application: Application) {
        let sender = self.sender(flow.profile, application.payload);
        self.senders.push(sender);
        self.receivers.push(Receiver::new(&self.profiles[usize::from(flow.profile)]));
        self.flows.push(Flow { listens: application.tenant.listens(), ..flow });
        self.applications.push(application);
    }

    /// Gives a slot to another tenant.
    pub(crate) fn assign(&mut self, slot: usize, tenant: Tenant) {
        self.applications[slot].tenant = tenant;
        self.flows[slot].listens = tenant.listens();
    }

    /// The counters of a flow since the start.
    pub(crate) fn snapshot(&self, index: usize) -> Snapshot {
        let (flow, application) = (&self.flows[index], &self.applications[index]);
        let full = u64::from(self.profiles[usize::from(flow.profile)].payload());
        let delivered = u64::from(self.receivers[index].delivered()) * full;
        Snapshot {
            delivered: delivered.saturating_sub(application.padding).min(application.payload),
            retransmits: self.senders[index].retransmits(),
            timeouts: self.senders[index].timeouts(),
        }
    }

    /// Remembers what a flow has delivered so far, before the end of the warm-up.
    pub(crate) fn note_delivered(&mut self, flow: usize) {
        self.at_warmup[flow].delivered = self.snapshot(flow).delivered;
    }

    /// Remembers the counters of all flows at the end of the warm-up. Where packets are delivered before their time,
    /// what had been delivered by now has been noted.
    pub(crate) fn note_warmup(&mut self, ends_early: impl Fn(u32) -> bool) {
        for flow in 0..self.residents {
            let noted = self.at_warmup[flow].delivered;
            self.at_warmup[flow] = self.snapshot(flow);
            if ends_early(self.flows[flow].forth) {
                self.at_warmup[flow].delivered = noted;
            }
        }
        for class in 0..self.classes.len() {
            self.classes[class].at_warmup = self.guests(class as u16);
        }
        for source in self.sources.iter_mut().filter(|source| !ends_early(source.forth)) {
            source.delivered_at_warmup = source.delivered;
        }
    }
}

/// Payload bytes drawn from their law, at least one.
pub(crate) fn draw_payload(law: &Distribution<Bytes>, rng: &mut Stream) -> u64 {
    draw(law, rng).0.max(1)
}

/// A quantity drawn from its law.
pub(crate) fn draw<T: Drawn>(law: &Distribution<T>, rng: &mut Stream) -> T {
    match *law {
        Distribution::Fixed(x) => x,
        Distribution::Uniform(low, high) => {
            let (low, high) = (low.magnitude(), high.magnitude());
            T::of_magnitude(low + (high - low) * rng.uniform())
        }
        // By inversion, with functions that are the same on every machine.
        Distribution::Exponential(mean) => {
            T::of_magnitude(-mean.magnitude() * libm::log(1.0 - rng.uniform()))
        }
        Distribution::Pareto(mean, shape) => {
            let least = mean.magnitude() * (shape - 1.0) / shape;
            T::of_magnitude(least * libm::pow(1.0 - rng.uniform(), -1.0 / shape))
        }
    }
}
