//! The kernel's clocks: microseconds for round trips, milliseconds for timestamps, ticks for timers.

use aqm::unit::{Span, Time};

/// Simulated time starts so long after the clocks' zero, so that no stamp is zero, which means "none".
const EPOCH: Span = Span::s(1);

/// The present on the sender's or receiver's clocks.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// In simulated time.
    pub now: Time,
    /// In microseconds (`tcp_mstamp`).
    pub us: u64,
    /// In ticks of the timers' clock (`jiffies`).
    pub ticks: u32,
}

impl Clock {
    /// The clocks at `now`, with ticks so long.
    #[must_use]
    pub const fn at(now: Time, tick: Span) -> Self {
        let nanos = now.nanos() + EPOCH.nanos();
        Self { now, us: nanos / 1000, ticks: (nanos / tick.nanos()) as u32 }
    }

    /// In milliseconds, the clock of timestamps (`TCP_TS_HZ`).
    #[must_use]
    pub const fn ms(&self) -> u32 {
        (self.us / 1000) as u32
    }
}

/// A moment on the clock of timestamps.
#[must_use]
pub const fn stamp(at: Time) -> u32 {
    ((at.nanos() + EPOCH.nanos()) / 1_000_000) as u32
}

/// Simulated time at which the clock of microseconds shows `us`.
#[must_use]
pub const fn instant(us: u64) -> Time {
    Time::from_nanos((us * 1000).saturating_sub(EPOCH.nanos()))
}

/// The ticks that cover these microseconds (`usecs_to_jiffies`).
#[must_use]
pub const fn ticks_of_us(us: u64, tick: Span) -> u32 {
    (us * 1000).div_ceil(tick.nanos()) as u32
}

/// Ticks that cover a span.
#[must_use]
pub const fn ticks_of(span: Span, tick: Span) -> u32 {
    span.nanos().div_ceil(tick.nanos()) as u32
}

/// The microseconds of these ticks (`jiffies_to_usecs`).
#[must_use]
pub const fn us_of_ticks(ticks: u32, tick: Span) -> u64 {
    ticks as u64 * tick.nanos() / 1000
}

/// When a timer that is set at tick `now` to expire at tick `expires` goes off: the wheel's slots are the wider the
/// later, and none goes off early (`calc_wheel_index`, kernel/time/timer.c).
#[must_use]
pub fn goes_off(now: u32, expires: u32, tick: Span) -> Time {
    /// Slots of a level minus one, and bits by which a level is coarser than the one before.
    const SLOTS: u32 = 63;
    const BITS: u32 = 3;
    let ahead = expires.saturating_sub(now);
    let level = (0..8).find(|level| ahead < SLOTS << (level * BITS)).unwrap_or(8);
    let slot = ((expires >> (level * BITS)) + 1) << (level * BITS);
    Time::from_nanos((u64::from(slot) * tick.nanos()).saturating_sub(EPOCH.nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Span = Span::ms(1);

    #[test]
    fn the_clocks_agree_on_the_present() {
        let clock = Clock::at(Time::ZERO + Span::us(2_345_678), TICK);
        assert_eq!((clock.us, clock.ticks, clock.ms()), (3_345_678, 3345, 3345));
        assert_eq!(stamp(clock.now), 3345);
        assert_eq!(instant(clock.us), clock.now);
        assert_eq!(Clock::at(Time::ZERO, Span::ms(4)).ticks, 250);
    }

    #[test]
    fn a_timer_goes_off_up_to_a_slot_late_and_never_early() {
        let ms = |now, expires| goes_off(now, expires, TICK).secs() * 1e3;
        // 40 ticks ahead: a slot is a tick; 250 ahead: eight; 1000 ahead: 64.
        assert_eq!(ms(1500, 1540), 541.0);
        assert_eq!(ms(1500, 1750), 752.0);
        assert_eq!(ms(1500, 1752), 760.0);
        assert_eq!(ms(1500, 2500), 1560.0);
    }

    #[test]
    fn a_span_takes_whole_ticks() {
        assert_eq!((ticks_of_us(1, TICK), ticks_of_us(2000, TICK), ticks_of_us(2001, TICK)), (1, 2, 3));
        assert_eq!((ticks_of(Span::ms(40), Span::ms(4)), us_of_ticks(10, Span::ms(4))), (10, 40_000));
    }
}
