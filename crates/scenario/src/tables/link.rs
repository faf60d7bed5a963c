//! `[dumbbell]` and `[[link]]`: rates, delays, buffers, algorithms and losses.

use crate::keys::{ALGORITHMS, LOSSES, below, is_name};
use crate::model::{Change, Distribution, Gilbert, Loss, RATES};
use crate::reader::Reader;
use crate::source::tree::{Data, Node, Table};
use aqm::aqm::AnyParams;
use aqm::params::{Field, Params as _, Range};
use aqm::unit::{Bytes, Limit, Rate, Span};
use aqm::{choice, params};

const DELAYS: Range = Range::new(0.0, 3600.0);
const BUFFERS: Range = Range::new(1.0, 4e9);
const OVERHEADS: Range = Range::new(0.0, 256.0);

choice! {
    /// Which packets a buffer of bytes lets in.
    pub enum Admission {
        /// Those that fit as a whole (Linux).
        Fits = "fits",
        /// Those before which less than the limit waits, so that the last one may stick out (RED and PI of ns-2).
        SticksOut = "sticks-out",
    }
}

params! {
    /// Senders, a bottleneck between two routers, receivers.
    pub struct Dumbbell {
        /// The bottleneck's rate.
        rate: Rate = Rate::mbit_per_s(10), "bit/s", RATES;
        /// The bottleneck's one-way delay; like every delay of a link a time, or a law from which one is drawn for each
        /// run: `uniform(5 ms, 20 ms)`.
        delay: Distribution<Span> = Distribution::Fixed(Span::us(2500)), "s", DELAYS;
        /// The bottleneck's buffer.
        buffer: Limit = Limit::Packets(200), "packets or bytes", BUFFERS;
        /// Which packets the bottleneck's buffer lets in, both ways, if it is of bytes: those that fit as a whole, or those
        /// before which less than `buffer` waits, so that the last one may stick out. Auto is `sticks-out` where ns-2 has
        /// it so: for `red`, `ared` and `pi` in bytes, if some flows' TCP is a preset of ns-2.
        buffer_admission: Option<Admission> = None, "";
        /// Bytes that the bottleneck adds to every packet, both ways: in its time on the wire, in the queue and in what
        /// algorithms see of its size. 14 are Ethernet's header, which Linux counts too; 38 are all of Ethernet's, with
        /// checksum, preamble and gap.
        overhead: Bytes = Bytes(0), "bytes", OVERHEADS;
        /// When the bottleneck gets another rate: `["20 s: 10 Mbit/s", "40 s: 100 Mbit/s"]`. What is in transmission
        /// is sent at the old one, and the algorithm's parameters stay those for `rate`.
        changes: Option<Vec<Change>> = None, "";
        /// After how long `changes` start over, from `rate`; auto is never.
        changes_period: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// The rate of the bottleneck's way back; auto takes `rate`.
        reverse_rate: Option<Rate> = None, "bit/s", RATES;
        /// The buffer of the bottleneck's way back; auto takes `buffer` if there is a `reverse_aqm`, else
        /// `access_buffer`.
        reverse_buffer: Option<Limit> = None, "packets or bytes", BUFFERS;
        /// How many hosts there are on each side; flows are dealt out to them in turn. Auto is as many as it takes to
        /// pair the senders' and the receivers' delays evenly.
        hosts: Option<u32> = None, "hosts", Range::new(1.0, 1e4);
        /// The rate of every link between a host and its router.
        access_rate: Rate = Rate::mbit_per_s(100), "bit/s", RATES;
        /// The buffer of every other link.
        access_buffer: Limit = Limit::Packets(5000), "packets or bytes", BUFFERS;
        /// One-way delays of the senders' links, dealt out to the hosts in turn; from a law each host draws its own.
        sender_delay: Vec<Distribution<Span>> = vec![Distribution::Fixed(Span::us(2500))], "s", DELAYS;
        /// One-way delays of the receivers' links, likewise.
        receiver_delay: Vec<Distribution<Span>> = vec![Distribution::Fixed(Span::ms(10))], "s", DELAYS;
    }
}

params! {
    /// A link between two nodes, both ways; each direction has its own queue.
    pub struct LinkTable {
        /// What it is called in results.
        name: String = String::new(), "";
        /// The node at one end; the algorithm works on what this end sends.
        from: String = String::new(), "";
        /// The node at the other end.
        to: String = String::new(), "";
        /// How fast it sends.
        rate: Rate = Rate::mbit_per_s(100), "bit/s", RATES;
        /// How long a bit travels, one way: a time, or a law from which one is drawn for each run.
        delay: Distribution<Span> = Distribution::Fixed(Span::us(2500)), "s", DELAYS;
        /// Which packets its buffers let in, if they are of bytes, as `dumbbell.buffer_admission`.
        buffer_admission: Option<Admission> = None, "";
        /// Bytes that it adds to every packet, both ways, as `dumbbell.overhead`: 14 or 38 for Ethernet.
        overhead: Bytes = Bytes(0), "bytes", OVERHEADS;
        /// When it gets another rate: `["20 s: 10 Mbit/s", "40 s: 100 Mbit/s"]`. What is in transmission is sent at
        /// the old one, and the algorithm's parameters stay those for `rate`.
        changes: Option<Vec<Change>> = None, "";
        /// After how long `changes` start over, from `rate`; auto is never.
        changes_period: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// The buffer in front of it.
        buffer: Limit = Limit::Packets(5000), "packets or bytes", BUFFERS;
        /// The rate of the way back; auto takes `rate`.
        reverse_rate: Option<Rate> = None, "bit/s", RATES;
        /// The buffer of the way back; auto takes `buffer`.
        reverse_buffer: Option<Limit> = None, "packets or bytes", BUFFERS;
    }
}

/// A `[[link]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LinkEntry {
    pub(crate) path: String,
    pub(crate) table: LinkTable,
    /// There and back.
    pub(crate) aqms: [Option<AnyParams>; 2],
    /// There and back.
    pub(crate) losses: [Option<Loss>; 2],
}

impl Reader<'_> {
    /// Reads a `[[link]]`.
    pub(super) fn link(&mut self, label: &str, table: &Table) -> LinkEntry {
        let path = below("link", label);
        let others = [ALGORITHMS, LOSSES].concat();
        let mut read: LinkTable = self.assigned(table, &path, &others);
        read.name = label.to_owned();
        self.changes(read.changes.as_deref(), read.changes_period, &path);
        for (key, node) in [("from", &read.from), ("to", &read.to)] {
            let at = below(&path, key);
            if node.is_empty() && self.fine(&[&at]) {
                self.refuse(&at, None, "missing: must be the name of a node");
            } else if !is_name(node) && self.fine(&[&at]) {
                let found = Some(format!("{node:?}"));
                self.refuse(&at, found, "must be made of letters, digits, \"-\" and \"_\"");
            }
        }
        let aqms = ALGORITHMS.map(|key| self.algorithm(table.get(key)?, &below(&path, key), None));
        let losses = LOSSES.map(|key| self.loss(table.get(key)?, &below(&path, key)));
        LinkEntry { path, table: read, aqms, losses }
    }

    /// The loss in `node`: a probability, or a table.
    pub(super) fn loss(&mut self, node: &Node, path: &str) -> Option<Loss> {
        if let Data::Value(value) = &node.data {
            let p = f64::read(value).filter(|p| (0.0..=1.0).contains(p));
            if p.is_none() {
                let keys: Vec<&str> = Gilbert::specs().iter().map(|spec| spec.name).collect();
                let message = format!("must be a probability in [0, 1], or a table of {}", keys.join(", "));
                self.refuse(path, node.shown(), message);
            }
            return p.map(Loss::Bernoulli);
        }
        let gilbert: Gilbert = self.params(Some(node), path);
        Some(Loss::Gilbert(gilbert))
    }

    /// Whether changes come one after the other, the last before they start over.
    pub(super) fn changes(&mut self, changes: Option<&[Change]>, period: Option<Span>, path: &str) {
        let changes = changes.unwrap_or_default();
        let at = below(path, "changes");
        if let Some(pair) = changes.windows(2).find(|pair| pair[0].at >= pair[1].at) {
            let message = format!("must be in order; {} is not after {}", pair[1].at, pair[0].at);
            self.refuse(&at, Some(format!("\"{}\"", pair[1])), message);
        }
        let Some(period) = period else { return };
        let key = below(path, "changes_period");
        match changes.last() {
            None => self.refuse(&key, Some(period.value().to_string()), "needs `changes`"),
            Some(last) if last.at >= period => {
                let message = format!("must be after the last of changes, {}", last.at);
                self.refuse(&key, Some(period.value().to_string()), message);
            }
            Some(_) => {}
        }
    }
}
