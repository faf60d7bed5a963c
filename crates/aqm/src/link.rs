//! A link behind a queue, for programs that have none: it takes packets, and hands them over when they have crossed it.

use crate::aqm::AnyParams;
use crate::contract::Port;
use crate::params::ParamError;
use crate::qdisc::{Ecn, Header, Qdisc};
use crate::queue::{Counts, Outcome};
use crate::unit::{Rate, Span, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A packet at the far end of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival<P> {
    /// The packet.
    pub packet: P,
    /// The ECN codepoint that it has from now on.
    pub ecn: Ecn,
    /// When it arrived.
    pub at: Time,
    /// How long it waited in the queue.
    pub waited: Span,
}

#[derive(Clone, Debug)]
struct Waiting<P> {
    packet: P,
    size: u32,
    since: Time,
}

/// A queue under any algorithm, and the link behind it. As a [`Qdisc`] it has no clock: every call states the time.
///
/// ```
/// use aqm::link::Link;
/// use aqm::{Header, Limit, Port, Rate, Span, Time};
///
/// let port = Port { delay: Span::ms(5), ..Port::new(Rate::mbit_per_s(12), Limit::Packets(100)) };
/// let mut link = Link::new(&"codel".parse()?, &port, 1)?;
/// link.send(Time::from_nanos(0), Header::new(1500), "a packet");
/// let at = link.next().expect("it is on its way");
/// assert_eq!(at, Time::from_nanos(6_000_000));
/// assert_eq!(link.receive(at).map(|arrival| arrival.packet), Some("a packet"));
/// # Ok::<(), aqm::params::ParamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Link<P> {
    queue: Qdisc<Waiting<P>>,
    rate: Rate,
    delay: Span,
    now: Time,
    /// When the link has sent the packet that it took last.
    free: Time,
    /// When it asks for the next one; `None` until one arrives.
    asks: Option<Time>,
    flying: VecDeque<Arrival<P>>,
    dropped: Vec<(P, Outcome)>,
}

impl<P> Link<P> {
    /// An idle link, with the rate and the delay of the port.
    ///
    /// # Errors
    /// If the parameters are out of range, do not fit together or do not fit the port.
    pub fn new(params: &AnyParams, port: &Port, seed: u64) -> Result<Self, ParamError> {
        Ok(Self {
            queue: Qdisc::new(params, port, seed)?,
            rate: port.rate,
            delay: port.delay,
            now: Time::ZERO,
            free: Time::ZERO,
            asks: None,
            flying: VecDeque::new(),
            dropped: Vec::new(),
        })
    }

    /// Sends a packet at the time `now`, which waits or is dropped.
    pub fn send(&mut self, now: Time, header: Header, packet: P) {
        self.advance(now);
        let now = self.now;
        self.queue.enqueue(now, header, Waiting { packet, size: header.size, since: now });
        self.settle();
        // Also if a shaper holds others back: this one may go first.
        self.asks = Some(self.free.max(now));
        self.work();
    }

    /// The next packet that has arrived at the far end by the time `now`; to be called until there is none.
    pub fn receive(&mut self, now: Time) -> Option<Arrival<P>> {
        self.advance(now);
        self.flying.front().filter(|arrival| arrival.at <= self.now)?;
        self.flying.pop_front()
    }

    /// When a packet arrives next, or the queue has something to do: the time of the next call of [`Link::receive`].
    /// `None` if nothing is on its way.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        let arrives = self.flying.front().map(|arrival| arrival.at);
        arrives.into_iter().chain(self.asks.filter(|_| !self.queue.is_empty())).min()
    }

    /// The packets that the last call dropped, with the reason: [`Outcome::DroppedEarly`] or [`Outcome::Overflowed`].
    /// Those that are not taken out are gone with the next call.
    pub fn dropped(&mut self) -> impl Iterator<Item = (P, Outcome)> {
        self.dropped.drain(..)
    }

    /// The number of packets that wait in the queue.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The counters of the queue since the start.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.queue.counts()
    }

    /// Begins a call, after everything that is due until then.
    fn advance(&mut self, now: Time) {
        self.dropped.clear();
        self.now = self.now.max(now);
        self.work();
    }

    /// Takes packets from the queue, each when the link is free.
    fn work(&mut self) {
        while let Some(at) = self.asks.filter(|at| *at <= self.now) {
            let sent = self.queue.dequeue(at);
            self.settle();
            let Some((Waiting { packet, size, since }, ecn)) = sent else {
                self.asks = self.queue.paused_until().map(|until| until.max(at + Span::ns(1)));
                continue;
            };
            self.free = at + self.rate.transmission(size);
            self.asks = Some(self.free);
            self.flying.push_back(Arrival {
                packet,
                ecn,
                at: self.free + self.delay,
                waited: at.since(since),
            });
        }
    }

    /// Keeps what the queue has just dropped.
    fn settle(&mut self) {
        self.dropped.extend(self.queue.dropped().map(|(waiting, outcome)| (waiting.packet, outcome)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Limit;

    const PORT: Port = Port { delay: Span::ms(5), ..Port::new(Rate::mbit_per_s(12), Limit::Packets(3)) };

    fn at(us: u64) -> Time {
        Time::from_nanos(1_000 * us)
    }

    fn link(name: &str) -> Link<u32> {
        Link::new(&name.parse().unwrap(), &PORT, 1).unwrap()
    }

    #[test]
    fn packets_leave_one_after_another_and_arrive_after_the_delay() {
        let mut link = link("droptail");
        for number in 0..5 {
            link.send(at(100), Header::new(1500), number);
        }
        assert_eq!(link.dropped().collect::<Vec<_>>(), [(4, Outcome::Overflowed)]);
        assert_eq!(link.waiting(), 3);
        for (number, ms) in (0..4).zip(0_u64..) {
            let due = at(6_100 + 1_000 * ms);
            assert_eq!(link.receive(Time::from_nanos(due.nanos() - 1)), None);
            let ecn = Ecn::NotEct;
            let expected = Arrival { packet: number, ecn, at: due, waited: Span::ms(ms) };
            assert_eq!(link.receive(due), Some(expected));
        }
        assert_eq!(link.next(), None);
    }

    #[test]
    fn a_late_call_finds_what_earlier_ones_would_have_found() {
        let often = |step: u64| {
            let port = Port { limit: Limit::Packets(100), ..PORT };
            let mut link = Link::new(&"codel".parse().unwrap(), &port, 1).unwrap();
            let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
            for us in 0..2_000_000 {
                if us % 700 == 0 {
                    link.send(at(us), Header::new(1500), us as u32);
                    dropped.extend(link.dropped());
                }
                let mut asks = us % step == 0;
                while asks {
                    let arrival = link.receive(at(us));
                    dropped.extend(link.dropped());
                    asks = arrival.is_some();
                    arrived.extend(arrival);
                }
            }
            assert_eq!(dropped.len() as u64, link.counts().drops());
            (arrived, dropped)
        };
        let (arrived, dropped) = often(100);
        for reason in [Outcome::DroppedEarly, Outcome::Overflowed] {
            assert!(dropped.iter().filter(|(_, outcome)| *outcome == reason).count() > 20, "{reason:?}");
        }
        assert_eq!((arrived, dropped), often(2_800));
    }

    #[test]
    fn a_shaper_holds_packets_back_and_the_link_asks_again() {
        let mut link = link("tbf:rate=1 Mbit/s,burst=1500 B");
        link.send(at(0), Header::new(1500), 0);
        link.send(at(0), Header::new(1500), 1);
        assert_eq!(link.receive(at(6_000)).map(|arrival| arrival.packet), Some(0));
        let asks = link.next().unwrap();
        assert_eq!((asks.nanos() / 1_000_000, link.receive(asks)), (12, None));
        let arrives = link.next().unwrap();
        assert_eq!(link.receive(arrives).map(|arrival| arrival.packet), Some(1));
        assert_eq!(arrives, asks + Span::ms(6));
    }
}
