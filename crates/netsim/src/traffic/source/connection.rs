//! A connection of a stack from outside: its two ends, the datagrams that are under way, and when the ends are woken.

use crate::engine::rng::Stream;
use crate::stack::{self, Codepoint, Datagram, Logs, Stack, State, Wanted};
use aqm::Uniform as _;
use aqm::unit::{Bytes, Span, Time};
use scenario::model::{Download, Ecn, UDP_HEADER};
use std::collections::HashMap;

/// How often the ends are polled at one time before they count as stuck: far more than packets arrive at a nanosecond.
const MOST_POLLS: u32 = 10_000;

/// The two ends of a flow.
#[derive(Debug)]
pub(crate) struct Connection {
    download: Download,
    payload: u16,
    rng: Stream,
    /// The end that sends the data, and the end that asks for it, once the flow has begun.
    ends: Option<[Box<dyn Stack>; 2]>,
    /// The content of the datagrams under way, by number.
    contents: HashMap<u32, Vec<u8>>,
    /// The number of the next datagram.
    next: u32,
    /// Room for the datagrams of a poll.
    out: Vec<Datagram>,
    /// Whether each is polled now, whatever its time.
    due: [bool; 2],
    /// When they are woken; [`Time::MAX`] if not at all.
    wake: Time,
    /// The time of the last poll, and the polls then.
    polled: (Time, u32),
    begun: Time,
    has_stopped: bool,
    is_complete: bool,
    /// Bytes of payload that have arrived at the receiver, and those that its application has had, since the flow last began.
    arrived: u64,
    delivered: u64,
    /// What the sender counted before the flow last began, and by the end of the warm-up.
    earlier: u64,
    lost_at_warmup: u64,
    /// Whether its ends log, and what those logged that it has abandoned.
    qlog: bool,
    logs: Vec<Logs>,
}

/// A datagram that is sent now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// Whether the end sends it that sends the data.
    pub(crate) is_data: bool,
    pub(crate) number: u32,
    pub(crate) size: u16,
    pub(crate) ecn: Ecn,
}

impl Connection {
    pub(super) fn new(download: &Download, packet: Bytes, rng: Stream) -> Self {
        let payload = (packet.0 as u16).saturating_sub(UDP_HEADER as u16);
        Self {
            download: download.clone(),
            payload,
            rng,
            ends: None,
            contents: HashMap::new(),
            next: 0,
            out: Vec::new(),
            due: [false; 2],
            wake: Time::MAX,
            polled: (Time::MAX, 0),
            begun: Time::MAX,
            has_stopped: false,
            is_complete: false,
            arrived: 0,
            delivered: 0,
            earlier: 0,
            lost_at_warmup: 0,
            qlog: false,
            logs: Vec::new(),
        }
    }

    /// Its event has come. The flow begins if it has not and `active`, and stops if it has begun and is not `active`.
    pub(crate) fn on_event(&mut self, now: Time, active: bool) -> Result<(), String> {
        if self.wake <= now {
            self.wake = Time::MAX;
        }
        match &mut self.ends {
            None if active => {
                let size = self.download.size.map(|size| self.rng.draw(&size).0);
                let mut seed = [0; 32];
                seed.fill_with(|| (self.rng.uniform() * 256.0) as u8);
                let (stack, qlog) = (&self.download.stack, self.qlog);
                let wanted = Wanted { stack, size, payload: self.payload, seed, qlog };
                self.ends = Some(stack::make(&wanted)?);
                (self.begun, self.has_stopped, self.is_complete) = (now, false, false);
                self.due = [true; 2];
            }
            Some([sender, _]) if !active && !self.has_stopped => {
                self.has_stopped = true;
                sender.stop();
                self.due[0] = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether nothing can happen any more although the download is neither complete nor stopped.
    pub(crate) fn is_stuck(&mut self) -> bool {
        let waits = self.contents.is_empty()
            && self.ends.as_mut().is_some_and(|ends| ends.iter_mut().all(|end| end.timeout().is_none()));
        waits && !self.has_stopped && !self.is_complete
    }

    /// A datagram has come to one of the ends.
    pub(crate) fn on_arrival(&mut self, now: Time, number: u32, is_data: bool, ecn: Codepoint) {
        // A copy comes a second time, which a transport would notice and drop.
        if let (Some(content), Some(ends)) = (self.contents.remove(&number), &mut self.ends) {
            ends[usize::from(is_data)].recv(now, &content, ecn);
            self.due[usize::from(is_data)] = true;
            self.arrived += if is_data { content.len() as u64 } else { 0 };
        }
    }

    /// A datagram is lost.
    pub(crate) fn forget(&mut self, number: u32) {
        self.contents.remove(&number);
    }

    /// The datagrams whose content is kept.
    pub(crate) fn kept(&self) -> u64 {
        self.contents.len() as u64
    }

    /// Lets each end act that has had a datagram, or whose time has come. Returns whether one of them asks for more now.
    pub(crate) fn poll(&mut self, now: Time, mut send: impl FnMut(Departure)) -> Result<bool, String> {
        let Some(ends) = &mut self.ends else { return Ok(false) };
        self.polled = if self.polled.0 == now { (now, self.polled.1 + 1) } else { (now, 0) };
        let mut next = None;
        for ((end, is_data), due) in ends.iter_mut().zip([true, false]).zip(&mut self.due) {
            if !std::mem::take(due) && end.timeout().is_none_or(|timeout| timeout > now) {
                continue;
            }
            end.poll(now, &mut self.out)?;
            for Datagram { payload, ecn } in self.out.drain(..) {
                if payload.len() > usize::from(self.payload) {
                    let (given, most) = (payload.len(), self.payload);
                    return Err(format!(
                        "it sends a datagram of {given} B, and packet_size leaves room for {most} B"
                    ));
                }
                let size = (payload.len() + UDP_HEADER as usize) as u16;
                let number = self.next;
                self.next = self.next.wrapping_add(1);
                self.contents.insert(number, payload);
                send(Departure { is_data, number, size, ecn });
            }
            next = next.into_iter().chain(end.timeout().filter(|&timeout| timeout <= now)).min();
        }
        match next {
            Some(timeout) if self.polled.1 >= MOST_POLLS => Err(format!(
                "it asks again and again to be woken at {} s, which is not in the future of {} s",
                timeout.secs(),
                now.secs()
            )),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    /// When an event is needed, if none comes by then; the flow stops at `stop`.
    pub(crate) fn next_event(&mut self, stop: Time) -> Option<Time> {
        let stop = if self.has_stopped { Time::MAX } else { stop };
        let timeouts = self.ends.iter_mut().flatten().filter_map(|end| end.timeout());
        let next = timeouts.fold(stop, Time::min);
        (next < self.wake).then(|| {
            self.wake = next;
            next
        })
    }

    /// What the sender knows, if the flow has begun.
    pub(crate) fn sender(&self) -> Option<State> {
        self.ends.as_ref().map(|[sender, _]| sender.state())
    }

    /// The payload of a full packet, in which windows are counted.
    pub(crate) fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.payload)
    }

    /// The bytes that the application has had since the last call; and how long the download took, once, when it is complete
    /// and was not cut short.
    ///
    /// # Errors
    /// If the application has had more than has arrived.
    pub(crate) fn progress(&mut self, now: Time) -> Result<(u64, Option<Span>), String> {
        let Some([_, receiver]) = &self.ends else { return Ok((0, None)) };
        let State { delivered, complete, .. } = receiver.state();
        if delivered > self.arrived {
            return Err(format!(
                "its receiver has delivered {delivered} bytes, and {} have arrived",
                self.arrived
            ));
        }
        let fresh = delivered.saturating_sub(std::mem::replace(&mut self.delivered, delivered));
        let ends = complete && !std::mem::replace(&mut self.is_complete, complete);
        let took = (ends && self.download.size.is_some() && !self.has_stopped).then(|| now - self.begun);
        Ok((fresh, took))
    }

    /// The next of the round trips that the sender has measured.
    pub(crate) fn round_trip(&mut self) -> Option<Span> {
        self.ends.as_mut()?[0].round_trip()
    }

    /// Packets that the sender took for lost, over the whole run and by the end of the warm-up.
    pub(crate) fn lost(&self) -> [u64; 2] {
        [self.earlier + self.sender().map_or(0, |sender| sender.lost), self.lost_at_warmup]
    }

    /// The warm-up is over.
    pub(crate) fn note_warmup(&mut self) {
        [self.lost_at_warmup, _] = self.lost();
    }

    /// From now on its ends log what they do.
    pub(crate) fn log(&mut self) {
        self.qlog = true;
    }

    /// What its ends have logged, one connection after the other.
    pub(crate) fn logs(&self) -> impl Iterator<Item = Logs> {
        let now = self.ends.as_ref().filter(|_| self.qlog).map(|ends| ends.each_ref().map(|end| end.qlog()));
        self.logs.iter().cloned().chain(now)
    }

    /// Abandons its connection, until it begins another; its event is off the list.
    pub(super) fn rest(&mut self) {
        self.logs = self.logs().collect();
        [self.earlier, _] = self.lost();
        self.contents.clear();
        (self.ends, self.wake) = (None, Time::MAX);
        (self.arrived, self.delivered) = (0, 0);
    }
}
