//! Time since the start of the run, by the system's monotonic clock, and a timer.

use aqm::unit::{Span, Time};
use rustix::event::epoll;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const SECOND: u64 = 1_000_000_000;

/// The clock of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// The start of the run on the monotonic clock, in ns.
    pub zero: u64,
}

impl Clock {
    /// A clock whose time zero is the first whole second after `lead` from now.
    #[must_use]
    pub fn starting_after(lead: Span) -> Self {
        Self { zero: (monotonic() + lead.nanos()).next_multiple_of(SECOND) }
    }

    /// The time; zero before the start.
    #[must_use]
    pub fn now(self) -> Time {
        Time::from_nanos(monotonic().saturating_sub(self.zero))
    }
}

impl Clock {
    /// Whether the run has begun.
    #[must_use]
    pub fn has_started(self) -> bool {
        monotonic() >= self.zero
    }
}

/// The clock of the day, by which the kernel notes when packets come, beside that of a run.
#[derive(Debug)]
pub struct Day {
    clock: Clock,
    /// By how much it is ahead of the monotonic clock, in ns.
    ahead: u64,
}

impl Day {
    /// In ns: the two clocks are read at one time if no more passes between.
    const CLOSE: u64 = 1_000;
    /// In ns: a greater change is a step.
    const STEP: u64 = 1_000_000;

    /// The clock of the day beside `clock`.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, ahead: Self::ahead() }
    }

    /// Compares the two clocks anew.
    ///
    /// # Errors
    /// If the clock of the day was set.
    pub fn look(&mut self) -> io::Result<()> {
        let before = std::mem::replace(&mut self.ahead, Self::ahead());
        if before.abs_diff(self.ahead) <= Self::STEP {
            return Ok(());
        }
        Err(io::Error::other(
            "the clock of the day was set during the run, by which the kernel notes when packets come: stop what sets it \
             (chrony, ntpd), or use clock=virtual",
        ))
    }

    /// The time of the run at a time of the day in ns.
    #[must_use]
    pub fn time(&self, day: u64) -> Time {
        Time::from_nanos(day.saturating_sub(self.ahead).saturating_sub(self.clock.zero))
    }

    fn ahead() -> u64 {
        let mut closest = (u64::MAX, 0);
        // An interrupt between the readings would shift all packets.
        for _ in 0..10 {
            let (before, day) = (monotonic(), nanos(ClockId::Realtime));
            closest = closest.min((monotonic() - before, day.saturating_sub(before)));
            if closest.0 <= Self::CLOSE {
                break;
            }
        }
        closest.1
    }
}

fn monotonic() -> u64 {
    nanos(ClockId::Monotonic)
}

fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * SECOND + now.tv_nsec as u64
}

/// A timer that becomes readable at a time of a clock.
#[derive(Debug)]
pub struct Timer {
    file: OwnedFd,
    clock: Clock,
    armed: Time,
}

impl Timer {
    /// A timer that is not armed.
    ///
    /// # Errors
    /// If the system has no more descriptors.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let file = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { file, clock, armed: Time::MAX })
    }

    /// Lets the timer go off at `at`, or at once if that is past, instead of when it would have.
    ///
    /// # Errors
    /// None that can occur.
    pub fn arm(&mut self, at: Time) -> io::Result<()> {
        if self.armed == at {
            return Ok(());
        }
        self.armed = at;
        let nanos = self.clock.zero.saturating_add(at.nanos());
        let value = Timespec { tv_sec: (nanos / SECOND) as i64, tv_nsec: (nanos % SECOND) as i64 };
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = if at == Time::MAX { never } else { value };
        timerfd_settime(
            &self.file,
            TimerfdTimerFlags::ABSTIME,
            &Itimerspec { it_interval: never, it_value: value },
        )?;
        Ok(())
    }

    /// Notes that it has gone off: setting it anew makes it unreadable.
    pub const fn went_off(&mut self) {
        self.armed = Time::ZERO;
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Waits for readiness of some files.
pub struct Poll {
    file: OwnedFd,
    ready: Vec<epoll::Event>,
}

impl fmt::Debug for Poll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poll").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Poll {
    /// Nothing to wait for yet.
    ///
    /// # Errors
    /// If the system has no more descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: epoll::create(epoll::CreateFlags::CLOEXEC)?, ready: Vec::with_capacity(256) })
    }

    /// Adds a file; events on it have `token`.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn add(&self, file: impl AsFd, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.file, file, epoll::EventData::new_u64(token), flags)?)
    }

    /// Changes the events to wait for.
    ///
    /// # Errors
    /// If the file was not added.
    pub fn modify(&self, file: impl AsFd, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
        Ok(epoll::modify(&self.file, file, epoll::EventData::new_u64(token), flags)?)
    }

    /// Waits until some files are ready and returns their tokens and events.
    ///
    /// # Errors
    /// None that can occur.
    pub fn wait(&mut self) -> io::Result<impl Iterator<Item = (u64, epoll::EventFlags)> + '_> {
        self.ready.clear();
        while let Err(error) = epoll::wait(&self.file, rustix::buffer::spare_capacity(&mut self.ready), None)
        {
            // A debugger or a terminal interrupts.
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        Ok(self.ready.drain(..).map(|event| (event.data.u64(), event.flags)))
    }
}
