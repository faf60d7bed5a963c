//! `[dumbbell]` and `[[link]]`: rates, delays, buffers, algorithms and losses.

use crate::keys::{ALGORITHMS, LOSSES, RECORDED, below, is_name};
use crate::model::{
    Buffer, Change, Distribution, Drawn as _, EcnPath, Gilbert, Handover, Jitter, Loss, Outage,
    PROBABILITIES, RATES, Reorder, Variation, Waypoint,
};
use crate::reader::{Algorithm, Reader};
use crate::source::tree::{Data, Node, Table};
use crate::tables::rates::{self, Rates, Recorded, RecordedLoss};
use aqm::framing::Framing;
use aqm::params::{Field, Params as _, Range};
use aqm::unit::{Bytes, Limit, Rate, Span};
use aqm::{choice, params};
use std::path::Path;

pub(super) const DELAYS: Range = Range::new(0.0, 3600.0);
pub(crate) const BUFFERS: Range = Range::new(1.0, 4e9);
const OVERHEADS: Range = Range::new(0.0, 256.0);

choice! {
    /// The packets that a buffer of bytes accepts.
    pub enum Admission {
        /// Those that fit as a whole (Linux).
        Fits = "fits",
        /// Those before which fewer bytes than the limit wait, so that the last packet may stick out (RED and PI of
        /// ns-2).
        SticksOut = "sticks-out",
        /// Those of ns-2's queue of the link's algorithm: `SticksOut` for RED, ARED and PI in bytes, otherwise `Fits`.
        Ns2 = "ns2",
    }
}

params! {
    /// Senders, a bottleneck between two routers, receivers.
    pub struct Dumbbell {
        /// The bottleneck's rate.
        rate: Rate = Rate::mbit_per_s(10), "bit/s", RATES;
        /// The bottleneck's one-way delay. Like every delay of a link, it is a time, or a distribution from which one
        /// is drawn for each run: `uniform(5 ms, 20 ms)`.
        delay: Distribution<Span> = Distribution::Fixed(Span::us(2500)), "s", DELAYS;
        /// The bottleneck's buffer: packets, bytes, a time at `rate`, or bandwidth-delay products (`2 BDP`).
        buffer: Buffer = Buffer::Limit(Limit::Packets(200)), "packets or bytes", BUFFERS;
        /// The packets that the bottleneck's buffer accepts in both directions, if it is in bytes: `fits`, those that
        /// fit as a whole; `sticks-out`, those before which less than `buffer` waits, so that the last one may stick
        /// out; `ns2`, those that ns-2 accepts: as `sticks-out` for `red`, `ared` and `pi` in bytes, otherwise as `fits`.
        /// Auto is `ns2` if the TCP of some flows is a preset of ns-2, otherwise `fits`.
        buffer_admission: Option<Admission> = None, "";
        /// Bytes that the bottleneck adds to every packet in both directions: in its transmission time, in the queue
        /// and in the size that algorithms see. 14 is Ethernet's header, which Linux counts too; 38 is Ethernet's
        /// total, with checksum, preamble and gap.
        overhead: Bytes = Bytes(0), "bytes", OVERHEADS;
        /// The bottleneck's frames or cells in both directions, in tc's words for CAKE: `pppoe-ptm`, `docsis`,
        /// `atm overhead 44`. They are added to the packet from its IP header on, in its transmission time alone: a modem
        /// adds them after its queue. Auto is none, and `overhead` is what a packet takes.
        framing: Option<Framing> = None, "";
        /// Changes of the bottleneck's rate: `["20 s: 10 Mbit/s", "40 s: 100 Mbit/s"]`. A packet in transmission is
        /// sent at the old rate, and the algorithm's parameters stay those for `rate`.
        changes: Option<Vec<Change>> = None, "";
        /// Time after which `changes` start over, from `rate`, and with them `delays` and `outages`; auto is never.
        changes_period: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// Times in which the bottleneck sends nothing, in both directions: `["20 s..21 s"]`. Packets wait in its queue,
        /// those under way arrive, and a packet in transmission goes on afterwards, and at the new rate after a change.
        outages: Option<Vec<Outage>> = None, "";
        /// As `outages`, for the reverse direction; auto is the same.
        reverse_outages: Option<Vec<Outage>> = None, "";
        /// Delays that the bottleneck has from a time on, in both directions: `["20 s: 50 ms", "40 s..60 s: 10 ms"]`, where
        /// the second changes evenly from 40 s to 60 s. A packet has the delay of the time at which its transmission
        /// ends. The algorithm's parameters and a buffer in BDP stay those for `delay`.
        delays: Option<Vec<Waypoint>> = None, "", DELAYS;
        /// As `delays`, for the reverse direction; auto is the same.
        reverse_delays: Option<Vec<Waypoint>> = None, "", DELAYS;
        /// Handovers at random, with another delay or rate after each: `{ every = "15 s", delay = "uniform(20 ms, 40 ms)" }`, in
        /// place of `changes`, `delays`, `outages` and `rates`; auto is none.
        handover: Option<Handover> = None, "";
        /// Random changes of the delay from packet to packet: `{ law = "normal", deviation = "5 ms" }`; auto is none.
        jitter: Option<Jitter> = None, "";
        /// As `jitter`, for the reverse direction; auto is none.
        reverse_jitter: Option<Jitter> = None, "";
        /// Whether packets may overtake each other in both directions, where jitter or a lower delay lets a later one come
        /// first, as with netem. Otherwise such a packet arrives together with the one before it.
        overtaking: bool = false, "";
        /// Packets that skip the delay, and so overtake others whatever `overtaking` is: `{ probability = 0.01 }`;
        /// auto is none. Like netem's, it has a `gap` and a `correlation`.
        reorder: Option<Reorder> = None, "";
        /// As `reorder`, for the reverse direction; auto is none.
        reverse_reorder: Option<Reorder> = None, "";
        /// Probability that a packet arrives twice. The copy takes no transmission time, and has a delay of its own.
        duplicate: f64 = 0.0, "", PROBABILITIES;
        /// As `duplicate`, for the reverse direction.
        reverse_duplicate: f64 = 0.0, "", PROBABILITIES;
        /// A recording that the bottleneck's rate follows, in place of `changes`: `{ file = "cell.down" }`. It starts
        /// over at its end. A packet in transmission goes on at the new rate, so that the link carries what it did in the
        /// recording; the rate may be 0 for a time. The default of `rate` is then the mean, to which the algorithm's
        /// parameters and a buffer in time or BDP refer.
        rates: Option<Recorded> = None, "";
        /// Rate of the bottleneck's reverse direction; auto is `rate`.
        reverse_rate: Option<Rate> = None, "bit/s", RATES;
        /// As `rates`, for the reverse direction and `reverse_rate`.
        reverse_rates: Option<Recorded> = None, "";
        /// Buffer of the bottleneck's reverse direction; auto is `buffer` if there is a `reverse_aqm`, otherwise
        /// `access_buffer`.
        reverse_buffer: Option<Buffer> = None, "packets or bytes", BUFFERS;
        /// What a middlebox at the bottleneck does to ECN: `pass`, nothing; `clear`, the ECN field of every packet becomes
        /// Not-ECT, so that the queue drops what it would mark; `clear-marks`, CE becomes ECT behind the queue, so that
        /// no mark arrives; `drop`, packets with ECT are lost; `refuse`, SYNs that ask for ECN are lost. Lost packets
        /// do not reach the queue, and count as `random_losses`.
        ecn_path: EcnPath = EcnPath::Pass, "";
        /// As `ecn_path`, in the reverse direction.
        reverse_ecn_path: EcnPath = EcnPath::Pass, "";
        /// Hosts on each side; flows are assigned to them in turn. Auto is the number that pairs the senders' and the
        /// receivers' delays evenly.
        hosts: Option<u32> = None, "hosts", Range::new(1.0, 1e4);
        /// Rate of every link between a host and its router. Auto is ten times the bottleneck's highest rate, including
        /// `changes`, `rates`, `handover` and the reverse direction, within 100 Mbit/s and 100 Gbit/s.
        access_rate: Option<Rate> = None, "bit/s", RATES;
        /// Half-duplex Ethernets in place of every link between a host and its router, as `link.half_duplex`; the delay is then
        /// that of a box in the cable. Each is measured, as if it had a queue discipline.
        access_half_duplex: Option<Span> = None, "s", DELAYS;
        /// Buffer of every other link.
        access_buffer: Buffer = Buffer::Limit(Limit::Packets(5000)), "packets or bytes", BUFFERS;
        /// One-way delays of the senders' links, assigned to the hosts in turn; from a distribution, each host draws
        /// its own. The flows of every traffic entry begin with the first host: `from = "sender2"` chooses another, and
        /// an entry's own `sender_delay` gives it hosts of its own.
        sender_delay: Vec<Distribution<Span>> = vec![Distribution::Fixed(Span::us(2500))], "s", DELAYS;
        /// One-way delays of the receivers' links, as `sender_delay`.
        receiver_delay: Vec<Distribution<Span>> = vec![Distribution::Fixed(Span::ms(10))], "s", DELAYS;
    }
}

params! {
    /// A link between two nodes, in both directions; each direction has its own queue.
    pub struct LinkTable {
        /// Its name in results.
        name: String = String::new(), "";
        /// The node at one end; the algorithm works on the queue at this end.
        from: String = String::new(), "";
        /// The node at the other end.
        to: String = String::new(), "";
        /// Its rate.
        rate: Rate = Rate::mbit_per_s(100), "bit/s", RATES;
        /// Its one-way propagation delay: a time, or a distribution from which one is drawn for each run.
        delay: Distribution<Span> = Distribution::Fixed(Span::us(2500)), "s", DELAYS;
        /// The packets that its buffers accept, if they are in bytes, as `dumbbell.buffer_admission`.
        buffer_admission: Option<Admission> = None, "";
        /// Bytes that it adds to every packet in both directions, as `dumbbell.overhead`: 14 or 38 for Ethernet.
        overhead: Bytes = Bytes(0), "bytes", OVERHEADS;
        /// Its frames or cells in both directions, as `dumbbell.framing`.
        framing: Option<Framing> = None, "";
        /// Changes of its rate: `["20 s: 10 Mbit/s", "40 s: 100 Mbit/s"]`. A packet in transmission is sent at the old
        /// rate, and the algorithm's parameters stay those for `rate`.
        changes: Option<Vec<Change>> = None, "";
        /// Time after which `changes` start over, as `dumbbell.changes_period`; auto is never.
        changes_period: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// Times in which it sends nothing, in both directions, as `dumbbell.outages`: `["20 s..21 s"]`.
        outages: Option<Vec<Outage>> = None, "";
        /// As `outages`, for the reverse direction; auto is the same.
        reverse_outages: Option<Vec<Outage>> = None, "";
        /// Delays that it has from a time on, in both directions, as `dumbbell.delays`: `["20 s: 50 ms"]`.
        delays: Option<Vec<Waypoint>> = None, "", DELAYS;
        /// As `delays`, for the reverse direction; auto is the same.
        reverse_delays: Option<Vec<Waypoint>> = None, "", DELAYS;
        /// Handovers at random, as `dumbbell.handover`; auto is none.
        handover: Option<Handover> = None, "";
        /// Random changes of its delay from packet to packet, as `dumbbell.jitter`; auto is none.
        jitter: Option<Jitter> = None, "";
        /// As `jitter`, for the reverse direction; auto is none.
        reverse_jitter: Option<Jitter> = None, "";
        /// Whether packets may overtake each other, as `dumbbell.overtaking`.
        overtaking: bool = false, "";
        /// Packets that skip the delay, as `dumbbell.reorder`; auto is none.
        reorder: Option<Reorder> = None, "";
        /// As `reorder`, for the reverse direction; auto is none.
        reverse_reorder: Option<Reorder> = None, "";
        /// Probability that a packet arrives twice, as `dumbbell.duplicate`.
        duplicate: f64 = 0.0, "", PROBABILITIES;
        /// As `duplicate`, for the reverse direction.
        reverse_duplicate: f64 = 0.0, "", PROBABILITIES;
        /// A recording that its rate follows, as `dumbbell.rates`.
        rates: Option<Recorded> = None, "";
        /// The buffer in front of it, as `dumbbell.buffer`.
        buffer: Buffer = Buffer::Limit(Limit::Packets(5000)), "packets or bytes", BUFFERS;
        /// Half-duplex Ethernet (CSMA/CD of IEEE 802.3), whose ends share one medium, and how long a signal takes from one
        /// end to the other: `"1 us"`; `"0 s"` is half duplex, too, and auto is full duplex. `rate` is at most 100 Mbit/s.
        /// Frames wait for silence, collide, back off, and are given up after 16 collisions. It is part of `delay`; `framing`
        /// is `ethernet`, and the frame that contends is in transmission.
        half_duplex: Option<Span> = None, "s", DELAYS;
        /// Rate of the reverse direction; auto is `rate`.
        reverse_rate: Option<Rate> = None, "bit/s", RATES;
        /// As `rates`, for the reverse direction and `reverse_rate`.
        reverse_rates: Option<Recorded> = None, "";
        /// Buffer of the reverse direction; auto is `buffer`.
        reverse_buffer: Option<Buffer> = None, "packets or bytes", BUFFERS;
        /// What a middlebox there does to ECN, as `dumbbell.ecn_path`.
        ecn_path: EcnPath = EcnPath::Pass, "";
        /// As `ecn_path`, in the reverse direction.
        reverse_ecn_path: EcnPath = EcnPath::Pass, "";
    }
}

impl Dumbbell {
    /// The rate of every link between a host and its router, if the bottleneck has these `recorded` rates.
    pub(crate) fn access_rate(&self, recorded: &[Option<Rates>; 2]) -> Rate {
        // The least of them was the default before it depended on the bottleneck.
        const FASTER: f64 = 10.0;
        const LEAST: Rate = Rate::mbit_per_s(100);
        self.access_rate.unwrap_or_else(|| {
            let changed = self.changes.iter().flatten().map(|change| change.rate);
            let recorded = recorded.iter().flatten().map(Rates::highest);
            let drawn = self.handover.iter().flat_map(Handover::rates);
            // A law without a greatest value rarely has ten times its mean.
            let drawn =
                drawn.map(|rate| rate.greatest().unwrap_or_else(|| Rate::of_magnitude(FASTER * rate.mean())));
            let others = changed.chain(recorded).chain(drawn);
            let fastest = others.chain(self.reverse_rate).fold(self.rate, Rate::max);
            Rate::bit_per_s((FASTER * fastest.bits()).min(RATES.high) as u64).max(LEAST)
        })
    }
}

/// What a table says about its recorded rates, and the rates that have their means where the table has none.
pub(super) struct Recording<'a> {
    said: [&'a mut Option<Recorded>; 2],
    has_changes: bool,
    rate: &'a mut Rate,
    reverse_rate: &'a mut Option<Rate>,
}

/// Declares [`Recording`] of a table.
macro_rules! recording {
    ($($table:ty),+) => {
        $(impl $table {
            pub(super) fn recording(&mut self) -> Recording<'_> {
                Recording {
                    said: [&mut self.rates, &mut self.reverse_rates],
                    has_changes: self.changes.is_some(),
                    rate: &mut self.rate,
                    reverse_rate: &mut self.reverse_rate,
                }
            }
        })+
    };
}

recording!(Dumbbell, LinkTable);

/// A link's random losses, and the recording that they follow, if they do.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LossEntry {
    pub(crate) said: Option<RecordedLoss>,
    pub(crate) loss: Loss,
}

impl From<Loss> for LossEntry {
    fn from(loss: Loss) -> Self {
        Self { said: None, loss }
    }
}

/// A `[[link]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LinkEntry {
    pub(crate) path: String,
    pub(crate) table: LinkTable,
    /// Those of the two directions.
    pub(crate) aqms: [Option<Algorithm>; 2],
    /// Those of the two directions.
    pub(crate) losses: [Option<LossEntry>; 2],
    /// The recorded rates of the two directions.
    pub(crate) recorded: [Option<Rates>; 2],
    /// What varies in the delays of the two directions.
    pub(crate) variations: [Variation; 2],
}

impl Reader<'_> {
    /// Reads a `[[link]]`.
    pub(super) fn link(&mut self, label: &str, table: &Table) -> LinkEntry {
        let path = below("link", label);
        let others = [ALGORITHMS, LOSSES].concat();
        let mut read: LinkTable = self.assigned(table, &path, &others);
        read.name = label.to_owned();
        self.changes(read.changes.as_deref(), read.changes_period, read.starts_over(), &path);
        for (key, node) in [("from", &read.from), ("to", &read.to)] {
            let at = below(&path, key);
            if node.is_empty() && self.fine(&[&at]) {
                self.refuse(&at, None, "missing: must be the name of a node");
            } else if !is_name(node) && self.fine(&[&at]) {
                let found = Some(format!("{node:?}"));
                self.refuse(&at, found, "must be made of letters, digits, \"-\" and \"_\"");
            }
        }
        let aqms = ALGORITHMS.map(|key| self.named(table.get(key)?, &path, key));
        let losses = LOSSES.map(|key| self.loss(table.get(key)?, &below(&path, key)));
        let recorded = self.recorded(read.recording(), table, &path);
        self.recorded_once(&losses, &recorded, &path);
        let variations = self.variations(read.varying(), &recorded, &path);
        LinkEntry { path, table: read, aqms, losses, recorded, variations }
    }

    /// The recorded rates of both directions of the link in `table`. Sets the files to their full paths, and rates that
    /// the table does not have to the means.
    pub(super) fn recorded(&mut self, link: Recording<'_>, table: &Table, path: &str) -> [Option<Rates>; 2] {
        if link.has_changes && link.said[0].is_some() {
            let at = below(path, "changes");
            self.refuse(&at, None, "`rates` is given as well: remove one of them");
        }
        let [there, back] = link.said;
        let recorded = [
            self.recorded_rates(there, &below(path, RECORDED[0])),
            self.recorded_rates(back, &below(path, RECORDED[1])),
        ];
        let [there, back] = recorded.each_ref().map(|rates| rates.as_ref().map(Rates::mean_rate));
        *link.rate = there.filter(|_| table.get("rate").is_none()).unwrap_or(*link.rate);
        *link.reverse_rate = link.reverse_rate.or(back);
        recorded
    }

    /// The recorded rates that the table at `path` describes, whose file is set to its full path.
    pub(super) fn recorded_rates(&mut self, said: &mut Option<Recorded>, path: &str) -> Option<Rates> {
        let said = said.as_mut()?;
        if said.file.is_empty() {
            self.refuse(path, None, "needs a `file`: CSV, or a packet-delivery trace of Mahimahi");
            return None;
        }
        let how = said.clone();
        self.recording(&mut said.file, &below(path, "file"), |file| Rates::read(file, &how))
    }

    /// As `recorded_rates`, of a medium, `what`, that takes neither delays nor losses from a recording.
    pub(super) fn recorded_alone(
        &mut self,
        said: &mut Option<Recorded>,
        path: &str,
        what: &str,
    ) -> Option<Rates> {
        let columns = |said: &Recorded| {
            [
                ("delay", said.delay.clone()),
                ("round_trip", said.round_trip.clone()),
                ("loss", said.loss.clone()),
            ]
        };
        for (key, column) in said.iter().flat_map(columns) {
            if let Some(column) = column {
                let message = format!("{what} has its own delays and losses: remove it, or use a [[link]]");
                self.refuse(&below(path, key), Some(format!("{column:?}")), message);
            }
        }
        self.recorded_rates(said, path)
    }

    /// Refuses losses that a link has twice.
    pub(super) fn recorded_once(
        &mut self,
        losses: &[Option<LossEntry>; 2],
        recorded: &[Option<Rates>; 2],
        path: &str,
    ) {
        for (i, rates) in recorded.iter().enumerate() {
            if losses[i].is_some() && rates.as_ref().is_some_and(|rates| rates.losses.is_some()) {
                let message = format!("`{}.loss` is given as well: remove one of them", RECORDED[i]);
                self.refuse(&below(path, LOSSES[i]), None, message);
            }
        }
    }

    /// The loss in `node`: a probability, or a table.
    pub(super) fn loss(&mut self, node: &Node, path: &str) -> Option<LossEntry> {
        if let Data::Value(value) = &node.data {
            let p = f64::read(value).filter(|p| (0.0..=1.0).contains(p));
            if p.is_none() {
                let keys: Vec<&str> = Gilbert::specs().iter().map(|spec| spec.name).collect();
                let message = format!(
                    "must be a probability in [0, 1], or a table of {}, or of file, column",
                    keys.join(", ")
                );
                self.refuse(path, node.shown(), message);
            }
            return p.map(|p| Loss::Bernoulli(p).into());
        }
        if node.table().is_some_and(|table| table.get("file").is_some()) {
            let mut said: RecordedLoss = self.params(Some(node), path);
            let column = said.column.clone();
            let read = |file: &Path| rates::losses(file, column.as_deref());
            let steps = self.recording(&mut said.file, &below(path, "file"), read)?;
            return Some(LossEntry { said: Some(said), loss: Loss::Steps(steps) });
        }
        let gilbert: Gilbert = self.params(Some(node), path);
        let (good, bad) = (below(path, "good_time"), below(path, "bad_time"));
        for (missing, other) in [(&good, &gilbert.bad_time), (&bad, &gilbert.good_time)] {
            let both = gilbert.good_time.is_some() && gilbert.bad_time.is_some();
            if !both && other.is_some() && self.fine(&[&good, &bad]) {
                self.refuse(missing, None, "missing: a state that changes with time needs both times");
            }
        }
        Some(Loss::Gilbert(gilbert).into())
    }

    /// Checks that the changes are in order, and that the last one comes before they start over, which `others` may do
    /// with the same period.
    pub(super) fn changes(
        &mut self,
        changes: Option<&[Change]>,
        period: Option<Span>,
        others: bool,
        path: &str,
    ) {
        let changes = changes.unwrap_or_default();
        let at = below(path, "changes");
        if let Some(pair) = changes.windows(2).find(|pair| pair[0].at >= pair[1].at) {
            let message = format!("must be in order; {} is not after {}", pair[1].at, pair[0].at);
            self.refuse(&at, Some(format!("\"{}\"", pair[1])), message);
        }
        if let Some(change) = changes.iter().find(|change| !RATES.contains(change.rate.bits())) {
            let [least, most] = [RATES.low, RATES.high].map(|bits| Rate::bit_per_s(bits as u64));
            let message = format!(
                "must have a rate in [{least}, {most}]: for pauses use `outages`, or `rates` of a file with rates of 0"
            );
            self.refuse(&at, Some(format!("\"{change}\"")), message);
        }
        let Some(period) = period else { return };
        let key = below(path, "changes_period");
        match changes.last() {
            None if others => {}
            None => {
                let message = "needs `changes`, `delays` or `outages`";
                self.refuse(&key, Some(period.value().to_string()), message);
            }
            Some(last) if last.at >= period => {
                let message = format!("must be after the last of changes, {}", last.at);
                self.refuse(&key, Some(period.value().to_string()), message);
            }
            Some(_) => {}
        }
    }
}
