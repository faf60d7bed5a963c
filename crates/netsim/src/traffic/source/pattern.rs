//! The laws by which the packets of a source follow each other.

use super::{Connection, Ends, Sent};
use crate::engine::rng::Stream;
use crate::traffic::{noise, stretched};
use aqm::Uniform as _;
use aqm::unit::{Bytes, Rate, Span, Time};
use run::Watch;
use scenario::Distribution;
use scenario::model::{Arrival, UDP_HEADER, Udp};
use std::sync::Arc;

/// The law by which packets are sent.
#[derive(Debug)]
pub(super) enum Pattern {
    Cbr {
        size: u16,
        interval: Span,
    },
    OnOff(OnOff),
    Poisson {
        size: u16,
        mean: f64,
        rng: Stream,
    },
    Noise(Noise),
    Trace {
        arrivals: Arc<[Arrival]>,
        next: usize,
    },
    Frames(Frames),
    Game(Game),
    /// Times follow from the reports.
    Tfrc(Box<Ends>),
    /// A stack from outside has its own.
    Stack(Box<Connection>),
}

impl Pattern {
    pub(super) fn new(
        udp: &Udp,
        packet: Bytes,
        active: Span,
        rng: Stream,
        watch: &mut Watch,
    ) -> Option<Self> {
        let size = packet.0 as u16;
        Some(match udp {
            Udp::Cbr { rate, burst: 1 } => Self::Cbr { size, interval: rate.transmission(packet.0 as u32) },
            // Bursts are frames of as many full packets.
            Udp::Cbr { rate, burst } => {
                let bytes = packet.0 * u64::from(*burst);
                let interval = rate.transmission(bytes as u32);
                Self::Frames(Frames { size, interval, frames: [bytes; 2], key_every: 0, number: 0, left: 0 })
            }
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
            Udp::Tfrc(tfrc) => Self::Tfrc(Box::new(Ends::new(tfrc, packet))),
            Udp::Stack(download) => Self::Stack(Box::new(Connection::new(download, packet, rng))),
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

    /// Begins, perhaps once more: a recording and frames from their first, noise where it was. Returns the time to its
    /// first packet.
    pub(super) fn begin(&mut self) -> Option<Span> {
        match self {
            Self::Cbr { .. } | Self::Game(_) | Self::Tfrc(_) | Self::Stack(_) => Some(Span::ZERO),
            Self::OnOff(on_off) => {
                on_off.left = 0;
                Some(on_off.gap())
            }
            Self::Poisson { mean, rng, .. } => Some(exponential(*mean, rng)),
            Self::Noise(noise) => noise.gap(),
            Self::Trace { arrivals, next } => {
                *next = 0;
                arrivals.first().map(|first| first.at)
            }
            Self::Frames(frames) => {
                frames.number = 0;
                frames.left = frames.next();
                Some(Span::ZERO)
            }
        }
    }

    /// Follows another law of its kind. The packet that was due in `left` is due in the time returned: as much sooner or
    /// later as the gaps are shorter or longer now.
    pub(super) fn follow(&mut self, udp: &Udp, left: Span) -> Option<Span> {
        let left = match (self, udp) {
            (Self::Cbr { size, interval }, Udp::Cbr { rate, .. }) => {
                rescaled(left, interval, rate.transmission(u32::from(*size)))
            }
            (Self::Frames(frames), Udp::Cbr { rate, .. }) => {
                rescaled(left, &mut frames.interval, rate.transmission(frames.frames[0] as u32))
            }
            (Self::Cbr { interval, .. }, Udp::Ping(next)) => rescaled(left, interval, *next),
            (Self::OnOff(on_off), Udp::OnOff { rate, on, off }) => on_off.follow(*rate, *on, *off, left),
            (Self::Poisson { size, mean, .. }, Udp::Poisson(rate)) => {
                let before = std::mem::replace(mean, 1.0 / rate.packets(Bytes(u64::from(*size))));
                stretched(left, *mean / before)
            }
            (Self::Noise(noise), Udp::Fgn { rate, .. }) => return noise.follow(*rate, left),
            (Self::Game(game), Udp::Game { interval, size }) => {
                game.law = *size;
                rescaled(left, &mut game.interval, *interval)
            }
            (Self::Frames(frames), Udp::Frames { interval, size, key_every, key_size, .. }) => {
                (frames.frames, frames.key_every) = ([key_size.0, size.0], *key_every);
                rescaled(left, &mut frames.interval, *interval)
            }
            (Self::Tfrc(ends), Udp::Tfrc(tfrc)) => {
                ends.follow(tfrc);
                left
            }
            _ => left,
        };
        Some(left)
    }

    #[inline]
    pub(super) fn send(&mut self) -> Sent {
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
            Self::Tfrc(_) | Self::Stack(_) => unreachable!("the ends send by themselves"),
        }
    }
}

/// The rest of a gap once gaps are `next` long.
fn rescaled(left: Span, gap: &mut Span, next: Span) -> Span {
    let before = std::mem::replace(gap, next);
    stretched(left, next.secs() / before.secs())
}

/// An exponential span with this mean in seconds.
fn exponential(mean: f64, rng: &mut Stream) -> Span {
    Span::from_secs(-mean * libm::log(1.0 - rng.uniform()))
}

/// Bursts at a constant rate, as ns-2's exponential and Pareto sources send them: a time on is rounded to packets, at
/// least one, and the time off comes on top of the spacing.
#[derive(Debug)]
pub(super) struct OnOff {
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

    /// Follows other parameters; of the time `left` before the next packet, the silence comes first.
    fn follow(&mut self, rate: Rate, on: Distribution<Span>, off: Distribution<Span>, left: Span) -> Span {
        let spacing = |rate: Rate| rate.transmission(u32::from(self.size));
        let (before, next) = (spacing(self.rate), spacing(rate));
        let spaced = left.min(before);
        let silent = Span::ns(left.nanos() - spaced.nanos());
        // A silence that has begun goes on if there were none before.
        let factor = if self.off.mean() > 0.0 { off.mean() / self.off.mean() } else { 1.0 };
        (self.rate, self.on, self.off) = (rate, on, off);
        stretched(silent, factor) + stretched(spaced, next.secs() / before.secs())
    }
}

/// Packets at a rate that follows fractional Gaussian noise, evenly spaced while it holds. A fraction of a packet is
/// carried from step to step.
#[derive(Debug)]
pub(super) struct Noise {
    size: u16,
    /// Packets per second in each step, and their mean.
    rates: Box<[f64]>,
    mean: f64,
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
        Some(Self { size, rates, mean, length: step.secs(), step: 0, into: 0.0, due, last: Time::ZERO })
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
        // Computed from the start, so that rounding errors do not add up.
        let at = Time::ZERO + Span::from_secs(self.step as f64 * self.length + self.into);
        let gap = at.since(self.last);
        self.last = at;
        Some(gap)
    }

    /// Follows another mean rate: the fraction of a packet that would have become due in `left` is still to come.
    fn follow(&mut self, rate: Rate, left: Span) -> Option<Span> {
        let now = Time::ZERO + Span::ns(self.last.since(Time::ZERO + left).nanos());
        let step = ((now.secs() / self.length) as usize).min(self.step);
        let into = now.secs() - step as f64 * self.length;
        if let Some(rate) = self.rates.get(self.step) {
            let whole: f64 = self.rates[step..self.step].iter().sum();
            self.due = (whole * self.length + rate * self.into - self.rates[step] * into).max(0.0);
            (self.step, self.into, self.last) = (step, into, now);
        }
        let mean = rate.packets(Bytes(u64::from(self.size)));
        self.rates.iter_mut().for_each(|rate| *rate *= mean / self.mean);
        self.mean = mean;
        self.gap()
    }
}

/// Frames, each cut into packets that are sent at once: full ones, then the rest.
#[derive(Debug)]
pub(super) struct Frames {
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
pub(super) struct Game {
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
