//! Sources of datagrams: the size and time of each. Every flow has its own random stream, so that neither an AQM nor other
//! traffic moves a packet.

use crate::engine::rng::Stream;
use crate::traffic::{noise, plan};
use aqm::Uniform as _;
use aqm::unit::{Bytes, Rate, Span, Time};
use run::Watch;
use scenario::Distribution;
use scenario::model::{Arrival, Ecn, Traffic, UDP_HEADER, Udp};
use std::sync::Arc;

/// A UDP sender with the counters of its receiver.
#[derive(Debug)]
pub struct Source {
    pub(crate) class: u16,
    pub(crate) forward: u32,
    /// Where the path of the answers starts, if the other end answers.
    pub(crate) reverse: Option<u32>,
    /// The codepoint of its packets.
    pub(crate) ecn: Ecn,
    /// The time of the first packet; [`Time::MAX`] if there is none.
    pub(crate) start: Time,
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

/// The law by which packets are sent.
#[derive(Debug)]
enum Pattern {
    Cbr { size: u16, interval: Span },
    OnOff(OnOff),
    Poisson { size: u16, mean: f64, rng: Stream },
    Noise(Noise),
    Trace { arrivals: Arc<[Arrival]>, next: usize },
    Frames(Frames),
    Game(Game),
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
        let start = pattern.first().map_or(Time::MAX, |gap| start + gap);
        let reverse = matches!(udp, Udp::Ping(_)).then_some(reverse);
        Some(Self {
            class,
            forward,
            reverse,
            ecn,
            start,
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
}

impl Pattern {
    fn new(udp: &Udp, packet: Bytes, active: Span, rng: Stream, watch: &mut Watch) -> Option<Self> {
        let size = packet.0 as u16;
        Some(match udp {
            Udp::Cbr(rate) => Self::Cbr { size, interval: rate.transmission(packet.0 as u32) },
            Udp::Ping(interval) => Self::Cbr { size, interval: *interval },
            Udp::OnOff { rate, on, off } => {
                Self::OnOff(OnOff { size, rate: *rate, on: *on, off: *off, left: 0, rng })
            }
            Udp::Poisson(rate) => Self::Poisson { size, mean: 1.0 / rate.packets(packet), rng },
            Udp::Fgn { rate, hurst, deviation, step } => {
                let mean = rate.packets(packet);
                let law = RateLaw { mean, deviation: mean * deviation, hurst: *hurst, step: *step };
                Self::Noise(Noise::new(size, &law, active, rng, watch)?)
            }
            Udp::Game { interval, size: law } => {
                Self::Game(Game { most: packet.0, interval: *interval, law: *law, rng })
            }
            Udp::Trace(arrivals) => Self::Trace { arrivals: arrivals.clone(), next: 0 },
            Udp::Frames { interval, size: frame, key_every, key_size, .. } => Self::Frames(Frames {
                size,
                interval: *interval,
                frames: [key_size.0, frame.0],
                key_every: *key_every,
                number: 0,
                left: 0,
            }),
        })
    }

    /// The time from its start to its first packet.
    fn first(&mut self) -> Option<Span> {
        match self {
            Self::Cbr { .. } | Self::Game(_) => Some(Span::ZERO),
            Self::OnOff(on_off) => Some(on_off.gap()),
            Self::Poisson { mean, rng, .. } => Some(exponential(*mean, rng)),
            Self::Noise(noise) => noise.gap(),
            Self::Trace { arrivals, .. } => arrivals.first().map(|first| first.at),
            Self::Frames(frames) => {
                frames.left = frames.next();
                Some(Span::ZERO)
            }
        }
    }

    #[inline]
    fn send(&mut self) -> Sent {
        match self {
            Self::Cbr { size, interval } => Sent { size: *size, gap: Some(*interval) },
            Self::OnOff(on_off) => Sent { size: on_off.size, gap: Some(on_off.gap()) },
            Self::Poisson { size, mean, rng } => Sent { size: *size, gap: Some(exponential(*mean, rng)) },
            Self::Noise(noise) => Sent { size: noise.size, gap: noise.gap() },
            Self::Trace { arrivals, next } => {
                let sent = arrivals[*next];
                *next += 1;
                let gap = |next: &Arrival| Span::ns(next.at.nanos() - sent.at.nanos());
                Sent { size: sent.size, gap: arrivals.get(*next).map(gap) }
            }
            Self::Frames(frames) => frames.send(),
            Self::Game(game) => game.send(),
        }
    }
}

/// An exponential span with this mean in seconds.
fn exponential(mean: f64, rng: &mut Stream) -> Span {
    Span::from_secs(-mean * libm::log(1.0 - rng.uniform()))
}

/// Bursts at a constant rate, as ns-2's exponential and Pareto sources send them: a time on is rounded to packets, at
/// least one, and the time off comes on top of the spacing.
#[derive(Debug)]
struct OnOff {
    size: u16,
    rate: Rate,
    on: Distribution<Span>,
    off: Distribution<Span>,
    /// Packets left of the burst.
    left: u64,
    rng: Stream,
}

impl OnOff {
    /// The time to the next packet from the last, or from the start.
    #[inline]
    fn gap(&mut self) -> Span {
        let mut gap = self.rate.transmission(u32::from(self.size));
        if self.left == 0 {
            let on = self.rng.draw(&self.on).secs();
            let packets = on * self.rate.packets(Bytes(u64::from(self.size)));
            self.left = (packets.round() as u64).max(1);
            gap = gap + self.rng.draw(&self.off);
        }
        self.left -= 1;
        gap
    }
}

/// Packets at a rate that follows fractional Gaussian noise, evenly spaced while it holds. A fraction of a packet is
/// carried from step to step.
#[derive(Debug)]
struct Noise {
    size: u16,
    /// Packets per second in each step.
    rates: Box<[f64]>,
    /// The length of a step in s.
    length: f64,
    /// The step reached, and how far into it, in s.
    step: usize,
    into: f64,
    /// The fraction of a packet that is still to come before it is sent.
    due: f64,
    /// When the last packet was sent, after the start.
    last: Time,
}

/// The distribution of the rates, in packets per second, and the duration of each.
#[derive(Clone, Copy, Debug)]
struct RateLaw {
    mean: f64,
    deviation: f64,
    hurst: f64,
    step: Span,
}

impl Noise {
    fn new(size: u16, law: &RateLaw, active: Span, mut rng: Stream, watch: &mut Watch) -> Option<Self> {
        let RateLaw { mean, deviation, hurst, step } = *law;
        // Flows that start together do not send their first packets together.
        let due = 1.0 - rng.uniform();
        let steps = active.nanos().div_ceil(step.nanos()) as usize;
        let mut rates = noise::fractional(steps, hurst, &mut rng, watch)?;
        rates.iter_mut().for_each(|rate| *rate = (mean + deviation * *rate).max(0.0));
        let rates = rates.into_boxed_slice();
        Some(Self { size, rates, length: step.secs(), step: 0, into: 0.0, due, last: Time::ZERO })
    }

    /// The time to the next packet from the last, or from the start.
    fn gap(&mut self) -> Option<Span> {
        loop {
            let rate = *self.rates.get(self.step)?;
            let here = rate * (self.length - self.into);
            if here >= self.due && rate > 0.0 {
                break self.into += self.due / rate;
            }
            self.due -= here;
            self.step += 1;
            self.into = 0.0;
        }
        self.due = 1.0;
        // Absolute, so that no rounding adds up.
        let at = Time::ZERO + Span::from_secs(self.step as f64 * self.length + self.into);
        let gap = at.since(self.last);
        self.last = at;
        Some(gap)
    }
}

/// Frames, each cut into packets that are sent at once: full ones, then the rest.
#[derive(Debug)]
struct Frames {
    size: u16,
    interval: Span,
    /// Bytes of a key frame and of the others.
    frames: [u64; 2],
    key_every: u32,
    /// Frames since the last key frame.
    number: u32,
    /// Bytes left of the frame.
    left: u64,
}

impl Frames {
    /// Bytes of the next frame; the first of all is a key frame.
    fn next(&mut self) -> u64 {
        let key = self.key_every > 0 && self.number == 0;
        self.number = if self.number + 1 >= self.key_every { 0 } else { self.number + 1 };
        self.frames[usize::from(!key)]
    }

    #[inline]
    fn send(&mut self) -> Sent {
        let size = self.left.min(u64::from(self.size));
        self.left -= size;
        let mut gap = Span::ZERO;
        if self.left == 0 {
            self.left = self.next();
            gap = self.interval;
        }
        Sent { size: size as u16, gap: Some(gap) }
    }
}

/// A packet of drawn size at each tick.
#[derive(Debug)]
struct Game {
    most: u64,
    interval: Span,
    law: Distribution<Bytes>,
    rng: Stream,
}

impl Game {
    #[inline]
    fn send(&mut self) -> Sent {
        let size = self.rng.draw(&self.law).0.clamp(UDP_HEADER as u64 + 1, self.most);
        Sent { size: size as u16, gap: Some(self.interval) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;
    use scenario::model::Kind;

    /// The packets that a flow with these keys sends within `seconds`: when in ns, and how large.
    fn sent(keys: &str, seconds: u64) -> (Vec<(u64, u16)>, f64) {
        let text = format!("duration = \"{seconds} s\"\n[dumbbell]\n[[traffic]]\nname = \"x\"\n{keys}");
        let scenario = Document::parse(&text, "test").unwrap().check().unwrap();
        let entry = &scenario.traffic[0];
        let Kind::Udp(udp, ecn) = &entry.kind else { panic!("no UDP") };
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
