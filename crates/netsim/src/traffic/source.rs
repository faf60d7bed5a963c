//! Sources of datagrams: the size and time of each. Every flow has its own random stream, so that neither an AQM nor other
//! traffic moves a packet.

mod connection;
mod friendly;
mod pattern;

use crate::engine::rng::Stream;
use crate::traffic::plan;
use aqm::unit::{Span, Time};
pub(crate) use connection::{Connection, Departure};
pub(crate) use friendly::{Does, Ends};
use pattern::Pattern;
use run::Watch;
use scenario::model::{Ecn, Traffic, Udp};

/// A UDP sender with the counters of its receiver.
#[derive(Debug)]
pub struct Source {
    pub(crate) class: u16,
    pub(crate) forward: u32,
    /// Where the path of the answers or the reports starts, if the other end sends some.
    pub(crate) reverse: Option<u32>,
    /// The codepoint of its packets.
    pub(crate) ecn: Ecn,
    /// The time of the first packet; [`Time::MAX`] if there is none.
    pub(crate) start: Time,
    /// The same since it last started again, in a live run.
    pub(crate) since: Time,
    /// The time from which nothing is sent.
    pub(crate) stop: Time,
    /// Payload bytes that reached the other end, now and by the end of the warm-up.
    pub(crate) delivered: u64,
    pub(crate) delivered_at_warmup: u64,
    pattern: Pattern,
}

/// The path and the activity of a source.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The number of its traffic entry.
    pub class: u16,
    /// Where its path starts among the hops of the packet engine.
    pub forward: u32,
    /// Where the path of the answers starts there.
    pub reverse: u32,
    /// The codepoint of its packets.
    pub ecn: Ecn,
    /// The start of its activity.
    pub start: Time,
    /// The end of the run.
    pub end: Time,
}

/// A packet that is sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// Bytes on the wire.
    pub size: u16,
    /// The time to the next packet, if there is one.
    pub gap: Option<Span>,
}

impl Source {
    /// The flow with number `i` of `entry`, whose kind is `udp`, in the run with this seed; `None` if the watch stops the
    /// set-up.
    pub fn new(
        setting: Setting,
        entry: &Traffic,
        udp: &Udp,
        i: usize,
        seed: u64,
        watch: &mut Watch,
    ) -> Option<Self> {
        let Setting { class, forward, reverse, ecn, start, end } = setting;
        let stop = plan::stop(entry);
        let rng = Stream::new(seed, &format!("traffic.{}.{i}", entry.name));
        let active = stop.min(end).since(start);
        let mut pattern = Pattern::new(udp, entry.packet_size, active, rng, watch)?;
        let start = first(&mut pattern, start, stop);
        let reverse = matches!(udp, Udp::Ping(_) | Udp::Tfrc(_) | Udp::Stack(_)).then_some(reverse);
        Some(Self {
            class,
            forward,
            reverse,
            ecn,
            start,
            since: start,
            stop,
            delivered: 0,
            delivered_at_warmup: 0,
            pattern,
        })
    }

    /// Counts a packet with `payload` bytes that has reached the other end; `warming` is whether this is before the end of
    /// the warm-up, if the count at that time is not taken separately.
    #[inline]
    pub(crate) fn on_arrival(&mut self, payload: u64, warming: bool) {
        self.delivered += payload;
        self.delivered_at_warmup += if warming { payload } else { 0 };
    }

    /// The time of its first packet; [`Time::MAX`] if there is none.
    #[must_use]
    pub const fn start(&self) -> Time {
        self.start
    }

    /// Sends a packet; none is sent from [`stop`](plan::stop) on.
    #[inline]
    pub fn send(&mut self) -> Sent {
        self.pattern.send()
    }

    /// The ends of TFRC, if these are its packets.
    #[inline]
    pub(crate) fn ends(&self) -> Option<&Ends> {
        if let Pattern::Tfrc(ends) = &self.pattern { Some(ends) } else { None }
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn ends_mut(&mut self) -> Option<&mut Ends> {
        if let Pattern::Tfrc(ends) = &mut self.pattern { Some(ends) } else { None }
    }

    /// The ends of a stack from outside, if these are its packets.
    #[inline]
    pub(crate) fn connection(&self) -> Option<&Connection> {
        if let Pattern::Stack(connection) = &self.pattern { Some(connection) } else { None }
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn connection_mut(&mut self) -> Option<&mut Connection> {
        if let Pattern::Stack(connection) = &mut self.pattern { Some(connection) } else { None }
    }

    /// The warm-up is over.
    pub(crate) fn note_warmup(&mut self) {
        self.ends_mut().into_iter().for_each(Ends::note_warmup);
        self.connection_mut().into_iter().for_each(Connection::note_warmup);
    }

    /// Whether its ends send by themselves.
    #[inline]
    pub(crate) const fn has_ends(&self) -> bool {
        matches!(self.pattern, Pattern::Tfrc(_) | Pattern::Stack(_))
    }

    /// Sends nothing from now on; its event is off the list.
    pub(crate) fn rest(&mut self, now: Time) {
        self.ends_mut().into_iter().for_each(Ends::rest);
        self.connection_mut().into_iter().for_each(Connection::rest);
        if self.since <= now {
            self.stop = self.stop.min(now);
        } else {
            self.since = Time::MAX;
            self.start = if self.start > now { Time::MAX } else { self.start };
        }
    }

    /// Starts again at `at`, until `stop`.
    pub(crate) fn wake(&mut self, at: Time, stop: Time) {
        (self.since, self.stop) = (first(&mut self.pattern, at, stop), stop);
        self.start = self.start.min(self.since);
    }

    /// Follows another law of its kind; returns when the packet comes that was `due`.
    pub(crate) fn follow(&mut self, udp: &Udp, now: Time, due: Option<Time>) -> Option<Time> {
        // What has not begun begins at its time.
        let left = due.filter(|_| self.since <= now).map_or(Span::ZERO, |due| due.since(now));
        let left = self.pattern.follow(udp, left);
        if self.since <= now { due.and(left).map(|left| now + left) } else { due }
    }
}

/// The time of the first packet of what starts at `at`; [`Time::MAX`] if it is not before `stop`.
fn first(pattern: &mut Pattern, at: Time, stop: Time) -> Time {
    pattern.begin().map(|gap| at + gap).filter(|&first| first < stop).unwrap_or(Time::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;
    use scenario::model::TrafficKind;

    /// The packets that a flow with these keys sends within `seconds`: when in ns, and how large.
    fn sent(keys: &str, seconds: u64) -> (Vec<(u64, u16)>, f64) {
        let text = format!("duration = \"{seconds} s\"\n[dumbbell]\n[[traffic]]\nname = \"x\"\n{keys}");
        let scenario = Document::parse(&text, "test").unwrap().check().unwrap();
        let entry = &scenario.traffic[0];
        let TrafficKind::Udp(udp, ecn) = &entry.kind else { panic!("no UDP") };
        let (start, end) = (Time::ZERO + entry.begin, Time::ZERO + Span::s(seconds));
        let mut watch = Watch::default();
        let setting = Setting { class: 0, forward: 0, reverse: 0, ecn: *ecn, start, end };
        let mut source = Source::new(setting, entry, udp, 0, 1, &mut watch).expect("nobody stops it");
        let (mut packets, mut now) = (Vec::new(), source.start);
        while now < source.stop.min(end) {
            let sent = source.send();
            packets.push((now.nanos(), sent.size));
            let Some(gap) = sent.gap else { break };
            now += gap;
        }
        (packets, udp.mean_rate(entry.packet_size))
    }

    /// Asserts that a flow sends at its mean rate in the mean, which is `expected` bit/s.
    fn sends_at(keys: &str, seconds: u64, expected: f64, tolerance: f64) {
        let (packets, mean) = sent(keys, seconds);
        assert!((mean / expected - 1.0).abs() < 1e-4, "{keys}: {mean} is expected of {expected}");
        let bits: f64 = packets.iter().map(|(_, size)| 8.0 * f64::from(*size)).sum();
        let found = bits / seconds as f64;
        assert!((found / expected - 1.0).abs() < tolerance, "{keys}: {found} of {expected}");
    }

    /// The times between packets in us.
    fn gaps(packets: &[(u64, u16)]) -> Vec<u64> {
        packets.windows(2).map(|pair| (pair[1].0 - pair[0].0) / 1000).collect()
    }

    #[test]
    fn a_burst_is_whole_packets_and_the_silence_comes_on_top_of_their_spacing() {
        let keys = "kind = \"on-off\"\nrate = \"1 Mbit/s\"\npacket_size = \"125 B\"\noff = \"5 ms\"\n";
        let first = |on: &str| sent(&format!("{keys}on = \"{on}\"\n"), 1).0;
        let packets = first("3 ms");
        assert_eq!(packets[0].0, 6_000_000, "silence first");
        assert_eq!(gaps(&packets)[..7], [1000, 1000, 6000, 1000, 1000, 6000, 1000]);
        assert_eq!(gaps(&first("1.4 ms"))[..3], [6000, 6000, 6000]);
        assert_eq!(gaps(&first("1.6 ms"))[..3], [1000, 6000, 1000]);
        assert_eq!(gaps(&first("0.1 ms"))[..3], [6000, 6000, 6000], "at least a packet");
    }

    #[test]
    fn sources_send_at_their_mean_rate() {
        // Tolerances are five standard errors: of n periods on and off, of n packets, of n rates.
        let on_off = "kind = \"on-off\"\nrate = \"80 kbit/s\"\npacket_size = \"100 B\"\n";
        let exponential = format!("{on_off}on = \"exponential(1 s)\"\noff = \"exponential(1 s)\"\n");
        sends_at(&exponential, 20_000, 40e3, 5.0 * 0.5 * (2.0f64 / 1e4).sqrt());
        let uniform = format!("{on_off}on = \"uniform(0.5 s, 1.5 s)\"\noff = \"3 s\"\n");
        sends_at(&uniform, 40_000, 20e3, 5.0 * 0.75 * (1.0f64 / 12.0 / 1e4).sqrt());
        let pareto = format!("{on_off}on = \"1 s\"\noff = \"pareto(1 s, 3)\"\n");
        sends_at(&pareto, 20_000, 40e3, 5.0 * 0.5 * (1.0f64 / 3.0 / 1e4).sqrt());
        let poisson = "kind = \"poisson\"\nrate = \"1.2 Mbit/s\"\n";
        sends_at(poisson, 1000, 1.2e6, 5.0 / 1e5f64.sqrt());
        let noise = "kind = \"fgn\"\nrate = \"8 Mbit/s\"\npacket_size = \"1000 B\"\nhurst = 0.5\n";
        sends_at(&format!("{noise}deviation = 0.3\n"), 1000, 8e6 * 1.000_033_6, 5.0 * 0.3 / 1e5f64.sqrt());
        // The mean of a Gaussian with mean and deviation 1, of which the part below 0 counts as 0.
        sends_at(&format!("{noise}deviation = 1.0\n"), 1000, 8e6 * 1.083_32, 5.0 / 1e5f64.sqrt());
        sends_at(&format!("{noise}deviation = 0.0\n"), 1000, 8e6, 1e-6);
        sends_at("kind = \"cbr\"\nrate = \"1 Mbit/s\"\n", 1200, 1e6, 1e-6);
        sends_at("kind = \"voip\"\n", 100, 80e3, 1e-9);
        sends_at("kind = \"ping\"\ninterval = \"100 ms\"\n", 100, 6720.0, 1e-9);
        // Of 30 frames a second, 29 of 6000 B and one of 30 000 B; the last instant may see one more.
        sends_at("kind = \"video\"\n", 100, 8.0 * 204_000.0, 2e-3);
        // 30 packets a second of 120 bytes.
        sends_at("kind = \"game\"\n", 100, 8.0 * 3600.0, 2e-2);
    }

    #[test]
    fn gaps_of_a_poisson_source_are_exponential() {
        let (packets, _) = sent("kind = \"poisson\"\nrate = \"1.2 Mbit/s\"\n", 1000);
        let gaps: Vec<f64> = gaps(&packets).iter().map(|&us| us as f64 * 1e-4).collect();
        for level in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let beyond = gaps.iter().filter(|&&gap| gap > level).count() as f64 / gaps.len() as f64;
            let expected = (-level).exp();
            let error = (expected * (1.0 - expected) / gaps.len() as f64).sqrt();
            assert!((beyond - expected).abs() < 5.0 * error, "{beyond} beyond {level}, not {expected}");
        }
    }

    #[test]
    fn noise_carries_fractions_of_packets_and_is_silent_below_zero() {
        // 0.4 packets a step: without the carry there would be none.
        let slow = "kind = \"fgn\"\nrate = \"40 kbit/s\"\npacket_size = \"125 B\"\nstep = \"10 ms\"\ndeviation = 0.0\n";
        let (packets, _) = sent(slow, 100);
        assert_eq!(packets.len(), 4000);
        assert!(gaps(&packets).iter().all(|gap| gap.abs_diff(25_000) <= 1));
        let wild = "kind = \"fgn\"\nrate = \"10 Mbit/s\"\npacket_size = \"125 B\"\nstep = \"1 s\"\nhurst = 0.5\ndeviation = 10.0\n";
        let (packets, _) = sent(wild, 100);
        let silent = gaps(&packets).iter().filter(|&&gap| gap > 1_000_000).count();
        assert!(silent > 10, "{silent} of 100 s begin a silence; half of the rates are negative");
    }

    #[test]
    fn packets_of_a_frame_leave_together_the_last_one_smaller() {
        let keys = "kind = \"video\"\nframe_rate = \"10 /s\"\nframe_size = \"2500 B\"\nkey_size = \"3000 B\"\n\
                    key_every = 3\npacket_size = \"1000 B\"\n";
        let (packets, _) = sent(keys, 1);
        let key = |ms: u64| [(ms * 1_000_000, 1000); 3];
        let other = |ms: u64| [(ms * 1_000_000, 1000), (ms * 1_000_000, 1000), (ms * 1_000_000, 500)];
        assert_eq!(packets[..12], [key(0), other(100), other(200), key(300)].concat());
        let (without, _) = sent(&keys.replace("key_every = 3", "key_every = 0"), 1);
        assert_eq!(without[..6], [other(0), other(100)].concat());
    }

    #[test]
    fn packets_of_a_pacing_burst_leave_together_at_the_same_rate() {
        let keys = "kind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"125 B\"\n";
        let (packets, _) = sent(&format!("{keys}pacing_burst = 4\n"), 1);
        let burst = |ms: u64| [(ms * 1_000_000, 125); 4];
        assert_eq!(packets[..12], [burst(0), burst(4), burst(8)].concat());
        assert_eq!(packets.len(), sent(keys, 1).0.len());
    }

    #[test]
    fn a_trace_is_sent_as_recorded_after_the_start() {
        let file = std::env::temp_dir().join(format!("aqmlab-{}.csv", std::process::id()));
        std::fs::write(&file, "time,size\n3,100\n3.25,60\n3.25,1500\n9,1\n").unwrap();
        let keys = format!("kind = \"trace\"\nfile = {file:?}\nactive = [\"2 s\", \"7 s\"]\n");
        let (packets, _) = sent(&keys, 10);
        std::fs::remove_file(file).unwrap();
        let expected = [(2_000_000_000, 100), (2_250_000_000, 60), (2_250_000_000, 1500)];
        assert_eq!(packets, expected, "none after the end");
    }

    #[test]
    fn what_is_left_of_a_gap_becomes_as_much_shorter_as_the_gaps() {
        let source_of = |keys: &str| {
            let text = format!("duration = \"1000 s\"\n[dumbbell]\n[[traffic]]\nname = \"x\"\n{keys}");
            let entry = Document::parse(&text, "test").unwrap().check().unwrap().traffic.remove(0);
            let TrafficKind::Udp(udp, ecn) = &entry.kind else { panic!("no UDP") };
            let end = Time::ZERO + Span::s(1000);
            let setting = Setting { class: 0, forward: 0, reverse: 0, ecn: *ecn, start: Time::ZERO, end };
            let source = Source::new(setting, &entry, udp, 0, 1, &mut Watch::default());
            (source.expect("nobody stops it"), udp.clone())
        };
        for (keys, faster) in [
            ("kind = \"cbr\"\nrate = \"1 kbit/s\"", "2 kbit/s"),
            ("kind = \"cbr\"\npacing_burst = 2\nrate = \"1 kbit/s\"", "2 kbit/s"),
            ("kind = \"poisson\"\nrate = \"1 kbit/s\"", "2 kbit/s"),
            ("kind = \"fgn\"\ndeviation = 0.0\nrate = \"1 kbit/s\"", "2 kbit/s"),
            ("kind = \"on-off\"\non = \"999 s\"\noff = \"0 s\"\nrate = \"1 kbit/s\"", "2 kbit/s"),
            ("kind = \"ping\"\ninterval = \"6 s\"", "3 s"),
            ("kind = \"voip\"\nframe_rate = \"0.1 /s\"", "0.2 /s"),
            ("kind = \"game\"\nframe_rate = \"0.1 /s\"", "0.2 /s"),
        ] {
            let (mut source, _) = source_of(keys);
            let key = keys.rfind(" = ").unwrap();
            let (_, faster) = source_of(&format!("{} = \"{faster}\"", &keys[..key]));
            let gap =
                std::iter::repeat_with(|| source.send().gap.unwrap()).find(|gap| *gap > Span::ZERO).unwrap();
            let (now, due) = (source.start + Span::ns(gap.nanos() / 4), source.start + gap);
            let next = source.follow(&faster, now, Some(due)).unwrap();
            let (left, before) = ((next - now).secs(), (due - now).secs());
            assert!((left / before - 0.5).abs() < 1e-6, "{keys}: {left} of {before}");
        }
    }

    #[test]
    fn a_game_sends_a_packet_of_drawn_size_at_each_tick() {
        let (packets, _) = sent(
            "kind = \"game\"\nframe_rate = \"50 /s\"\nsize = \"exponential(100 B)\"\n\
                                 packet_size = \"300 B\"\n",
            10,
        );
        assert_eq!(packets.len(), 500);
        assert!(packets.iter().enumerate().all(|(i, &(at, _))| at == 20_000_000 * i as u64));
        let sizes = || packets.iter().map(|&(_, size)| size);
        // Room for a header, and no more than a full packet.
        assert_eq!((sizes().min(), sizes().max()), (Some(29), Some(300)));
    }
}
