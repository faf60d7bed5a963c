//! The upstream channel of a cable network (DOCSIS), which modems share by request and grant.
//!
//! Time is divided into MAP intervals of whole frames, and a frame into minislots. The head end, the CMTS, decides
//! which minislots of an interval are whose; it sends that, the MAP, before the interval begins.
//!
//! # Sources
//! CableLabs, "MAC and Upper Layer Protocols Interface Specification" (CM-SP-MULPIv3.1), clauses 7.2.1 (minislots,
//! MAPs, requests and grants) and C.2.2.7 (rates and burst); CableLabs' module of ns-3, docsis-ns3, and its
//! documentation.

use aqm::unit::{Bytes, Rate, Span};

/// Header and checksum of Ethernet, which rates count.
pub const ETHERNET: Bytes = Bytes(18);

/// The MAC header of DOCSIS, which they do not count.
pub const MAC_HEADER: u32 = 10;

/// The limits of a modem upstream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServiceFlow {
    /// Maximum sustained traffic rate.
    pub rate: Rate,
    /// Peak traffic rate, if there is one.
    pub peak: Option<Rate>,
    /// Maximum traffic burst.
    pub burst: Bytes,
}

/// The part of a link in a cable network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subscriber {
    /// The cable network, by its number in the scenario.
    pub cable: usize,
    /// The modem, by its number there.
    pub modem: usize,
    /// 0 from the modem, 1 to it.
    pub way: usize,
}

/// An upstream channel and its modems.
#[derive(Clone, PartialEq, Debug)]
pub struct Upstream {
    /// The name of its cable network.
    pub name: String,
    /// A frame.
    pub frame: Span,
    /// The frames of a MAP interval.
    pub frames: u64,
    /// The minislots of a frame.
    pub minislots: u64,
    /// The bytes of a minislot.
    pub minislot: u64,
    /// The time from when a MAP is made to its interval, without `delay`.
    pub lead: Span,
    /// The time that a signal takes from a modem to the head end.
    pub delay: Span,
    /// What other modems leave of the channel on average, if not all.
    pub free: Option<Rate>,
    /// By which part of that it varies at most from one interval to the next.
    pub variation: f64,
    /// Whether modems request before earlier requests are granted.
    pub pipelining: bool,
    /// Of its modems.
    pub flows: Vec<ServiceFlow>,
}

impl Upstream {
    /// The bytes that a packet takes, given those that rates count.
    #[must_use]
    pub const fn length(counted: u32) -> u32 {
        counted + MAC_HEADER
    }

    /// A MAP interval.
    #[must_use]
    pub const fn interval(&self) -> Span {
        Span::ns(self.frames * self.frame.nanos())
    }

    /// The minislots of a MAP interval.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        self.frames * self.minislots
    }

    /// The time from when a MAP is made to its interval.
    #[must_use]
    pub const fn advance(&self) -> Span {
        Span::ns(self.lead.nanos() + self.delay.nanos())
    }

    /// The time that a request takes to the head end: a frame each to prepare, send and decode it.
    #[must_use]
    pub const fn request(&self) -> Span {
        Span::ns(3 * self.frame.nanos() + self.delay.nanos())
    }

    /// All that the channel carries.
    #[must_use]
    pub fn rate(&self) -> Rate {
        let bits = 8 * self.minislots * self.minislot;
        Rate::bit_per_s((u128::from(bits) * 1_000_000_000 / u128::from(self.frame.nanos())) as u64)
    }

    /// The minislots of an interval that other modems leave, where `drawn` from 0 to 1 is the lot of the interval.
    #[must_use]
    pub fn free_slots(&self, drawn: f64) -> u64 {
        let Some(free) = self.free else { return self.slots() };
        let mean = free.bits() * self.interval().secs() / 8.0;
        let bytes = mean * (1.0 + self.variation * (2.0 * drawn - 1.0));
        ((bytes / self.minislot as f64).round() as u64).min(self.slots())
    }

    /// The time in s, without `delay`, that a packet with this many counted bytes takes on average if nothing else is
    /// sent. It comes at any time, waits for a request in a frame chosen at random, then for the interval whose MAP can
    /// grant it, and in that for its minislots, which are anywhere.
    #[must_use]
    pub fn idle_time(&self, counted: u32) -> f64 {
        let (frame, interval) = (self.frame.nanos(), self.interval().nanos());
        let frames = self.frames as f64;
        let mean = (frames - 1.0) / (2.0 * frames);
        let variance = (frames * frames - 1.0) / (12.0 * frames * frames);
        let until_request = self.interval().secs() * (0.5 + variance);
        let until_interval: f64 = (0..self.frames)
            .map(|i| {
                let requested = i * frame;
                let known = requested + self.request().nanos() + self.advance().nanos();
                let weight = (i as f64 / frames + 1.0 - mean) / frames;
                weight * Span::ns(known.div_ceil(interval) * interval - requested).secs()
            })
            .sum();
        let needed = u64::from(Self::length(counted)).div_ceil(self.minislot);
        let free = self.free_slots(0.5).max(1);
        let whole = (needed - 1) / free;
        let last = needed - whole * free;
        // The place of its last minislot is even from `last - 1` to the end.
        let places = last - 1..self.slots();
        let sum = self.frames_before(places.end) - self.frames_before(places.start);
        let before = sum as f64 / (places.end - places.start) as f64;
        until_request
            + until_interval
            + whole as f64 * self.interval().secs()
            + (before + 2.0) * self.frame.secs()
    }

    /// The sum over the first `slots` minislots of the frames before each.
    const fn frames_before(&self, slots: u64) -> u64 {
        let (whole, rest) = (slots / self.minislots, slots % self.minislots);
        self.minislots * (whole * whole.saturating_sub(1)) / 2 + whole * rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That of docsis-ns3: 1880 subcarriers of 50 kHz, six symbols in a frame, intervals of 15 frames.
    fn upstream() -> Upstream {
        Upstream {
            name: String::new(),
            frame: Span::us(135),
            frames: 15,
            minislots: 235,
            minislot: 48,
            lead: Span::us(1070),
            delay: Span::us(40),
            free: None,
            variation: 0.0,
            pipelining: true,
            flows: Vec::new(),
        }
    }

    #[test]
    fn a_channel_is_that_of_its_minislots() {
        assert_eq!(upstream().rate(), Rate::bit_per_s(668_444_444));
        assert_eq!(upstream().interval(), Span::us(2025));
        assert_eq!(upstream().slots(), 3525);
    }

    #[test]
    fn the_idle_time_is_the_mean_over_all_times_and_lots() {
        let up = upstream();
        let (frame, interval) = (135.0, 2025.0);
        // An arrival in the middle of each of many parts of an interval, each request of this interval and the next.
        let (mut sum, mut count) = (0.0, 0.0);
        let parts = 1500;
        for arrival in (0..parts).map(|part| (f64::from(part) + 0.5) / f64::from(parts) * interval) {
            for (own, next) in (0..15).flat_map(|own| (0..15).map(move |next| (own, next))) {
                let first = f64::from(own) * frame;
                let at = if first >= arrival { first } else { interval + f64::from(next) * frame };
                let begin = ((at + 3.0 * frame + 40.0 + 1110.0) / interval).ceil() * interval;
                sum += begin - arrival;
                count += 1.0;
            }
        }
        // 1510 bytes and the header are 32 minislots.
        let starts = 3525 - 32 + 1;
        let sent: f64 = (0..starts).map(|start| f64::from((start + 31) / 235 + 2) * frame).sum();
        let expected = (sum / count + sent / f64::from(starts)) * 1e-6;
        let found = up.idle_time(1518);
        assert!((found / expected - 1.0).abs() < 1e-6, "{found}, not {expected}");
    }

    #[test]
    fn what_others_leave_varies_evenly() {
        let up = Upstream { free: Some(Rate::mbit_per_s(10)), variation: 0.2, ..upstream() };
        // 10 Mbit/s are 2531 bytes in an interval, 52.7 minislots.
        assert_eq!([0.0, 0.5, 1.0].map(|drawn| up.free_slots(drawn)), [42, 53, 63]);
        assert_eq!(Upstream { free: Some(Rate::mbit_per_s(900)), ..up }.free_slots(0.5), 3525);
    }
}
