//! Conservation: of the packets that entered a link, or that a flow sent, each was delivered, was dropped, was lost by
//! chance or is under way. The ledger counts what happens; what is under way at the end is counted where it is.

use crate::engine::event::instant;
use crate::flows::flow::Endpoints;
use crate::measure::stats::Delays;
use crate::network::Network;
use crate::network::link::{Flight, Link};
use crate::packet::{Kind, Packet};
use aqm::queue::Counts;
use std::fmt;

/// What happened to a set of packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Book {
    /// Sent by a host, or taken in by a link.
    sent: u64,
    /// Handed to the receiver, or to what comes after the link.
    delivered: u64,
    /// Dropped at a queue.
    dropped: u64,
    /// Lost by chance.
    lost: u64,
    /// Still to arrive when the run ended, and on no link's line: the engine worked ahead and stopped there.
    beyond: u64,
    /// Still to arrive, in a queue or on a line.
    waiting: u64,
    /// Bytes of the packets delivered.
    bytes: u64,
}

impl Book {
    const fn is_balanced(&self) -> bool {
        self.sent == self.delivered + self.dropped + self.lost + self.beyond + self.waiting
    }
}

impl fmt::Display for Book {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, delivered, dropped, lost, beyond, waiting, .. } = self;
        let in_flight = beyond + waiting;
        write!(
            out,
            "{sent} sent, but {delivered} delivered, {dropped} dropped, {lost} lost, {in_flight} in flight"
        )
    }
}

/// Counts every packet of a run. It is kept where [`Probe::CHECKS`](crate::Probe::CHECKS) says so.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ledger {
    links: Vec<Book>,
    /// By kind of packet, then by the flow's number: connections that follow each other under one number share a book.
    flows: [Vec<Book>; 3],
    classes: Vec<Book>,
    /// The first queue that was longer than its buffer.
    overfull: Option<usize>,
}

/// The book at `index`, made if need be.
fn at(books: &mut Vec<Book>, index: usize) -> &mut Book {
    if index >= books.len() {
        books.resize(index + 1, Book::default());
    }
    &mut books[index]
}

const NAMES: [&str; 3] = ["segments of TCP flow", "acknowledgements of TCP flow", "datagrams of UDP flow"];

const fn kind(packet: &Packet) -> usize {
    match packet.kind {
        Kind::Data => 0,
        Kind::Ack => 1,
        Kind::Datagram => 2,
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

    /// It has come to a link's other end.
    pub(crate) fn on_exit(&mut self, link: usize) {
        at(&mut self.links, link).delivered += 1;
    }

    /// The queue of a link has dropped it.
    pub(crate) fn on_drop(&mut self, link: usize, packet: &Packet) {
        self.write_at(link, packet, |book| book.dropped += 1);
    }

    /// A link has lost it by chance.
    pub(crate) fn on_loss(&mut self, link: usize, packet: &Packet) {
        self.write_at(link, packet, |book| book.lost += 1);
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

    /// Where receivers count more than was delivered to them, a sentence each.
    pub(crate) fn surplus(&self, endpoints: &Endpoints) -> Vec<String> {
        let book = |kind: usize, flow: usize| self.flows[kind].get(flow).copied().unwrap_or_default();
        let segments = endpoints.receivers[..endpoints.residents].iter().enumerate();
        let more =
            segments.filter(|&(flow, receiver)| u64::from(receiver.delivered()) > book(0, flow).delivered);
        let mut found: Vec<String> =
            more.map(|(flow, _)| format!("TCP flow {flow}: more than was delivered")).collect();
        let sources = endpoints.sources.iter().enumerate();
        let other = sources.filter(|&(flow, source)| source.delivered != book(2, flow).bytes);
        found.extend(other.map(|(flow, source)| {
            let (delivered, bytes) = (source.delivered, book(2, flow).bytes);
            format!("UDP flow {flow}: {delivered} bytes in its metrics, {bytes} were delivered")
        }));
        found
    }

    /// What does not add up at the end of a run, over whose links the packets are spread, a sentence each.
    pub(crate) fn violations<P>(
        mut self,
        network: &Network<P>,
        names: &[&str],
        classes: &[&str],
    ) -> Vec<String> {
        let links = &network.links;
        let end = network.end;
        let time = crate::engine::clock::Counts::time(network.events.clock, end);
        let mut found = Vec::new();
        self.overfull
            .iter()
            .for_each(|&link| found.push(format!("link {}: the queue outgrew its buffer", names[link])));
        for (i, link) in links.iter().enumerate() {
            link.packets().for_each(|packet| self.write_at(i, packet, |book| book.waiting += 1));
            let book = *at(&mut self.links, i);
            if !book.is_balanced() {
                found.push(format!("link {}: {book}", names[i]));
            }
            let overdue = |flight: &Flight| instant(flight.arrival) <= end;
            if link.line.iter().any(overdue) || link.is_stuck(end, time) {
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
    let losses = link.lottery.as_ref().map_or(0, |lottery| lottery.losses);
    if losses != book.lost {
        return Some(format!("{losses} losses by chance in its metrics, {} in fact", book.lost));
    }
    let Some(managed) = &link.managed else {
        return (link.drops != book.dropped)
            .then(|| format!("{} drops in its metrics, {} in fact", link.drops, book.dropped));
    };
    let sum = |counts: &[Counts]| counts.iter().fold(Counts::default(), |sum, counts| sum.plus(counts));
    let queue = &managed.queue;
    let all = sum(queue.counts());
    let waiting = queue.len() as u64;
    if all.arrivals != all.drops() + all.departures + waiting
        || all.arrivals + book.lost != book.sent
        || all.drops() != book.dropped
    {
        return Some(format!("{all:?} with {waiting} waiting in its metrics; in fact {book}"));
    }
    let departures = all.since(&sum(&managed.at_warmup)).departures;
    let waits: u64 = managed.delays.iter().map(Delays::count).sum();
    if waits != departures {
        return Some(format!("{waits} waits of {departures} packets sent"));
    }
    let lanes = queue.lane_counts();
    (!lanes.is_empty() && sum(lanes) != all)
        .then(|| format!("{:?} in its queues together, {all:?} in its metrics", sum(lanes)))
}

#[cfg(test)]
mod tests {
    use super::Book;
    use crate::simulation::Simulation;
    use aqm::unit::{Rate, Span, Time};

    /// A run that is over and sound, with losses of every kind.
    fn finished() -> Simulation<()> {
        let text = "duration = \"5 s\"\n[dumbbell]\nrate = \"1.5 Mbit/s\"\nbuffer = \"10 packets\"\nloss = 0.01\n\
                    access_buffer = \"3 packets\"\naccess_rate = \"2 Mbit/s\"\n[[traffic]]\nname = \"long\"\ncount = 4\n\
                    [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"1.9 Mbit/s\"\n";
        let scenario = scenario::Document::parse(text, "ledger").unwrap().check().unwrap();
        let mut run = Simulation::new(scenario, 1, ());
        run.advance(Time::MAX);
        run
    }

    #[test]
    fn a_packet_too_many_or_too_few_is_missed_wherever_it_is() {
        let sound = finished();
        assert_eq!(sound.violations(), Vec::<String>::new());
        let bottleneck = sound.scenario.observed;
        let plain = sound.network.links.iter().position(|link| link.managed.is_none() && link.drops > 0);
        let plain = plain.expect("access links drop, too");
        let miss = |name: &str, change: &dyn Fn(&mut Simulation<()>)| {
            let mut run = finished();
            change(&mut run);
            let found = run.violations();
            assert!(found.iter().any(|found| found.contains(name)), "{name}: {found:?}");
        };
        miss("TCP flow 2: 0 sent, but", &|run| run.network.ledger.flows[0][2].sent = 0);
        miss("acknowledgements of TCP flow 1", &|run| run.network.ledger.flows[1][1].delivered += 1);
        miss("traffic long", &|run| run.network.ledger.classes[0].lost += 1);
        miss("link bottleneck: ", &|run| run.network.ledger.links[bottleneck].sent += 1);
        miss("outgrew its buffer", &|run| run.network.ledger.on_length(bottleneck, false));
        miss("drops in its metrics", &|run| run.network.links[plain].drops -= 1);
        miss("losses by chance in its metrics", &|run| {
            run.network.links[bottleneck].lottery.as_mut().unwrap().losses += 1;
        });
        miss("UDP flow 0: ", &|run| run.endpoints.sources[0].delivered += 1);
        miss("more than was delivered", &|run| run.network.ledger.flows[0].fill(Book::default()));
        miss("throughput = ", &|run| run.scenario.links[bottleneck].rate = Rate::mbit_per_s(1));
        miss("waits of", &|run| run.network.links[bottleneck].managed().delays[0].record(Span::ZERO));
        miss("what should have left it has not", &|run| {
            let line = run.network.links.iter_mut().find(|link| !link.line.is_empty()).unwrap();
            line.line.front_mut().unwrap().arrival = 0;
        });
        miss("what should have left it has not", &|run| run.network.links[bottleneck].managed().busy = false);
        // A packet that vanishes from a line.
        miss("in flight", &|run| {
            let line = run.network.links.iter_mut().find(|link| !link.line.is_empty()).unwrap();
            line.line.drop_front();
        });
    }
}
