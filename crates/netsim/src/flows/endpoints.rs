//! The endpoints of all traffic in a run, and the streams that their randomness comes from.

use crate::engine::event::Event;
use crate::engine::rng::Stream;
use crate::flows::flow::{Added, Application, Class, Flow, Role, Snapshot};
use crate::flows::short::Shorts;
use crate::flows::web::{Client, Site};
use crate::network::route::{Paths, Routes};
use crate::packet::{Packet, PacketKind};
use crate::tcp::{Receiver, Segment, Sender};
use crate::traffic::pages::readers;
use crate::traffic::plan::{Bulk, bulk, starts};
use crate::traffic::short::Arrivals;
use crate::traffic::source::{Setting, Source};
use aqm::Bytes;
use aqm::Uniform as _;
use aqm::unit::{Span, Time};
use prefetch_index::prefetch_index;
use run::Watch;
use scenario::model::{self, Flavour, Profile, Tcp, Traffic};

/// The part of a run's parameters that the endpoints need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunParameters {
    pub(crate) seed: u64,
    pub(crate) end: Time,
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
    /// The number of persistent flows at the start; the slots beyond theirs are for transient flows and those added.
    pub(crate) persistent: usize,
    /// The counters at the end of the warm-up of the persistent flows of the start.
    pub(crate) at_warmup: Vec<Snapshot>,
    /// The persistent flows that were added.
    pub(crate) added: Vec<Added>,
    /// The free slots of transient flows.
    pub(crate) free: Vec<u32>,
    /// The `short` entries.
    pub(crate) shorts: Vec<Shorts>,
    /// The `web` entries, and the clients of all.
    pub(crate) sites: Vec<Site>,
    pub(crate) clients: Vec<Client>,
    /// The first arrivals and the first sessions.
    pub(crate) agenda: Vec<(Time, Event)>,
}

/// Whether a connection may have to do without the ECN that it asks for, as in Linux, where only the first SYN asks.
fn falls_back(tcp: &Tcp) -> bool {
    tcp.ecn && tcp.flavour == Flavour::Rack
}

impl Endpoints {
    /// The endpoints of all traffic in a run; `None` if the watch stops the set-up.
    pub(crate) fn new(
        traffic: &[Traffic],
        routes: &mut Routes<'_>,
        run: RunParameters,
        watch: &mut Watch,
    ) -> Option<Self> {
        let mut endpoints = Self::default();
        for (class, entry) in traffic.iter().enumerate() {
            let profile = endpoints.profiles.len() as u16;
            endpoints.classes.push(Class { profile, ..Class::default() });
            endpoints.add(class as u16, entry, routes, run, watch)?;
        }
        endpoints.persistent = endpoints.flows.len();
        endpoints.at_warmup = vec![Snapshot::default(); endpoints.persistent];
        Some(endpoints)
    }

    /// Loads the end of TCP that a packet will reach into the cache.
    #[inline]
    pub(crate) fn fetch(&self, packet: &Packet) {
        let flow = packet.flow as usize;
        match packet.kind {
            PacketKind::Data => prefetch_index(&self.receivers, flow),
            PacketKind::Ack => {
                // A sender takes three cache lines: its first, and the one where the next sender begins.
                prefetch_index(&self.senders, flow);
                prefetch_index(&self.senders, flow + 1);
            }
            PacketKind::Datagram | PacketKind::Reply | PacketKind::Report => return,
        }
        prefetch_index(&self.flows, flow);
    }

    fn add(
        &mut self,
        class: u16,
        entry: &Traffic,
        routes: &mut Routes<'_>,
        RunParameters { seed, end }: RunParameters,
        watch: &mut Watch,
    ) -> Option<()> {
        let mut paths = |i: usize| Paths::of(entry, i, |from, to| routes.path(from, to));
        // A stream of its own, as for the start times, so that nothing else depends on whether it is drawn from.
        let phases = |what: &str| Stream::new(seed, &format!("traffic.{}.{what}", entry.name));
        match &entry.kind {
            model::TrafficKind::Ftp(tcp) => {
                self.reserve(entry.count as usize);
                let profile = self.add_profile(tcp, entry.packet_size, phases("tick"));
                for (i, Bulk { start, payload }) in bulk(entry, None, seed).enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let application = Application::new(Role::Persistent, payload, start);
                    self.add_flow(Flow::new(class, profile, paths(i)), application, entry.stop);
                }
            }
            model::TrafficKind::Transfer(tcp, transfer) => {
                self.reserve(entry.count as usize);
                // The SYN of a receiver that asks opens both directions.
                let own = Tcp { handshake: tcp.handshake && transfer.request.is_none(), ..tcp.clone() };
                let profile = self.add_profile(&own, entry.packet_size, phases("tick"));
                self.classes[usize::from(class)].requests =
                    transfer.request.map(|size| self.add_profile(tcp, size, phases("tick.request")));
                for (i, Bulk { start, payload }) in bulk(entry, Some(&transfer.size), seed).enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let application = Application::new(Role::Transfer, payload, start);
                    self.add_flow(Flow::new(class, profile, paths(i)), application, entry.stop);
                }
            }
            model::TrafficKind::Short(tcp, short) => {
                let profile = self.add_profile(tcp, entry.packet_size, phases("tick"));
                let index = self.shorts.len() as u32;
                let mut arrivals = Arrivals::new(entry, short, seed);
                let mut begun_by = Time::ZERO;
                let firsts = starts(entry, seed).map(|start| {
                    begun_by = begun_by.max(start);
                    (arrivals.after(start), Event::Short(index))
                });
                self.agenda.extend(firsts);
                self.shorts.push(Shorts::new(class, profile, entry, arrivals, begun_by, paths));
            }
            model::TrafficKind::Web(tcp, web) => {
                let requests = self.add_profile(tcp, web.request, phases("tick"));
                // The client's SYN opens both directions.
                let server = Tcp { handshake: false, ..tcp.clone() };
                let objects = self.add_profile(&server, entry.packet_size, phases("tick.server"));
                let site = self.sites.len() as u16;
                for (i, (first, reader)) in readers(entry, web, seed).enumerate() {
                    watch.goes_on(1).then_some(())?;
                    self.agenda.push((first, Event::Session(self.clients.len() as u32)));
                    self.clients.push(Client::new(site, i as u32, paths(i), reader));
                }
                self.sites.push(Site::new(class, requests, objects, entry, web));
            }
            // Its packets come from outside.
            model::TrafficKind::Program(_) => {
                for i in 0..entry.pairs().min(entry.count as usize) {
                    paths(i);
                }
            }
            model::TrafficKind::Udp(udp, ecn) => {
                for (i, start) in starts(entry, seed).enumerate() {
                    watch.goes_on(1).then_some(())?;
                    let Paths { forward, reverse } = paths(i);
                    let setting = Setting { class, forward, reverse, ecn: *ecn, start, end };
                    self.sources.push(Source::new(setting, entry, udp, i, seed, watch)?);
                }
            }
        }
        Some(())
    }

    /// Adds a profile, and behind one with ECN its fallback: the same without (see [`Endpoints::agree`]).
    pub(crate) fn add_profile(&mut self, tcp: &Tcp, size: Bytes, phases: Stream) -> u16 {
        let index = self.profiles.len() as u16;
        self.profiles.push(Profile::new(tcp, size.0 as u32));
        if falls_back(tcp) {
            self.profiles.push(Profile::new(&Tcp { ecn: false, ..tcp.clone() }, size.0 as u32));
        }
        self.phases.resize(self.profiles.len(), phases);
        index
    }

    /// A SYN has arrived: if it is the first of its connection and does not ask for ECN, there is none.
    #[cold]
    pub(crate) fn agree(&mut self, index: u32, syn: &Segment) {
        let i = index as usize;
        let fresh = matches!(&self.receivers[i], Receiver::Rack(receiver) if receiver.is_new());
        if !fresh || syn.cwr || !falls_back(&self.profiles[usize::from(self.flows[i].profile)].tcp) {
            return;
        }
        self.flows[i].profile += 1;
        match self.applications[i].role {
            Role::Requests { client, connection } => {
                let answers = self.clients[client as usize].connections[usize::from(connection)].objects;
                self.flows[answers as usize].profile += 1;
            }
            // In a live run it may be asked for twice.
            Role::Request(transfer) => {
                let class = self.flows[i].class;
                self.flows[transfer as usize].profile = self.classes[usize::from(class)].profile + 1;
            }
            _ => {}
        }
    }

    /// A sender with this profile that has `payload` bytes to send.
    pub(crate) fn sender(&mut self, profile: u16, payload: u64) -> Sender {
        let i = usize::from(profile);
        let profile = &self.profiles[i];
        let part = if profile.tcp.tick_phase { self.phases[i].uniform() } else { 0.0 };
        Sender::new(profile, profile.segments(payload), Span::from_secs(profile.tcp.tick.secs() * part))
    }

    /// Makes room for exactly `flows` flows: there may be very many.
    fn reserve(&mut self, flows: usize) {
        self.flows.reserve_exact(flows);
        self.applications.reserve_exact(flows);
        self.senders.reserve_exact(flows);
        self.receivers.reserve_exact(flows);
    }

    fn add_flow(&mut self, flow: Flow, application: Application, stop: Option<Span>) {
        if let Some(stop) = stop {
            self.stops.push((Time::ZERO + stop, self.flows.len() as u32));
        }
        self.push(flow, application);
    }

    /// Adds a flow and its ends.
    pub(crate) fn push(&mut self, flow: Flow, application: Application) {
        let sender = self.sender(flow.profile, application.payload);
        self.senders.push(sender);
        self.receivers.push(Receiver::new(&self.profiles[usize::from(flow.profile)]));
        self.flows.push(Flow { listens: application.role.listens(), ..flow });
        self.applications.push(application);
    }

    /// Changes the role of a slot.
    pub(crate) fn assign(&mut self, slot: usize, role: Role) {
        self.applications[slot].role = role;
        self.flows[slot].listens = role.listens();
    }

    /// The counters of a flow since the start.
    pub(crate) fn snapshot(&self, index: usize) -> Snapshot {
        let (flow, application) = (&self.flows[index], &self.applications[index]);
        let full = u64::from(self.profiles[usize::from(flow.profile)].payload());
        let delivered = u64::from(self.receivers[index].arrived()) * full;
        Snapshot {
            delivered: delivered.saturating_sub(application.padding).min(application.payload),
            retransmits: self.senders[index].retransmits(),
            timeouts: self.senders[index].timeouts(),
        }
    }

    /// The persistent flows: the slot of each, its number in its entry if it was added, and its counters at the end of the
    /// warm-up.
    pub(crate) fn lasting(&self) -> impl Iterator<Item = (usize, Option<u32>, Snapshot)> {
        let first = self.at_warmup.iter().enumerate().map(|(slot, &at_warmup)| (slot, None, at_warmup));
        let added = self.added.iter().map(|flow| (flow.slot as usize, Some(flow.number), flow.at_warmup));
        first.chain(added)
    }

    /// Remembers what a flow has delivered so far, before the end of the warm-up.
    pub(crate) fn note_delivered(&mut self, flow: usize) {
        self.at_warmup[flow].delivered = self.snapshot(flow).delivered;
    }

    /// Remembers the counters of all flows at the end of the warm-up. Where packets are delivered before their time,
    /// what had been delivered by now has been noted.
    pub(crate) fn note_warmup(&mut self, ends_early: impl Fn(u32) -> bool) {
        for flow in 0..self.persistent {
            let noted = self.at_warmup[flow].delivered;
            self.at_warmup[flow] = self.snapshot(flow);
            if ends_early(self.flows[flow].forward) {
                self.at_warmup[flow].delivered = noted;
            }
        }
        for i in 0..self.added.len() {
            self.added[i].at_warmup = self.snapshot(self.added[i].slot as usize);
        }
        for class in 0..self.classes.len() {
            self.classes[class].at_warmup = self.transient(class as u16);
        }
        for source in self.sources.iter_mut().filter(|source| !ends_early(source.forward)) {
            source.delivered_at_warmup = source.delivered;
        }
        for source in &mut self.sources {
            source.note_warmup();
        }
    }
}
