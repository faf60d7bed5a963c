//! The router: packets from the hosts into the emulated network, and from there to their hosts.

use crate::clock::{Clock, Day, Poll, Timer};
use crate::hosts::{Hosts, Way, asks, class_of};
use crate::losses::Loss;
use crate::namespace::Namespace;
use crate::pcapng::Pcapng;
use crate::qdisc::{Decision, Fate, Qdisc};
use crate::shell::Received;
use crate::wire::{self, Connection, Seen};
use aqm::unit::{Span, Time};
use hdrhistogram::Histogram;
use netsim::{Emulation, ExternalPacket, PacketKind, Series};
use rustix::event::epoll::EventFlags;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};

const TIMER: u64 = u64::MAX;
const QDISC: u64 = TIMER - 1;
const SENDERS: u64 = TIMER - 2;
const STOP: u64 = TIMER - 3;
/// Packets that are read from a device at a time: those that are due must not wait for all that come.
const BATCH: usize = 64;
/// In ns; every later packet counts as this late.
const LONGEST_LATENESS: u64 = 10_000_000_000;

/// The router.
#[derive(Debug)]
pub struct Router {
    emulation: Emulation<Series>,
    hosts: Hosts,
    namespaces: Vec<Namespace>,
    /// The discipline at the observed link, if that is the kernel's.
    qdisc: Option<Qdisc>,
    clock: Clock,
    /// The clock of the kernel's notes, if packets are timed by them.
    day: Option<Day>,
    poll: Poll,
    timer: Timer,
    /// The process of the senders, which must not end before the run.
    senders: Option<OwnedFd>,
    /// What foreign programs have received.
    pub received: Received,
    /// The packets that are on their way, by their numbers.
    packets: Vec<OnWay>,
    free: Vec<u32>,
    /// The number of each connection; of foreign programs, of each direction of it.
    connections: HashMap<(Connection, bool), u32>,
    /// How late packets were handed to their hosts, in ns.
    lateness: Histogram<u64>,
    /// When the packets that are handed out now should have been, and by how much they entered late.
    delivered: Vec<(Time, Span)>,
    /// Where every packet's fate is written, if it is.
    record: Option<Pcapng<BufWriter<File>>>,
    /// Packets that the hosts sent and that belong to no traffic.
    pub strays: u64,
    /// The first of them, and when it came.
    pub first_stray: Option<(Time, Seen)>,
    /// Why it is not known when some packets came.
    pub untimed: Option<io::Error>,
}

/// A packet on its way.
#[derive(Debug)]
struct OnWay {
    bytes: Box<[u8]>,
    length: usize,
    /// The namespace of its destination.
    namespace: usize,
    /// By how much it entered the network later than its host sent it.
    late: Span,
    /// The traffic entry of a packet of foreign programs, and the bytes of its payload if it is a datagram.
    datagram: Option<(u16, u16)>,
}

/// How late packets were handed to their hosts, in s: later than the network delivered them, which they may also have
/// entered late.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lateness {
    /// Half of the packets were no later.
    pub p50: f64,
    /// 99 of 100.
    pub p99: f64,
    /// All.
    pub max: f64,
}

impl Router {
    /// A router between these namespaces; if it is `timed`, packets enter when the kernel notes that they came.
    ///
    /// # Errors
    /// If the system has no more descriptors.
    pub fn new(
        mut emulation: Emulation<Series>,
        hosts: Hosts,
        namespaces: Vec<Namespace>,
        qdisc: Option<Qdisc>,
        clock: Clock,
        timed: bool,
    ) -> io::Result<Self> {
        let (poll, timer) = (Poll::new()?, Timer::new(clock)?);
        poll.add(&timer, TIMER, EventFlags::IN)?;
        for (i, namespace) in namespaces.iter().enumerate() {
            poll.add(&namespace.device, i as u64, EventFlags::IN)?;
        }
        if let Some(qdisc) = &qdisc {
            poll.add(&qdisc.device, QDISC, EventFlags::IN)?;
            emulation.leave_observed();
        }
        let received = Received::new(emulation.classes(), emulation.warmup());
        let lateness = Histogram::new_with_max(LONGEST_LATENESS, 3).map_err(io::Error::other)?;
        Ok(Self {
            emulation,
            hosts,
            namespaces,
            qdisc,
            clock,
            day: timed.then(|| Day::new(clock)),
            poll,
            timer,
            senders: None,
            received,
            packets: Vec::new(),
            free: Vec::new(),
            connections: HashMap::new(),
            lateness,
            delivered: Vec::new(),
            record: None,
            strays: 0,
            first_stray: None,
            untimed: None,
        })
    }

    /// Ends the run with an error as soon as the process of `senders`, a pidfd, ends.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn watch(&mut self, senders: OwnedFd) -> io::Result<()> {
        self.poll.add(&senders, SENDERS, EventFlags::IN)?;
        self.senders = Some(senders);
        Ok(())
    }

    /// Ends the run when the other end of a pipe is closed.
    ///
    /// # Errors
    /// If that cannot be waited for.
    pub fn stop_with(&self, pipe: impl AsFd) -> io::Result<()> {
        self.poll.add(&pipe, STOP, EventFlags::IN)
    }

    /// Writes every packet's fate to `record` from now on.
    pub fn record(&mut self, record: Pcapng<BufWriter<File>>) {
        self.emulation.list_waits();
        self.record = Some(record);
    }

    /// Forwards packets until `end`, or until it is to stop, and calls `look` after each of `looks` equal parts of the
    /// run. Returns the end.
    ///
    /// # Errors
    /// If a device fails, or the senders end before.
    pub fn run(
        &mut self,
        mut end: Time,
        mtu: usize,
        looks: u64,
        mut look: impl FnMut(&Emulation<Series>),
    ) -> io::Result<Time> {
        let part = (end.nanos() / looks).max(1);
        let mut next_look = part;
        // All packets that the hosts sent until then have been read.
        let mut reached = Time::ZERO;
        loop {
            self.emulation.advance(reached.min(end));
            self.consult_kernel(reached.min(end))?;
            self.hand_out()?;
            if reached >= end {
                self.record.iter_mut().try_for_each(Pcapng::finish).map_err(unrecorded)?;
                return Ok(end);
            }
            if reached.nanos() >= next_look {
                look(&self.emulation);
                next_look = (reached.nanos() / part + 1) * part;
            }
            let due = self.emulation.next_delivery().unwrap_or(end).min(end).min(Time::from_nanos(next_look));
            self.timer.arm(due)?;
            let (mut readable, mut ended, mut stopped) = (0u64, false, false);
            for (token, _) in self.poll.wait()? {
                match token {
                    TIMER => self.timer.went_off(),
                    QDISC => {}
                    SENDERS => ended = true,
                    STOP => stopped = true,
                    namespace => readable |= 1 << namespace,
                }
            }
            let now = self.clock.now();
            if stopped && now < end {
                end = now.max(self.emulation.now());
                self.emulation.end_at(end);
            }
            if ended && now < end {
                return Err(io::Error::other(format!("the senders ended after {:.3} s", now.secs())));
            }
            reached = now;
            if let Some(Err(error)) = self.day.as_mut().map(Day::look) {
                self.untimed.get_or_insert(error);
            }
            for namespace in 0..self.namespaces.len() {
                // One that became readable before `now` was taken may not be listed.
                if (self.day.is_some() || readable & 1 << namespace != 0)
                    && let Some(last) = self.take_in(namespace, now, mtu)?
                {
                    reached = reached.min(last);
                }
            }
        }
    }

    /// Reads what the hosts of a namespace have sent until `now`. If there may be more, returns when the last packet
    /// entered that was read.
    fn take_in(&mut self, namespace: usize, now: Time, mtu: usize) -> io::Result<Option<Time>> {
        let mut last = now;
        for _ in 0..BATCH {
            let number = self.free.pop().unwrap_or_else(|| {
                let bytes = vec![0; mtu].into_boxed_slice();
                self.packets.push(OnWay { bytes, length: 0, namespace: 0, late: Span::ZERO, datagram: None });
                (self.packets.len() - 1) as u32
            });
            let place = &mut self.packets[number as usize];
            let Namespace { device, entries, entered, .. } = &mut self.namespaces[namespace];
            match device.read(&mut place.bytes) {
                Ok(length) => {
                    let mut came = now;
                    match entries
                        .as_mut()
                        .zip(self.day.as_ref())
                        .map(|(entries, day)| (entries.next(length), day))
                    {
                        None => {}
                        Some((Ok(noted), day)) => came = day.time(noted),
                        Some((Err(error), _)) => {
                            // Those of later packets would be those of others.
                            *entries = None;
                            self.untimed.get_or_insert(error);
                        }
                    }
                    if came > now {
                        came = came.min(self.clock.now());
                    }
                    last = came.max(self.emulation.now()).max(*entered);
                    *entered = last;
                    place.length = length;
                    place.late = last.since(came);
                    if !self.enter(number, namespace, last) {
                        self.free.push(number);
                    }
                }
                Err(error) => {
                    self.free.push(number);
                    return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
                }
            }
        }
        Ok(Some(last))
    }

    /// Offers a packet to the network; false if it does not enter. Only TCP and UDP that belongs to no traffic is
    /// counted: the kernel's own messages are none of the scenario's.
    fn enter(&mut self, number: u32, namespace: usize, at: Time) -> bool {
        let place = &mut self.packets[number as usize];
        let way = self.hosts.way(namespace);
        let packet = &place.bytes[..place.length];
        let Some(seen) = (if way.is_some() { Seen::any(packet) } else { Seen::of(packet) }) else {
            return false;
        };
        let (ends, class) = match way {
            Some(way) => ((Some(way.from), Some(self.hosts.end(way, seen.to.0))), Some(way.class)),
            None => {
                let ends = (self.hosts.at(seen.from.0), self.hosts.at(seen.to.0));
                (ends, class_of([seen.from.1, seen.to.1]))
            }
        };
        let ((Some(from), Some(to)), Some(class)) = (ends, class) else {
            self.stray(at, seen);
            return false;
        };
        place.namespace = to.namespace;
        place.datagram = way.map(|way| (way.class, seen.datagram));
        let next = self.connections.len() as u32;
        let key = (seen.connection(), way.is_some() && seen.is_later());
        let flow = *self.connections.entry(key).or_insert(next);
        if let Some(way) = way {
            self.received.enters(at, &seen, way.back);
        }
        let packet = ExternalPacket {
            number,
            from: from.node,
            to: to.node,
            class,
            flow,
            kind: if seen.kind == PacketKind::Datagram && way.is_none() && !asks(seen.to.1) {
                PacketKind::Reply
            } else {
                seen.kind
            },
            size: place.length as u16,
            ecn: seen.ecn,
            asks_for_ecn: seen.asks_for_ecn,
        };
        let enters = self.emulation.offer(at, &packet);
        if enters {
            if let Some(record) = &mut self.record {
                let ends = [from, to].map(|host| self.hosts.number(host));
                record.enter(at, number, ends, &place.bytes[..place.length]);
            }
        } else {
            self.stray(at, seen);
        }
        enters
    }

    /// Passes the packets that have come to the kernel's discipline on to it, and carries out its decisions.
    fn consult_kernel(&mut self, now: Time) -> io::Result<()> {
        let Some(qdisc) = &mut self.qdisc else { return Ok(()) };
        let handed_over = self.day.is_some().then(|| self.clock.now());
        for (number, came, ect) in self.emulation.handed_over() {
            let place = &mut self.packets[number as usize];
            place.late = place.late + handed_over.map_or(Span::ZERO, |at| at.since(came));
            let packet = &mut place.bytes[..place.length];
            if !ect {
                wire::set_ecn(packet, wire::NOT_ECT);
            }
            qdisc.take(number, packet)?;
        }
        qdisc.look(|number| {
            let place = &self.packets[number as usize];
            &place.bytes[..place.length]
        })?;
        for Decision { number, fate, noted } in qdisc.decisions() {
            if let (Some(noted), Some(day)) = (noted, &self.day) {
                let late = &mut self.packets[number as usize].late;
                *late = *late + now.since(day.time(noted));
            }
            match fate {
                Fate::Sent { marked } => self.emulation.sent(now, number, marked),
                Fate::Dropped { full } => self.emulation.dropped(now, number, full),
            }
        }
        Ok(())
    }

    fn stray(&mut self, now: Time, seen: Seen) {
        self.strays += 1;
        self.first_stray.get_or_insert((now, seen));
    }

    /// Compares the kernel's discipline's own count of drops with that of this router, after the run and before
    /// [`Router::losses`].
    ///
    /// # Errors
    /// If they differ, or cannot be read.
    pub fn verify_qdisc(&mut self) -> io::Result<()> {
        let Some(qdisc) = &mut self.qdisc else { return Ok(()) };
        qdisc.verify(|number| {
            let place = &self.packets[number as usize];
            &place.bytes[..place.length]
        })
    }

    /// The packets that the hosts' own kernels have lost.
    ///
    /// # Errors
    /// If the counters cannot be read.
    pub fn losses(&self) -> io::Result<Vec<Loss>> {
        let all = self.namespaces.iter().enumerate();
        // What foreign programs ask of their kernels is theirs, but between kernel and router nothing may be lost.
        let found =
            all.filter(|(number, _)| self.hosts.way(*number).is_none() || self.hosts.shell().is_none());
        let found = found.map(|(number, namespace)| {
            let mut losses = namespace.losses()?;
            losses.retain(|loss| self.hosts.way(number).is_none() || loss.is_of_device());
            Ok(losses)
        });
        Ok(found.collect::<io::Result<Vec<_>>>()?.concat())
    }

    /// Writes the delivered packets to the devices of their hosts.
    fn hand_out(&mut self) -> io::Result<()> {
        if let Some(record) = &mut self.record {
            self.emulation.waits().for_each(|wait| record.wait(wait));
        }
        for fate in self.emulation.fates() {
            if !fate.again {
                self.free.push(fate.number);
            }
            let place = &mut self.packets[fate.number as usize];
            let mut copy = if fate.again { place.bytes[..place.length].to_vec() } else { Vec::new() };
            let packet = if fate.again { &mut copy[..] } else { &mut place.bytes[..place.length] };
            if fate.marked {
                wire::set_ecn(packet, wire::CE);
            } else if !fate.ect {
                wire::set_ecn(packet, wire::NOT_ECT);
            }
            if let Some(record) = &mut self.record {
                record.decide(&fate, packet);
            }
            if fate.lost.is_some() {
                continue;
            }
            self.namespaces[place.namespace].device.write_all(packet)?;
            if let Some((class, bytes)) = place.datagram {
                self.received.arrives(fate.at, bytes, class);
            }
            self.delivered.push((fate.at, place.late));
        }
        if !self.delivered.is_empty() {
            // After the last was written: all of them are at most as late.
            let now = self.clock.now();
            for (at, late) in self.delivered.drain(..) {
                self.lateness.saturating_record((now.since(at) + late).nanos());
            }
        }
        let reached = self.emulation.now();
        self.record.iter_mut().try_for_each(|record| record.settle(reached)).map_err(unrecorded)
    }

    /// The paths of packets of foreign programs.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        self.hosts.ways()
    }

    /// The emulation.
    pub const fn emulation(&mut self) -> &mut Emulation<Series> {
        &mut self.emulation
    }

    /// How late packets were handed to their hosts; `None` if there were none.
    #[must_use]
    pub fn lateness(&self) -> Option<Lateness> {
        let seconds = |nanos: u64| nanos as f64 * 1e-9;
        (!self.lateness.is_empty()).then(|| Lateness {
            p50: seconds(self.lateness.value_at_quantile(0.5)),
            p99: seconds(self.lateness.value_at_quantile(0.99)),
            max: seconds(self.lateness.max()),
        })
    }
}

fn unrecorded(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the file of fates cannot be written: {error}"))
}
