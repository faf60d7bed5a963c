//! Disciplines around others as in Linux: a discipline is asked for its next packet (`peek`) or for a packet (`dequeue`), and
//! one that has to decide to know it keeps the packet until it is asked for it. All times are nanoseconds.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) size: u32,
    pub(crate) class: usize,
    pub(crate) since: u64,
}

pub(crate) trait Qdisc {
    /// Whether the packet waits now.
    fn enqueue(&mut self, now: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool;
    fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting>;
    fn peek(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<u32>;
    fn len(&self) -> usize;
    /// When it is to be asked again.
    fn wake(&self) -> Option<u64> {
        None
    }
}

/// First in, first out, with a limit in packets; with `stale`, what has waited longer is dropped instead of sent.
pub(crate) struct Fifo {
    limit: usize,
    stale: Option<u64>,
    packets: VecDeque<Waiting>,
    kept: Option<Waiting>,
}

impl Fifo {
    pub(crate) fn new(limit: usize, stale: Option<u64>) -> Self {
        Self { limit, stale, packets: VecDeque::new(), kept: None }
    }
}

impl Qdisc for Fifo {
    fn enqueue(&mut self, _: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool {
        if self.len() >= self.limit {
            dropped.push(packet.number);
            return false;
        }
        self.packets.push_back(packet);
        true
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting> {
        if let Some(kept) = self.kept.take() {
            return Some(kept);
        }
        loop {
            let packet = self.packets.pop_front()?;
            if self.stale.is_none_or(|stale| now - packet.since <= stale) {
                return Some(packet);
            }
            dropped.push(packet.number);
        }
    }

    fn peek(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<u32> {
        if self.stale.is_some() && self.kept.is_none() {
            self.kept = self.dequeue(now, dropped);
        }
        self.kept.as_ref().or(self.packets.front()).map(|packet| packet.size)
    }

    fn len(&self) -> usize {
        self.packets.len() + usize::from(self.kept.is_some())
    }
}

/// The token bucket filter; a byte takes `byte` nanoseconds.
pub(crate) struct Tbf {
    pub(crate) child: Box<dyn Qdisc>,
    pub(crate) byte: i64,
    pub(crate) burst: i64,
    /// The time of a byte at the peak rate, and its bucket in bytes.
    pub(crate) peak: Option<(i64, i64)>,
    pub(crate) tokens: i64,
    pub(crate) peak_tokens: i64,
    pub(crate) checked: u64,
    pub(crate) until: Option<u64>,
    pub(crate) kept: Option<Waiting>,
}

impl Tbf {
    pub(crate) fn new(child: impl Qdisc + 'static, byte: i64, burst: i64, peak: Option<(i64, i64)>) -> Self {
        let (tokens, peak_tokens) = (byte * burst, peak.map_or(0, |(byte, bytes)| byte * bytes));
        let (checked, until, kept) = (0, None, None);
        Self { child: Box::new(child), byte, burst, peak, tokens, peak_tokens, checked, until, kept }
    }
}

impl Qdisc for Tbf {
    fn enqueue(&mut self, now: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool {
        let largest = self.burst.min(self.peak.map_or(i64::MAX, |(_, bytes)| bytes));
        if i64::from(packet.size) > largest {
            dropped.push(packet.number);
            return false;
        }
        self.child.enqueue(now, packet, dropped)
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting> {
        if let Some(kept) = self.kept.take() {
            return Some(kept);
        }
        self.until = None;
        let size = i64::from(self.child.peek(now, dropped)?);
        let gap = ((now - self.checked) as i64).min(self.byte * self.burst);
        let tokens = (gap + self.tokens).min(self.byte * self.burst) - size * self.byte;
        let peak =
            self.peak.map_or(0, |(byte, bytes)| (gap + self.peak_tokens).min(byte * bytes) - size * byte);
        if tokens < 0 || peak < 0 {
            self.until = Some(now + (-tokens).max(-peak) as u64);
            return None;
        }
        (self.checked, self.tokens, self.peak_tokens) = (now, tokens, peak);
        self.child.dequeue(now, dropped)
    }

    fn peek(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<u32> {
        if self.kept.is_none() {
            self.kept = self.dequeue(now, dropped);
        }
        self.kept.map(|packet| packet.size)
    }

    fn len(&self) -> usize {
        self.child.len() + usize::from(self.kept.is_some())
    }

    fn wake(&self) -> Option<u64> {
        self.until.or(self.child.wake())
    }
}

/// Strict priority, in the order of the classes.
pub(crate) struct Prio(pub(crate) Vec<Box<dyn Qdisc>>);

impl Qdisc for Prio {
    fn enqueue(&mut self, now: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool {
        self.0[packet.class].enqueue(now, packet, dropped)
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting> {
        self.0.iter_mut().find_map(|child| child.dequeue(now, dropped))
    }

    fn peek(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<u32> {
        self.0.iter_mut().find_map(|child| child.peek(now, dropped))
    }

    fn len(&self) -> usize {
        self.0.iter().map(|child| child.len()).sum()
    }

    fn wake(&self) -> Option<u64> {
        self.0.iter().filter_map(|child| child.wake()).min()
    }
}

/// Deficit round robin; each class with its quantum and its deficit.
pub(crate) struct Drr {
    pub(crate) classes: Vec<(Box<dyn Qdisc>, i64, i64)>,
    pub(crate) active: VecDeque<usize>,
}

impl Qdisc for Drr {
    fn enqueue(&mut self, now: u64, packet: Waiting, dropped: &mut Vec<u64>) -> bool {
        let class = packet.class;
        let (child, quantum, deficit) = &mut self.classes[class];
        let waits = child.enqueue(now, packet, dropped);
        if waits && !self.active.contains(&class) {
            self.active.push_back(class);
            *deficit = *quantum;
        }
        waits
    }

    fn dequeue(&mut self, now: u64, dropped: &mut Vec<u64>) -> Option<Waiting> {
        loop {
            let &class = self.active.front()?;
            let (child, quantum, deficit) = &mut self.classes[class];
            let size = child.peek(now, dropped);
            if child.len() == 0 {
                // The child has said that it has dropped all.
                self.active.pop_front();
                continue;
            }
            let size = i64::from(size?);
            if size <= *deficit {
                *deficit -= size;
                let packet = child.dequeue(now, dropped);
                if child.len() == 0 {
                    self.active.pop_front();
                }
                return packet;
            }
            *deficit += *quantum;
            self.active.rotate_left(1);
        }
    }

    fn peek(&mut self, _: u64, _: &mut Vec<u64>) -> Option<u32> {
        unimplemented!("nothing here is around it")
    }

    fn len(&self) -> usize {
        self.classes.iter().map(|(child, ..)| child.len()).sum()
    }

    fn wake(&self) -> Option<u64> {
        self.active.front().and_then(|class| self.classes[*class].0.wake())
    }
}
