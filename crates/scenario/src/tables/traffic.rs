//! `[[traffic]]`: the keys of an entry, which kinds have each key, which keys a kind needs, and the model of its flows.

use super::link::DELAYS;
use super::stack;
use super::trace::{self, Network};
use crate::keys::below;
use crate::model::{
    Arrival, Codec, Distribution, Dscp, Ecn, Extent, HEADER, Program, QuicControl, Short, Tcp, Tfrc,
    TrafficKind, Transfer, Udp, Video, Web,
};
use crate::reader::Reader;
use crate::source::tree::Table;
use aqm::CLASSES;
use aqm::params::{Field, Range, Value};
use aqm::unit::{Bytes, Frequency, Rate, Span};
use aqm::{choice, params};
use std::path::Path;
use std::sync::Arc;

/// Declares the kinds of traffic. The entry of a kind has its name in a scenario, and those of its keys that not all
/// kinds have.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal has [$($key:ident),+];)+) => {
        choice! {
            /// The kinds of a traffic entry's flows.
            pub enum KindName { $($(#[doc = $doc])+ $kind = $name,)+ }
        }

        impl KindName {
            const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Its keys that not all kinds have.
            const fn keys(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &[$(stringify!($key)),+]),+ }
            }
        }
    };
}

kinds! {
    /// TCP that always has data to send.
    Ftp = "ftp" has [tcp, packet_size];
    /// TCP that sends a fixed amount.
    Transfer = "transfer" has [tcp, size, request, packet_size];
    /// TCP flows that arrive one after the other, each with a random duration or a random size.
    Short = "short" has [tcp, size, lifetime, arrival_rate, interarrival, packet_size];
    /// Clients that fetch objects over TCP connections, read, and fetch the next.
    Web = "web" has [tcp, size, connections, objects, request, think, packet_size];
    /// Clients that fetch a video chunk by chunk over TCP, at the bitrate that the network allows, and play it.
    Dash = "dash" has [tcp, bitrates, chunk, playback_buffer, request, packet_size];
    /// UDP at a constant rate.
    Cbr = "cbr" has [ecn, rate, pacing_burst, packet_size];
    /// UDP at a constant rate for a random time, then silence for a random time.
    OnOff = "on-off" has [ecn, rate, on, off, packet_size];
    /// UDP with exponential gaps between packets.
    Poisson = "poisson" has [ecn, rate, packet_size];
    /// UDP whose rate follows fractional Gaussian noise: self-similar traffic.
    Fgn = "fgn" has [ecn, rate, hurst, deviation, step, packet_size];
    /// UDP packets with the times and sizes of a CSV or pcap file.
    Trace = "trace" has [ecn, file, src, dst];
    /// UDP voice: a packet every 20 ms, or 30 ms of `g723.1`.
    Voip = "voip" has [codec, ecn, frame_rate, packet_size];
    /// UDP video: frames of several packets, larger ones at regular intervals.
    Video = "video" has [ecn, frame_rate, frame_size, key_every, key_size, packet_size];
    /// UDP of an online game: a small packet of random size at each tick.
    Game = "game" has [ecn, frame_rate, size, packet_size];
    /// UDP requests that the other end answers: a probe of the round-trip time.
    Ping = "ping" has [ecn, interval, packet_size];
    /// UDP as fast as TCP-Friendly Rate Control allows: TCP's mean rate, but smoother.
    Tfrc = "tfrc" has [ecn, max_rate, damping, history_discounting, packet_size];
    /// A download over QUIC, by the quinn stack itself; for builds with it.
    Quic = "quic" has [ecn, congestion, size, packet_size];
    /// A download over UDP by a transport of your own, in a shared library.
    Stack = "stack" has [ecn, file, options, size, packet_size];
    /// Programs of this machine, on the linux engine in virtual time.
    Program = "program" has [command, server, packet_size];
}

params! {
    /// Some flows of one kind.
    pub struct TrafficTable {
        /// Its name in results and in `--set traffic.NAME.count=…`.
        name: String = String::new(), "";
        /// The kind of its flows.
        kind: KindName = KindName::Ftp, "";
        /// Number of flows; for `short`, of arrival processes; for `web` and `dash`, of clients.
        count: u32 = 1, "flows", Range::new(0.0, 1e7);
        /// Nodes that send, assigned to the flows in turn; in a dumbbell also the group `senders`.
        from: Vec<String> = vec!["senders".to_owned()], "";
        /// Nodes that receive, assigned to the flows in turn; in a dumbbell also the group `receivers`.
        to: Vec<String> = vec!["receivers".to_owned()], "";
        /// One-way delays of the links of senders that it has for itself, in place of the dumbbell's group `senders`, as
        /// `dumbbell.sender_delay`: one host for each value, and at least `dumbbell.hosts`.
        sender_delay: Option<Vec<Distribution<Span>>> = None, "s", DELAYS;
        /// The same of receivers, in place of the group `receivers`.
        receiver_delay: Option<Vec<Distribution<Span>>> = None, "s", DELAYS;
        /// The longest time that a packet waits in the host that sends it, data and acknowledgements alike: each wait is drawn
        /// uniformly from 0 on, and no packet overtakes another of its flow. Hosts have such jitter; it ends phase effects.
        send_jitter: Span = Span::ZERO, "s", Range::new(0.0, 10.0);
        /// Size of a full data packet on the wire, including headers; auto is 1500 B, for `voip` what the
        /// codec makes in 20 ms (of `g723.1` 30 ms) and 40 B of headers, for `ping` 84 B.
        packet_size: Option<Bytes> = None, "bytes", Range::new(HEADER as f64 + 1.0, 65535.0);
        /// Class of service of its packets in both directions, for queue disciplines that distinguish classes; 1 is
        /// the first.
        class: u32 = 1, "", Range::new(1.0, CLASSES as f64);
        /// Differentiated services code point of its packets in both directions, by name: `BE`, `LE`, `CS1` to `CS7`,
        /// `AF11` to `AF43`, `VA`, `EF`; for `cake`.
        dscp: Dscp = Dscp::Be, "";
        /// When each flow starts: a time, or a distribution such as `uniform(0 s, 1 s)` or `exponential(1 s)`, whose
        /// argument is the mean; counted from the start of `active` if that is set.
        start: Distribution<Span> = Distribution::Fixed(Span::ZERO), "s", Range::new(0.0, 1e7);
        /// When the application stops producing; auto never does. Unacknowledged data is still delivered.
        stop: Option<Span> = None, "s", Range::new(0.0, 1e7);
        /// Start and end of its activity, as in `["50 s", "150 s"]`: sets start and stop together.
        active: Option<Vec<Span>> = None, "s", Range::new(0.0, 1e7);
        /// Payload of a `transfer`, of each `short` flow or of each `web` object: a size, `uniform(1 kB, 9 kB)`,
        /// `exponential(10 kB)` or `pareto(10 kB, 1.3)` (mean, shape). A transfer without it lasts until `stop`; for
        /// `web`, auto is pareto(10 kB, 1.3). Of `game`, the size of a packet on the wire, at
        /// most `packet_size`; auto is uniform(60 B, 180 B). Of `quic` and `stack`, the download; auto is without end.
        size: Option<Distribution<Bytes>> = None, "bytes", Range::new(1.0, 1e15);
        /// How long the application of each `short` flow produces.
        lifetime: Option<Distribution<Span>> = None, "s", Range::above(0.0, 1e7);
        /// Arrivals of `short` flows per second, as a Poisson process.
        arrival_rate: Option<Frequency> = None, "/s", Range::above(0.0, 1e6);
        /// The time between arrivals of `short` flows, in place of `arrival_rate`: `pareto(10 ms, 1.5)`.
        interarrival: Option<Distribution<Span>> = None, "s", Range::above(0.0, 1e7);
        /// Connections that a `web` client opens for a session.
        connections: u32 = 1, "connections", Range::new(1.0, 1000.0);
        /// Objects that a `web` client fetches in a session.
        objects: u32 = 1, "objects", Range::new(1.0, 1e6);
        /// Size of a request on the wire, including headers: one packet of the receiver, on the connection that it opens, for
        /// each object of `web` and chunk of `dash`, or for a `transfer`, which begins when the request has arrived. Auto is
        /// 300 B for `web` and `dash`; a transfer without it is opened by its sender.
        request: Option<Bytes> = None, "bytes", Range::new(HEADER as f64 + 1.0, 65535.0);
        /// How long a `web` client thinks between sessions.
        think: Distribution<Span> = Distribution::Exponential(Span::s(50)), "s", Range::new(0.0, 1e7);
        /// Bitrates of the versions of a `dash` video, from which its client chooses for each chunk.
        bitrates: Vec<Rate> = BITRATES.map(|kbit| Rate::bit_per_s(1000 * kbit)).to_vec(), "bit/s", Range::new(1e3, 1e11);
        /// Duration of a chunk of a `dash` video.
        chunk: Span = Span::s(4), "s", Range::new(0.1, 60.0);
        /// The most of a `dash` video that its client has ahead of what it plays; with less room than a chunk it waits.
        playback_buffer: Span = Span::s(30), "s", Range::new(0.1, 3600.0);
        /// The ECN codepoint of its datagrams: Not-ECT, ECT(0) or ECT(1); a queue may mark the latter two instead of
        /// dropping them. Of the sources only `tfrc`, `quic` (which has no ECT(1)) and `stack` (which sets it itself) respond to marks. TCP has its own `ecn`.
        ecn: Ecn = Ecn::None, "";
        /// Rate on the wire: of `cbr`; of `on-off` while on; the mean of `poisson` and `fgn`.
        rate: Rate = Rate::mbit_per_s(1), "bit/s", Range::new(1.0, 1e11);
        /// Packets that a `cbr` flow sends at once, at the same rate: QUIC in user space paces by timers, and sends what belongs to
        /// an interval together.
        pacing_burst: u32 = 1, "packets", Range::new(1.0, 1000.0);
        /// Duration of an on period of an `on-off` flow, rounded to whole packets, at least one.
        on: Distribution<Span> = Distribution::Exponential(Span::ms(500)), "s", Range::above(0.0, 1e7);
        /// Duration of an off period of an `on-off` flow, which starts with one.
        off: Distribution<Span> = Distribution::Exponential(Span::ms(500)), "s", Range::new(0.0, 1e7);
        /// The Hurst parameter of `fgn`: 0.5 is white noise, towards 1 the rate persists longer.
        hurst: f64 = 0.8, "", Range::new(0.01, 0.99);
        /// Standard deviation of the rate of `fgn` in one `step`, as a fraction of `rate`. Negative rates count as 0,
        /// which raises the mean: not noticeably at 0.3, by 0.4 % at 0.5, by 8 % at 1.
        deviation: f64 = 0.3, "", Range::new(0.0, 10.0);
        /// Duration of each rate of `fgn`; at most 4194304 fit in a run.
        step: Span = Span::ms(10), "s", Range::new(1e-5, 1e3);
        /// The recording that `trace` replays: CSV with columns `time` (s, or dates) and `size` (bytes of the IP
        /// packet), pcap or pcapng. Its first packet is sent at the start. Of `stack`, the shared library. A file is looked for
        /// in the scenario's folder, then in the current folder.
        file: Option<String> = None, "";
        /// The source of the packets of a capture that `trace` replays: an address, or a network such as `10.0.0.0/8`. A
        /// capture has the packets of both directions, which a trace sends in one; auto keeps all.
        src: Option<String> = None, "";
        /// Their destination, likewise.
        dst: Option<String> = None, "";
        /// Frames per second of `voip` and `video`, ticks of `game`; auto is that of the codec for voip (50, of `g723.1`
        /// 33.3), 30 for video and game.
        frame_rate: Option<Frequency> = None, "/s", Range::new(0.1, 1e5);
        /// The codec of `voip`, on which `packet_size`, `frame_rate` and `mos` depend. It sends all the time.
        codec: Codec = Codec::G711, "";
        /// Size of a frame of `video` on the wire; a frame is sent at once in packets of `packet_size`, the last one
        /// smaller.
        frame_size: Bytes = Bytes(6000), "bytes", Range::new(1.0, 1e8);
        /// Number of frames of `video` from one key frame to the next, beginning with the first; 0 for no key frames.
        key_every: u32 = 30, "frames", Range::new(0.0, 1e6);
        /// Size of a key frame of `video` on the wire.
        key_size: Bytes = Bytes(30_000), "bytes", Range::new(1.0, 1e8);
        /// The time from one request of `ping` to the next.
        interval: Span = Span::ms(200), "s", Range::new(1e-4, 1e7);
        /// The most that the application of `tfrc` has to send, on the wire, as of a codec that follows the allowed rate up
        /// to its best quality; auto is without end.
        max_rate: Option<Rate> = None, "bit/s", Range::new(1.0, 1e11);
        /// Whether the pace of `tfrc` falls and rises with the latest round-trip time, which damps oscillations (RFC 5348,
        /// section 4.5).
        damping: bool = false, "";
        /// Whether the receiver of `tfrc` counts loss intervals less after a long time without loss (RFC 5348, section 5.5).
        history_discounting: bool = true, "";
        /// The congestion control of the sender of `quic`.
        congestion: QuicControl = QuicControl::Cubic, "";
        /// Settings for the library of `stack`, in its own words.
        options: Option<String> = None, "";
        /// The words of the command that a `program` entry runs at `from`, `count` times: `["iperf3", "-c", "{peer}"]`. In each
        /// word `{address}` is replaced with the address of the node where it runs, `{peer}` with that of the other end, and
        /// `{n}` with the number of the process, from 1 on.
        command: Option<Vec<String>> = None, "";
        /// The words of the command that a `program` entry runs at each node of `to`, from before the start of the run; with
        /// `{n}` or `{peer}` in it, once for each process of `command`.
        server: Option<Vec<String>> = None, "";
    }
}

/// The default size of a packet.
pub(crate) const DEFAULT_PACKET: Bytes = Bytes(1500);
/// The default size of a request.
const REQUEST: Bytes = Bytes(300);
/// RTP, UDP and IP.
const VOICE_HEADERS: u64 = 40;
/// 56 bytes of data and the headers of IP and ICMP, as ping sends them.
const PING_PACKET: Bytes = Bytes(84);
const VIDEO_FRAMES: Frequency = Frequency(30.0);
/// In kbit/s: the ladder of Huang et al., "A buffer-based approach to rate adaptation", SIGCOMM 2014.
const BITRATES: [u64; 10] = [235, 375, 560, 750, 1050, 1400, 1750, 2350, 3600, 5000];
/// What the servers of shooters send to a player: Färber, "Network game traffic modelling", NetGames 2002.
const GAME_PACKET: Distribution<Bytes> = Distribution::Uniform(Bytes(60), Bytes(180));

/// RED+Tail's files: at least 2.3 kB, with a mean of 10 kB.
const WEB_OBJECT: Distribution<Bytes> = Distribution::Pareto(Bytes(10_000), 1.3);

/// The keys of a traffic entry that only some kinds have, each with these kinds.
pub(crate) fn owned() -> Vec<(&'static str, Vec<KindName>)> {
    let mut owned: Vec<(&str, Vec<KindName>)> = Vec::new();
    for &kind in KindName::ALL {
        for &key in kind.keys() {
            match owned.iter_mut().find(|(known, _)| *known == key) {
                Some((_, kinds)) => kinds.push(kind),
                None => owned.push((key, vec![kind])),
            }
        }
    }
    owned
}

/// Whether traffic of this kind has the key.
pub(crate) fn has(kind: KindName, key: &str) -> bool {
    kind.keys().contains(&key) || KindName::ALL.iter().all(|other| !other.keys().contains(&key))
}

/// The name of a value of a choice.
pub(crate) fn chosen(choice: &impl aqm::params::Field) -> String {
    match choice.value() {
        Value::Text(name) => name,
        other => other.to_string(),
    }
}

/// A `[[traffic]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TrafficEntry {
    pub(crate) path: String,
    pub(crate) table: TrafficTable,
    pub(crate) tcp: Tcp,
    /// The preset on which its TCP is based, if one was named.
    pub(crate) preset: Option<String>,
    /// The content of `file`: a recording, or a library.
    pub(crate) arrivals: Arc<[Arrival]>,
    pub(crate) library: Arc<[u8]>,
    /// Whether `from` and `to` were written; otherwise they are the defaults.
    pub(crate) ends: [bool; 2],
}

/// The size of an entry's largest data packets on the wire.
pub(crate) fn packet_size(entry: &TrafficEntry) -> Bytes {
    let largest = entry.arrivals.iter().map(|arrival| Bytes(u64::from(arrival.size))).max();
    entry.table.packet_size.or(largest).unwrap_or(DEFAULT_PACKET)
}

impl TrafficEntry {
    /// The delays of the senders and the receivers that it has for itself.
    pub(crate) const fn own_delays(&self) -> [&Option<Vec<Distribution<Span>>>; 2] {
        [&self.table.sender_delay, &self.table.receiver_delay]
    }

    /// The model of its flows.
    pub(crate) fn kind(&self) -> TrafficKind {
        let (table, tcp) = (&self.table, || self.tcp.clone());
        let interval = period(table.frame_rate.unwrap_or(VIDEO_FRAMES));
        let size = table.size.unwrap_or(WEB_OBJECT);
        let udp = |udp| TrafficKind::Udp(udp, table.ecn);
        match table.kind {
            KindName::Ftp => TrafficKind::Ftp(tcp()),
            // Without a size, it ends at its stop, as a greedy flow does.
            KindName::Transfer => {
                let transfer = |size| Transfer { size, request: table.request };
                table.size.map_or_else(
                    || TrafficKind::Ftp(tcp()),
                    |size| TrafficKind::Transfer(tcp(), transfer(size)),
                )
            }
            KindName::Short => {
                let poisson = Distribution::Exponential(period(table.arrival_rate.unwrap_or(Frequency(1.0))));
                TrafficKind::Short(
                    tcp(),
                    Short {
                        interarrival: table.interarrival.unwrap_or(poisson),
                        extent: table.lifetime.map_or(Extent::Size(size), Extent::Lifetime),
                    },
                )
            }
            KindName::Web => TrafficKind::Web(
                tcp(),
                Web {
                    connections: table.connections,
                    objects: table.objects,
                    size,
                    request: table.request.unwrap_or(REQUEST),
                    think: table.think,
                    video: None,
                },
            ),
            KindName::Dash => TrafficKind::Web(tcp(), self.video()),
            KindName::Cbr => udp(Udp::Cbr { rate: table.rate, burst: table.pacing_burst }),
            KindName::OnOff => udp(Udp::OnOff { rate: table.rate, on: table.on, off: table.off }),
            KindName::Poisson => udp(Udp::Poisson(table.rate)),
            KindName::Fgn => udp(Udp::Fgn {
                rate: table.rate,
                hurst: table.hurst,
                deviation: table.deviation,
                step: table.step,
            }),
            KindName::Trace => udp(Udp::Trace(self.arrivals.clone())),
            KindName::Ping => udp(Udp::Ping(table.interval)),
            KindName::Tfrc => udp(Udp::Tfrc(Tfrc {
                max_rate: table.max_rate,
                damping: table.damping,
                discounting: table.history_discounting,
            })),
            KindName::Quic | KindName::Stack => udp(Udp::Stack(stack::download(table, &self.library))),
            KindName::Program => TrafficKind::Program(Program {
                command: table.command.clone().unwrap_or_default(),
                server: table.server.clone().unwrap_or_default(),
            }),
            KindName::Game => udp(Udp::Game { interval, size: table.size.unwrap_or(GAME_PACKET) }),
            KindName::Voip => udp(Udp::Frames {
                voice: Some(table.codec),
                interval,
                size: packet_size(self),
                key_every: 0,
                key_size: packet_size(self),
            }),
            KindName::Video => udp(Udp::Frames {
                voice: None,
                interval,
                size: table.frame_size,
                key_every: table.key_every,
                key_size: table.key_size,
            }),
        }
    }
}

impl TrafficEntry {
    /// A client that fetches chunks without end over one connection.
    fn video(&self) -> Web {
        let mut bitrates = self.table.bitrates.clone();
        bitrates.sort_unstable();
        let video = Video { bitrates, chunk: self.table.chunk, buffer: self.table.playback_buffer };
        Web {
            connections: 1,
            objects: u32::MAX,
            size: Distribution::Fixed(Bytes(video.size(video.bitrates.len() - 1))),
            request: self.table.request.unwrap_or(REQUEST),
            think: Distribution::Fixed(Span::ZERO),
            video: Some(Arc::new(video)),
        }
    }
}

/// The time between events of this frequency.
fn period(frequency: Frequency) -> Span {
    Span::from_secs(1.0 / frequency.0)
}

impl Reader<'_> {
    /// Reads a `[[traffic]]`.
    pub(super) fn traffic(&mut self, label: &str, table: &Table) -> TrafficEntry {
        let path = below("traffic", label);
        let mut read: TrafficTable = self.assigned(table, &path, &["tcp"]);
        read.name = label.to_owned();
        if self.fine(&[&below(&path, "kind")]) {
            belonging(&read, table, &path, self);
            whole(&read, &path, self);
        }
        fill(&mut read);
        let arrivals = self.arrivals(&mut read, &path);
        let library = self.library(&mut read, &path);
        let (tcp, preset) = match table.get("tcp") {
            Some(node) => self.tcp(node, &below(&path, "tcp")),
            None => (Tcp::unnamed(None), None),
        };
        room(&read, &tcp, &path, self);
        let ends = ["from", "to"].map(|key| table.get(key).is_some());
        TrafficEntry { path, table: read, tcp, preset, arrivals, library, ends }
    }

    /// The packets that a trace replays; sets the file to its full path.
    fn arrivals(&mut self, read: &mut TrafficTable, path: &str) -> Arc<[Arrival]> {
        let at = below(path, "file");
        let ends = [("src", &read.src), ("dst", &read.dst)].map(|(key, said)| {
            let found = said.as_ref()?.parse::<Network>();
            found
                .map_err(|must| {
                    self.refuse(&below(path, key), said.as_ref().map(|text| format!("{text:?}")), must)
                })
                .ok()
        });
        let Some(file) = read.file.as_mut().filter(|_| read.kind == KindName::Trace) else {
            return Arc::default();
        };
        self.recording(file, &at, |file| trace::read(file, ends)).unwrap_or_default()
    }

    /// The library of a stack; sets the file to its full path.
    fn library(&mut self, read: &mut TrafficTable, path: &str) -> Arc<[u8]> {
        let Some(file) = read.file.as_mut().filter(|_| read.kind == KindName::Stack) else {
            return Arc::default();
        };
        let load = |file: &Path| Ok((stack::load(file)?, None));
        self.recording(file, &below(path, "file"), load).unwrap_or_default()
    }

    /// What `read` finds in the file of a recording, which the value at `at` names, with its remark on it; sets the file
    /// to its full path.
    pub(super) fn recording<T>(
        &mut self,
        file: &mut String,
        at: &str,
        read: impl FnOnce(&Path) -> Result<(T, Option<String>), String>,
    ) -> Option<T> {
        let whole = self.document.file(file, &self.document.origin(at));
        let found = match whole.to_str() {
            Some(_) => read(&whole),
            None => Err("its whole path is not UTF-8: rename the folder, or move the file".to_owned()),
        };
        let found = found.map_err(|problem| self.refuse(at, Some(format!("{file:?}")), problem));
        let (found, remark) = found.ok().unzip();
        self.remarks.extend(remark.flatten().map(|remark| format!("{at} = {file:?}: {remark}")));
        *file = whole.display().to_string();
        found
    }
}

/// Sets the defaults that depend on the kind.
fn fill(table: &mut TrafficTable) {
    let voice = table.codec.voice();
    let frames = match table.kind {
        KindName::Voip => Some(Frequency(1.0 / voice.interval.secs())),
        KindName::Video | KindName::Game => Some(VIDEO_FRAMES),
        _ => None,
    };
    table.frame_rate = table.frame_rate.or(frames);
    let packet = match table.kind {
        KindName::Trace => None,
        // The codec's bits in its usual time, as whole bytes: in a live run, a changed `frame_rate` leaves the size.
        KindName::Voip => {
            let payload = (voice.rate / 8.0 * voice.interval.secs() - 1e-6).ceil() as u64;
            Some(Bytes(VOICE_HEADERS + payload))
        }
        KindName::Ping => Some(PING_PACKET),
        _ => Some(DEFAULT_PACKET),
    };
    let size = match table.kind {
        KindName::Web => Some(WEB_OBJECT),
        KindName::Game => Some(GAME_PACKET),
        _ => None,
    };
    if matches!(table.kind, KindName::Web | KindName::Dash) {
        table.request = table.request.or(Some(REQUEST));
    }
    table.packet_size = table.packet_size.or(packet);
    table.size = table.size.or(size);
}

/// Records the keys of an entry that its kind does not have.
fn belonging(read: &TrafficTable, table: &Table, path: &str, reader: &mut Reader<'_>) {
    for (key, kinds) in owned() {
        if let Some(node) = table.get(key)
            && !kinds.contains(&read.kind)
        {
            let kinds =
                kinds.iter().map(|kind| format!("{:?}", chosen(kind))).collect::<Vec<_>>().join(" or ");
            let message = format!("only for kind {kinds}; this entry's is {:?}", chosen(&read.kind));
            reader.refuse(&below(path, key), node.shown(), message);
        }
    }
}

/// Records missing keys that the kind requires, and keys that contradict each other.
fn whole(table: &TrafficTable, path: &str, reader: &mut Reader<'_>) {
    let mut either = |[a, b]: [&(&str, Option<String>); 2], neither: Option<&str>, both: Option<&str>| {
        let at = [a.0, b.0].map(|key| below(path, key));
        if !reader.fine(&[&at[0], &at[1]]) {
            return;
        }
        match (&a.1, &b.1, neither, both) {
            (None, None, Some(message), _) => reader.refuse(path, None, message),
            (Some(_), Some(found), _, Some(fix)) => {
                reader.refuse(&at[1], Some(found.clone()), format!("{} is given as well; {fix}", a.0));
            }
            _ => {}
        }
    };
    let (size, lifetime) = (("size", given(&table.size)), ("lifetime", given(&table.lifetime)));
    let (stop, active) = (("stop", given(&table.stop)), ("active", given(&table.active)));
    either([&active, &stop], None, Some("it sets the start and the stop, so remove this key"));
    match table.kind {
        KindName::Transfer => {
            if active.1.is_none() {
                either([&size, &stop], Some("a transfer needs a size or a stop"), None);
            }
            let at = ["size", "request"].map(|key| below(path, key));
            if let (None, Some(found), true) =
                (&table.size, given(&table.request), reader.fine(&[&at[0], &at[1]]))
            {
                reader.refuse(&at[1], Some(found), "only for a transfer with a size");
            }
        }
        KindName::Short => {
            let neither = "a short needs a size or a lifetime";
            either([&size, &lifetime], Some(neither), Some("a flow ends by one of the two"));
            let rate = ("arrival_rate", given(&table.arrival_rate));
            let gap = ("interarrival", given(&table.interarrival));
            let neither = "a short needs an arrival_rate or an interarrival";
            either([&rate, &gap], Some(neither), Some("flows arrive by one of the two"));
        }
        KindName::Dash if table.playback_buffer < table.chunk => {
            let at = below(path, "playback_buffer");
            if reader.fine(&[&at, &below(path, "chunk")]) {
                let message = format!("must have room for a chunk, {}", table.chunk.value());
                reader.refuse(&at, Some(table.playback_buffer.value().to_string()), message);
            }
        }
        KindName::Trace if table.file.is_none() && reader.fine(&[&below(path, "file")]) => {
            reader.refuse(path, None, "a trace needs a file, CSV or pcap");
        }
        KindName::Quic => stack::quic(table, path, reader),
        KindName::Stack if table.file.is_none() && reader.fine(&[&below(path, "file")]) => {
            reader.refuse(
                path,
                None,
                "a stack needs a file, a shared library with the functions of aqmlab_stack.h",
            );
        }
        KindName::Program => {
            let at = below(path, "command");
            if table.command.is_none() && reader.fine(&[&at]) {
                reader.refuse(path, None, "a program needs a command, such as [\"ping\", \"{peer}\"]");
            }
            for (key, words) in [("command", &table.command), ("server", &table.server)] {
                commanding(words.as_deref(), &below(path, key), reader);
            }
        }
        _ => {}
    }
}

/// Records a problem with the words of a command, if there is one.
fn commanding(words: Option<&[String]>, at: &str, reader: &mut Reader<'_>) {
    let message = match words {
        Some([]) => "must have the name of a program",
        Some([only]) if only.contains(char::is_whitespace) => {
            "must be a list of words, such as [\"ping\", \"{peer}\"]: no shell splits them"
        }
        Some(words) if words.iter().any(|word| word.contains('\0')) => "must not have the character U+0000",
        _ => return,
    };
    if reader.fine(&[at]) {
        reader.refuse(at, words.map(|words| format!("{words:?}")), message);
    }
}

/// Records a problem if TCP's header leaves no room for data in a segment.
fn room(table: &TrafficTable, tcp: &Tcp, path: &str, reader: &mut Reader<'_>) {
    let sizes = match table.kind {
        KindName::Ftp | KindName::Short => [table.packet_size, None],
        KindName::Transfer | KindName::Web | KindName::Dash => [table.packet_size, table.request],
        _ => [None, None],
    };
    for (key, size) in ["packet_size", "request"].into_iter().zip(sizes) {
        let at = below(path, key);
        let header = tcp.data_header();
        if let Some(size) = size.filter(|size| *size <= header)
            && reader.fine(&[&at, &below(path, "tcp")])
        {
            let option = if header > tcp.header { " and the option of Accurate ECN" } else { "" };
            let message = format!("must be more than tcp.header{option}, {}", header.value());
            reader.refuse(&at, Some(size.value().to_string()), message);
        }
    }
}

/// The text of a value in a message, if there is a value.
fn given(value: &Option<impl Field>) -> Option<String> {
    value.as_ref().map(|value| value.value().to_string())
}
