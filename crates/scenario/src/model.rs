//! The scenario as engines see it: checked, typed, with the sugar taken off.

pub mod distribution;
pub(crate) mod estimate;
pub mod route;
pub(crate) mod tcp;

use aqm::aqm::{AnyParams, CLASSES};
use aqm::params::Range;
use aqm::unit::{Bytes, Frequency, Limit, Rate, Span};
use aqm::{choice, params};
use distribution::Law;
use std::sync::Arc;
pub use tcp::{Congestion, Flavour, Halved, LimitedTransmit, RtoFloor, SackRecovery, TCP_PRESETS, Tcp};

/// A network, its traffic, its queue disciplines, and what to measure.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// What applies to the whole run.
    pub general: General,
    /// How the engine keeps time.
    pub clock: Clock,
    /// When the queue counts as settled.
    pub response: Response,
    /// Which series to record.
    pub record: Record,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// Directed links; each has its own queue.
    pub links: Vec<Link>,
    /// Which of `links` the summary metrics speak of.
    pub observed: usize,
    /// The traffic, in the order of the file.
    pub traffic: Vec<Traffic>,
}

/// A directed link and the queue in front of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Unique; the reverse of a duplex link `x` is `x:reverse`.
    pub name: String,
    /// Index of the node that sends.
    pub from: usize,
    /// Index of the node that receives.
    pub to: usize,
    /// How fast it sends.
    pub rate: Rate,
    /// When it gets another rate, in order.
    pub changes: Vec<Change>,
    /// After how long the changes start over.
    pub changes_period: Option<Span>,
    /// How long a bit travels, one way; drawn for each run, the same both ways.
    pub delay: Law<Span>,
    /// What it loses by chance, in front of the buffer.
    pub loss: Option<Loss>,
    /// The buffer in front of it.
    pub buffer: Limit,
    /// The algorithm on that buffer; `None` for a plain tail-drop buffer that nobody asked to measure.
    pub aqm: Option<AnyParams>,
    /// Bytes that it adds to every packet.
    pub overhead: Bytes,
    /// The size of the usual data packet here, `overhead` included, for algorithms that count in packets.
    pub packet: Bytes,
}

/// A link has another rate from some time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// From when on.
    pub at: Span,
    /// The new rate.
    pub rate: Rate,
}

/// What a link loses by chance.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// Each packet with this probability.
    Bernoulli(f64),
    /// By the state of a Markov chain.
    Gilbert(Gilbert),
}

/// Some flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Traffic {
    /// Unique.
    pub name: String,
    /// Nodes that send; dealt out to the flows in turn.
    pub from: Vec<usize>,
    /// Nodes that receive; dealt out to the flows in turn.
    pub to: Vec<usize>,
    /// How many flows.
    pub count: u32,
    /// Size of a full data packet on the wire, headers included.
    pub packet_size: Bytes,
    /// The class of service of all its packets.
    pub class: u8,
    /// From when on it is active; starts count from here.
    pub begin: Span,
    /// When each flow starts, after `begin`.
    pub start: Law<Span>,
    /// When the application stops producing; unacknowledged data is still delivered.
    pub stop: Option<Span>,
    /// What the flows do.
    pub kind: Kind,
}

/// What a flow does.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// TCP with always something to send.
    Ftp(Tcp),
    /// TCP with so many payload bytes to send.
    Transfer(Tcp, Law<Bytes>),
    /// TCP flows that come and go.
    Short(Tcp, Short),
    /// People who read pages.
    Web(Tcp, Web),
    /// Datagrams, all with this codepoint.
    Udp(Udp, Ecn),
}

/// TCP flows that arrive one after the other while the entry is active.
#[derive(Clone, PartialEq, Debug)]
pub struct Short {
    /// From one arrival to the next.
    pub interarrival: Law<Span>,
    /// What each has to send.
    pub extent: Extent,
}

/// How much a short flow has to send.
#[derive(Clone, PartialEq, Debug)]
pub enum Extent {
    /// As much as it can until its application stops, so long after its start.
    Lifetime(Law<Span>),
    /// So many payload bytes.
    Size(Law<Bytes>),
}

/// A client that fetches `objects` objects over `connections` connections opened for it, then closes them and thinks.
#[derive(Clone, PartialEq, Debug)]
pub struct Web {
    /// Connections side by side; each asks for its next object when it has the last.
    pub connections: u32,
    /// Objects of a session.
    pub objects: u32,
    /// Payload of an object.
    pub size: Law<Bytes>,
    /// Size of a request on the wire, headers included.
    pub request: Bytes,
    /// From the last byte of a session to the start of the next.
    pub think: Law<Span>,
}

/// How a source of datagrams times and sizes them.
#[derive(Clone, PartialEq, Debug)]
pub enum Udp {
    /// At a constant rate on the wire.
    Cbr(Rate),
    /// At a constant rate while on; starts off.
    OnOff {
        /// While on, on the wire.
        rate: Rate,
        /// How long it is on.
        on: Law<Span>,
        /// How long it is off.
        off: Law<Span>,
    },
    /// With exponential gaps, at this mean rate on the wire.
    Poisson(Rate),
    /// At a rate that follows fractional Gaussian noise, one value a step.
    Fgn {
        /// Mean rate on the wire.
        rate: Rate,
        /// The Hurst parameter.
        hurst: f64,
        /// Standard deviation of a step's rate over the mean.
        deviation: f64,
        /// How long a rate holds.
        step: Span,
    },
    /// As recorded.
    Trace(Arc<[Arrival]>),
    /// A frame at a time, cut into packets that are sent at once; every so many frames a larger one.
    Frames {
        /// From frame to frame.
        interval: Span,
        /// An ordinary frame on the wire.
        size: Bytes,
        /// Every so many frames is a key frame; 0 for none.
        key_every: u32,
        /// A key frame on the wire.
        key_size: Bytes,
    },
}

/// One packet of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Since the first packet.
    pub at: Span,
    /// Size on the wire in bytes.
    pub size: u16,
}

choice! {
    /// How the engine keeps time.
    pub enum Clock {
        /// In whole nanoseconds: of what is due at one instant, what has been under way for longer comes first.
        Integer = "integer",
        /// In seconds in floating point, as ns-2 does: its rounding orders what is due at one instant.
        Double = "double",
    }
}

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
    /// What applies to the whole run.
    pub struct General {
        /// What the run is called in tables and figures.
        title: String = String::new(), "";
        /// Simulated time.
        duration: Span = Span::s(100), "s", Range::above(0.0, 1e7);
        /// Time at the start that the summary metrics leave out.
        warmup: Span = Span::ZERO, "s", Range::new(0.0, 1e7);
        /// Where all randomness starts from.
        seed: u64 = 1, "", Range::new(0.0, 9e15);
        /// How the engine keeps time: `integer`, in whole nanoseconds, or `double`, as ns-2 does; auto is `double`
        /// where some flows' TCP is a preset of ns-2. It matters where delays are multiples of each other and a
        /// buffer is full.
        clock: Option<Clock> = None, "";
    }
}

params! {
    /// When a queue counts as settled: the first time from which its mean stays near the target for a while.
    pub struct Response {
        /// The queue length to reach; auto takes the target of the observed queue's algorithm.
        target: Option<f64> = None, "packets", Range::above(0.0, 1e9);
        /// How far from the target is near, as a fraction of it.
        band: f64 = 0.2, "", Range::above(0.0, 10.0);
        /// How long it has to stay near.
        hold: Span = Span::s(5), "s", Range::new(0.0, 1e7);
        /// The bins over which the queue is averaged.
        bin: Span = Span::s(1), "s", Range::above(0.0, 1e7);
    }
}

/// Bytes of IP and TCP header without any option.
pub const HEADER: u32 = 40;

/// Bytes of IP and UDP header in every datagram.
pub const UDP_HEADER: u32 = 28;

params! {
    /// Which series to record.
    pub struct Record {
        /// The width of a bin of the queue's series; auto takes 1/2000 of the duration, at least 1 ms.
        step: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// Whether to record series at all.
        series: bool = true, "";
        /// How often to sample each flow's congestion window; auto does not.
        cwnd: Option<Span> = None, "s", Range::above(0.0, 1e7);
        /// How long a loss event lasts from its first loss, for `loss_synchronisation`.
        loss_event: Span = Span::ms(100), "s", Range::above(0.0, 1e7);
    }
}

params! {
    /// Senders, a bottleneck between two routers, receivers.
    pub struct Dumbbell {
        /// The bottleneck's rate.
        rate: Rate = Rate::mbit_per_s(10), "bit/s", RATES;
        /// The bottleneck's one-way delay; like every delay of a link a time, or a law from which one is drawn for each
        /// run: `uniform(5 ms, 20 ms)`.
        delay: Law<Span> = Law::Fixed(Span::us(2500)), "s", DELAYS;
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
        sender_delay: Vec<Law<Span>> = vec![Law::Fixed(Span::us(2500))], "s", DELAYS;
        /// One-way delays of the receivers' links, likewise.
        receiver_delay: Vec<Law<Span>> = vec![Law::Fixed(Span::ms(10))], "s", DELAYS;
    }
}

params! {
    /// Losses in bursts (Gilbert, Elliott): in the good and in the bad state each packet is lost with that state's
    /// probability, then the state may change. It starts good.
    pub struct Gilbert {
        /// The probability, after each packet, that the good state turns bad.
        good_to_bad: f64 = 0.01, "", PROBABILITY;
        /// The probability, after each packet, that the bad state turns good: bursts last 1 / `bad_to_good` packets.
        bad_to_good: f64 = 0.3, "", PROBABILITY;
        /// The probability of a loss in the good state.
        loss_good: f64 = 0.0, "", PROBABILITY;
        /// The probability of a loss in the bad state.
        loss_bad: f64 = 1.0, "", PROBABILITY;
    }
}

const PROBABILITY: Range = Range::new(0.0, 1.0);
// Above, a packet's time is too few whole nanoseconds to give the rate asked for.
pub(crate) const RATES: Range = Range::new(1e3, 1e11);
const DELAYS: Range = Range::new(0.0, 3600.0);
const BUFFERS: Range = Range::new(1.0, 4e9);
const OVERHEADS: Range = Range::new(0.0, 256.0);

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
        delay: Law<Span> = Law::Fixed(Span::us(2500)), "s", DELAYS;
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

choice! {
    /// The codepoint that datagrams are sent with (RFC 3168, section 5; RFC 9331).
    pub enum Ecn {
        /// Not-ECT: a congested queue drops them.
        None = "none",
        /// ECT(0): a queue may mark them instead.
        Ect0 = "ect0",
        /// ECT(1): the same, and queues that tell apart what is scalable take them as that.
        Ect1 = "ect1",
    }
}

choice! {
    /// What the flows of a traffic entry do.
    pub enum KindName {
        /// TCP with always something to send.
        Ftp = "ftp",
        /// TCP with so many bytes to send.
        Transfer = "transfer",
        /// TCP flows that arrive one after the other, each for a random time or with a random size.
        Short = "short",
        /// Clients that fetch objects over TCP connections, read, and fetch the next.
        Web = "web",
        /// UDP at a constant rate.
        Cbr = "cbr",
        /// UDP at a constant rate for a random time, then silence for a random time.
        OnOff = "on-off",
        /// UDP with exponential gaps between packets.
        Poisson = "poisson",
        /// UDP whose rate follows fractional Gaussian noise: self-similar traffic.
        Fgn = "fgn",
        /// UDP packets with the times and sizes of a CSV or pcap file.
        Trace = "trace",
        /// UDP voice: a packet every 20 ms.
        Voip = "voip",
        /// UDP video: frames of several packets, every so often a larger one.
        Video = "video",
    }
}

params! {
    /// Some flows of one kind.
    pub struct TrafficTable {
        /// What it is called in results and in `--set traffic.NAME.count=…`.
        name: String = String::new(), "";
        /// What the flows do.
        kind: KindName = KindName::Ftp, "";
        /// How many flows; of `short`, how many arrival processes; of `web`, how many clients.
        count: u32 = 1, "flows", Range::new(0.0, 1e7);
        /// Nodes that send, dealt out to the flows in turn; in a dumbbell also the group `senders`.
        from: Vec<String> = vec!["senders".to_owned()], "";
        /// Nodes that receive, dealt out to the flows in turn; in a dumbbell also the group `receivers`.
        to: Vec<String> = vec!["receivers".to_owned()], "";
        /// Size of a full data packet on the wire, headers included; auto is 1500 B, for `voip` 200 B (G.711, 20 ms).
        packet_size: Option<Bytes> = None, "bytes", Range::new(HEADER as f64 + 1.0, 65535.0);
        /// The class of service of its packets, both ways, for queue disciplines that tell classes apart; 1 is the first.
        class: u32 = 1, "", Range::new(1.0, CLASSES as f64);
        /// When each flow starts: a time, or `uniform(0 s, 1 s)`, or `exponential(1 s)` with this mean; counted from
        /// the start of `active` if that is given.
        start: Law<Span> = Law::Fixed(Span::ZERO), "s", Range::new(0.0, 1e7);
        /// When the application stops producing; auto never does. Unacknowledged data is still delivered.
        stop: Option<Span> = None, "s", Range::new(0.0, 1e7);
        /// From when to when it is active, like `["50 s", "150 s"]`: says start and stop in one.
        active: Option<Vec<Span>> = None, "s", Range::new(0.0, 1e7);
        /// Payload of a `transfer`, of each `short` flow or of each `web` object: a size, `uniform(1 kB, 9 kB)`,
        /// `exponential(10 kB)` or `pareto(10 kB, 1.3)` (mean, shape). A transfer without it lasts until `stop`; of
        /// `web`, auto is pareto(10 kB, 1.3).
        size: Option<Law<Bytes>> = None, "bytes", Range::new(1.0, 1e15);
        /// How long the application of each `short` flow produces.
        lifetime: Option<Law<Span>> = None, "s", Range::above(0.0, 1e7);
        /// How many `short` flows arrive a second, as a Poisson process.
        arrival_rate: Option<Frequency> = None, "/s", Range::above(0.0, 1e6);
        /// The time between arrivals of `short` flows, in place of `arrival_rate`: `pareto(10 ms, 1.5)`.
        interarrival: Option<Law<Span>> = None, "s", Range::above(0.0, 1e7);
        /// Connections that a `web` client opens for a session.
        connections: u32 = 1, "connections", Range::new(1.0, 1000.0);
        /// Objects that a `web` client fetches in a session.
        objects: u32 = 1, "objects", Range::new(1.0, 1e6);
        /// Size of a `web` request on the wire, headers included.
        request: Bytes = Bytes(300), "bytes", Range::new(HEADER as f64 + 1.0, 65535.0);
        /// How long a `web` client thinks between sessions.
        think: Law<Span> = Law::Exponential(Span::s(50)), "s", Range::new(0.0, 1e7);
        /// The ECN codepoint of its datagrams: Not-ECT, ECT(0) or ECT(1); a queue may mark the latter two instead of
        /// dropping them. The sources do not answer to marks. TCP has an `ecn` of its own.
        ecn: Ecn = Ecn::None, "";
        /// Rate on the wire: of `cbr`; of `on-off` while on; the mean of `poisson` and `fgn`.
        rate: Rate = Rate::mbit_per_s(1), "bit/s", Range::new(1.0, 1e11);
        /// How long an `on-off` flow sends: rounded to whole packets, at least one.
        on: Law<Span> = Law::Exponential(Span::ms(500)), "s", Range::above(0.0, 1e7);
        /// How long an `on-off` flow is silent; it starts silent.
        off: Law<Span> = Law::Exponential(Span::ms(500)), "s", Range::new(0.0, 1e7);
        /// The Hurst parameter of `fgn`: 0.5 is white noise, towards 1 the rate persists longer.
        hurst: f64 = 0.8, "", Range::new(0.01, 0.99);
        /// Standard deviation of the rate of `fgn` in one `step`, as a fraction of `rate`. Negative rates count as 0,
        /// which raises the mean: not visibly with 0.3, by 0.4 % with 0.5, by 8 % with 1.
        deviation: f64 = 0.3, "", Range::new(0.0, 10.0);
        /// How long each rate of `fgn` holds; at most 4194304 fit in a run.
        step: Span = Span::ms(10), "s", Range::new(1e-5, 1e3);
        /// The recording that `trace` replays: CSV with columns `time` (s) and `size` (bytes of the IP packet), pcap or
        /// pcapng; found beside the scenario's file, else in the current folder. It starts with its first packet.
        file: Option<String> = None, "";
        /// Frames a second of `voip` and `video`; auto is 50 for voip, 30 for video.
        frame_rate: Option<Frequency> = None, "/s", Range::new(0.1, 1e5);
        /// A frame of `video` on the wire, sent at once in packets of `packet_size`, the last one smaller.
        frame_size: Bytes = Bytes(6000), "bytes", Range::new(1.0, 1e8);
        /// Every so many frames of `video` is a key frame, the first of all is one; 0 for none.
        key_every: u32 = 30, "frames", Range::new(0.0, 1e6);
        /// A key frame of `video` on the wire.
        key_size: Bytes = Bytes(30_000), "bytes", Range::new(1.0, 1e8);
    }
}

impl Scenario {
    /// The width of a bin of the recorded series.
    #[must_use]
    pub fn series_step(&self) -> Span {
        let auto = Span::ns(self.general.duration.nanos().div_ceil(2000)).max(Span::ms(1));
        self.record.step.unwrap_or(auto)
    }

    /// The queue length in packets that counts as reached; see [`Response`].
    #[must_use]
    pub fn target(&self) -> Option<f64> {
        self.response.target.or_else(|| self.links[self.observed].aqm.as_ref()?.target())
    }
}
