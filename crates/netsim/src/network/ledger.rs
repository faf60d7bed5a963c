//! Conservation: of the packets that entered a link, or that a flow sent, each was delivered, dropped or lost
//! before a queue, or is in transit. The ledger counts these events; packets in transit at the end are counted where they are.

use crate::engine::clock::{Clock, ClockArithmetic as _, SimTime};
use crate::engine::order::time_of;
use crate::measure::delays::Delays;
use crate::network::fate::{Cause, Lost, Passed, Wait};
use crate::network::hosts::Hosts;
use crate::network::link::{Flight, Link};
use crate::network::medium::Medium;
use crate::packet::{Packet, PacketKind};
use aqm::queue::Counts;
use aqm::unit::{Span, Time};
use std::fmt;

/// The counts of a set of packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Book {
    /// Sent by a host, or accepted by a link.
    pub(crate) sent: u64,
    /// Made of one on a link.
    copied: u64,
    /// Passed to the receiver, or to the next link.
    pub(crate) delivered: u64,
    /// Dropped at a queue, or given up after collisions or retries.
    dropped: u64,
    /// Lost at the gate.
    pub(crate) lost: u64,
    /// Still to arrive when the run ended, but on no link's line, because the engine had worked ahead.
    beyond: u64,
    /// Still to arrive, in a queue or on a line.
    waiting: u64,
    /// Bytes of the packets delivered.
    bytes: u64,
}

impl Book {
    const fn is_balanced(&self) -> bool {
        self.sent + self.copied == self.delivered + self.dropped + self.lost + self.beyond + self.waiting
    }
}

impl fmt::Display for Book {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, copied, delivered, dropped, lost, beyond, waiting, .. } = self;
        let in_flight = beyond + waiting;
        let copies = if *copied > 0 { format!(" and {copied} copied") } else { String::new() };
        write!(
            out,
            "{sent} sent{copies}, but {delivered} delivered, {dropped} dropped, {lost} lost, {in_flight} in flight"
        )
    }
}

/// Counts every packet of a run, if [`Probe::CHECKS`](crate::Probe::CHECKS) is true.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ledger {
    pub(crate) links: Vec<Book>,
    /// By kind of packet, then by the flow's number. Connections that have the same number one after the other share a
    /// book.
    pub(crate) flows: [Vec<Book>; 4],
    pub(crate) classes: Vec<Book>,
    /// The first queue that was longer than its buffer.
    overfull: Option<usize>,
    /// The packets that were dropped or lost, if they are to be listed.
    pub(crate) lost: Option<Vec<(Packet, Lost)>>,
    /// The numbers of the packets from outside that were copied, if they are to be listed.
    pub(crate) copied: Option<Vec<u32>>,
    /// The waits of packets at links with an AQM, if they are to be listed.
    pub(crate) waits: Option<Vec<Wait>>,
    /// The packets that queues with an AQM have sent and that were lost anywhere, if they are to be listed.
    pub(crate) passed: Option<Vec<Passed>>,
}

/// The book at `index`, created if necessary.
fn at(books: &mut Vec<Book>, index: usize) -> &mut Book {
    if index >= books.len() {
        books.resize(index + 1, Book::default());
    }
    &mut books[index]
}

const NAMES: [&str; 4] = [
    "segments of TCP flow",
    "segments without data of TCP flow",
    "datagrams of UDP flow",
    "answers to UDP flow",
];

const fn kind(packet: &Packet) -> usize {
    match packet.kind {
        PacketKind::Data if !packet.is_bare() => 0,
        PacketKind::Data | PacketKind::Ack => 1,
        PacketKind::Datagram => 2,
        PacketKind::Reply | PacketKind::Report => 3,
    }
}

impl Ledger {
    /// Writes into the books of a packet's flow and class.
    fn write(&mut self, packet: &Packet, change: impl Fn(&mut Book)) {
        change(at(&mut self.flows[kind(packet)], packet.flow as usize));
        change(at(&mut self.classes, packet.class()));
    }

    fn write_at(&mut self, link: usize, packet: &Packet, change: impl Fn(&mut Book)) {
        self.write(packet, &change);
        change(at(&mut self.links, link));
    }

    /// A host has sent it.
    pub(crate) fn on_sent(&mut self, packet: &Packet) {
        self.write(packet, |book| book.sent += 1);
    }

    /// It has come to its receiver.
    pub(crate) fn on_delivered(&mut self, packet: &Packet) {
        self.write(packet, |book| {
            book.delivered += 1;
            book.bytes += packet.payload();
        });
    }

    /// It has come to a link.
    pub(crate) fn on_entry(&mut self, link: usize) {
        at(&mut self.links, link).sent += 1;
    }

    /// A link has made another one of it.
    pub(crate) fn on_copy(&mut self, link: usize, packet: &Packet) {
        self.write_at(link, packet, |book| book.copied += 1);
        self.copied.iter_mut().for_each(|copied| copied.push(packet.number()));
    }

    /// It has come to a link's other end.
    pub(crate) fn on_exit(&mut self, link: usize) {
        at(&mut self.links, link).delivered += 1;
    }

    /// A link has lost it, at random or from its queue.
    pub(crate) fn on_loss(&mut self, packet: &Packet, how: Lost) {
        self.write_at(how.link, packet, |book| match how.cause {
            Cause::Random | Cause::Ecn => book.lost += 1,
            Cause::Early | Cause::Overflow | Cause::Collisions | Cause::Retries => book.dropped += 1,
        });
        self.lost.iter_mut().for_each(|lost| lost.push((*packet, how)));
        let Lost { link, at, cause, waited } = how;
        let passed = Passed { packet: *packet, link, at, lost: Some(cause), waited };
        self.passed.iter_mut().for_each(|all| all.push(passed));
    }

    /// The queue of a link sends it after a wait.
    pub(crate) fn on_departure(&mut self, link: usize, now: Time, packet: &Packet, waited: Span) {
        let passed = Passed { packet: *packet, link, at: now, lost: None, waited };
        self.passed.iter_mut().for_each(|all| all.push(passed));
        self.waits.iter_mut().for_each(|waits| waits.push(Wait::new(packet, link, waited)));
    }

    /// It comes to a link's other end after the end of the run.
    pub(crate) fn on_end(&mut self, link: usize, packet: &Packet) {
        self.write_at(link, packet, |book| book.beyond += 1);
    }

    /// The queue of a link is as it is now.
    pub(crate) fn on_length(&mut self, link: usize, fits: bool) {
        if !fits {
            self.overfull.get_or_insert(link);
        }
    }

    /// Segments that were delivered to the receiver of TCP flow number `flow`.
    pub(crate) fn delivered_segments(&self, flow: usize) -> u64 {
        self.flows[0].get(flow).map_or(0, |book| book.delivered)
    }

    /// Bytes that were delivered to the receiver of UDP flow number `flow`.
    pub(crate) fn delivered_bytes(&self, flow: usize) -> u64 {
        self.flows[2].get(flow).map_or(0, |book| book.bytes)
    }

    /// Datagrams of UDP flow number `flow`, and answers to it, that are neither delivered nor lost; `None` if there are copies.
    pub(crate) fn under_way(&self, flow: usize) -> Option<u64> {
        let books = [2, 3].map(|kind| self.flows[kind].get(flow).copied().unwrap_or_default());
        let rest = |book: Book| book.sent - book.delivered - book.dropped - book.lost;
        books.iter().all(|book| book.copied == 0).then(|| books.map(rest).iter().sum())
    }

    /// The violations of conservation at `end`, the end of a run over `links`, some of which share `media`, one
    /// sentence each; `names` are the links', `classes` the traffic entries'.
    pub(crate) fn violations(
        mut self,
        links: &[Link],
        media: &[Medium],
        hosts: &Hosts,
        clock: Clock,
        end: SimTime,
        [names, classes]: [&[&str]; 2],
    ) -> Vec<String> {
        let time = clock.time(end);
        let mut found = Vec::new();
        hosts.packets().for_each(|packet| self.write(packet, |book| book.waiting += 1));
        self.overfull
            .iter()
            .for_each(|&link| found.push(format!("link {}: the queue outgrew its buffer", names[link])));
        for (i, link) in links.iter().enumerate() {
            link.packets().for_each(|packet| self.write_at(i, packet, |book| book.waiting += 1));
            let book = *at(&mut self.links, i);
            if !book.is_balanced() {
                found.push(format!("link {}: {book}", names[i]));
            }
            let overdue = |flight: &Flight| time_of(flight.arrival) <= end;
            if link.line.iter().any(overdue) || link.is_stuck(time, media) {
                found.push(format!("link {}: what should have left it has not", names[i]));
            }
            found.extend(counters(link, &book).map(|message| format!("link {}: {message}", names[i])));
        }
        for (books, name) in self.flows.iter().zip(NAMES) {
            let off = books.iter().enumerate().filter(|(_, book)| !book.is_balanced());
            found.extend(off.map(|(flow, book)| format!("{name} {flow}: {book}")));
        }
        let off = self.classes.iter().enumerate().filter(|(_, book)| !book.is_balanced());
        found.extend(off.map(|(class, book)| format!("traffic {}: {book}", classes[class])));
        found
    }
}

/// Where a link's own counters, from which its metrics are made, differ from its book, or from each other.
fn counters(link: &Link, book: &Book) -> Option<String> {
    let copies = link.wander.as_ref().map_or(0, |wander| wander.copies);
    if copies != book.copied {
        return Some(format!("{copies} copies in its metrics, {} in fact", book.copied));
    }
    let losses = link.losses();
    if losses != book.lost {
        return Some(format!("{losses} losses before the queue in its metrics, {} in fact", book.lost));
    }
    let Some(aqm_queue) = &link.aqm_queue else {
        return (link.drops != book.dropped)
            .then(|| format!("{} drops in its metrics, {} in fact", link.drops, book.dropped));
    };
    let sum = |counts: &[Counts]| counts.iter().fold(Counts::default(), |sum, counts| sum.plus(counts));
    let queue = &aqm_queue.queue;
    let all = sum(queue.counts());
    let waiting = queue.len() as u64;
    let given_up = aqm_queue.tally().map_or(0, |tally| tally.lost);
    if all.arrivals != all.drops() + all.departures + waiting
        || all.arrivals + book.lost != book.sent
        || all.drops() + given_up != book.dropped
    {
        return Some(format!("{all:?} with {waiting} waiting in its metrics; in fact {book}"));
    }
    let departures = all.since(&sum(&aqm_queue.at_warmup)).departures;
    let waits: u64 = aqm_queue.delays.iter().map(Delays::count).sum();
    if waits != departures {
        return Some(format!("{waits} waits of {departures} packets sent"));
    }
    let lanes = queue.lane_counts();
    (!lanes.is_empty() && !aqm_queue.lanes_are_new && sum(lanes) != all)
        .then(|| format!("{:?} in its queues together, {all:?} in its metrics", sum(lanes)))
}
