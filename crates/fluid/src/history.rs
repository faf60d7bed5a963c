//! Past values, which are looked up one round trip later.

/// Numbers of an interval besides those of the classes.
const SHARED: usize = 10;
/// Numbers of each class in an interval.
const OWN: usize = 4;

/// The course of the queue, the loss ratio and the windows, interval by interval: the queue and the windows as cubics
/// with the right values and slopes at both ends, the loss ratio, which may jump between intervals, as a parabola. Before
/// the first interval all is as it was at its start.
#[derive(Clone, Debug)]
pub(crate) struct History {
    classes: usize,
    stride: usize,
    /// A ring of intervals.
    data: Vec<f64>,
    /// Its capacity, a power of two.
    room: usize,
    /// The number of the oldest that is kept, and of the next.
    first: usize,
    next: usize,
    /// For each class the interval that was looked up last, and then that of the queue alone.
    cursors: Vec<usize>,
    /// The time for which values are kept, s.
    memory: f64,
    /// The values before the first interval: the queue, the loss ratio, the link's rate, and the window of each class.
    origin: Origin,
}

/// The values at all times before the start.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) q: f64,
    pub(crate) p: f64,
    pub(crate) capacity: f64,
    pub(crate) windows: Vec<f64>,
}

/// One interval without the classes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    /// Start and end, s.
    pub(crate) t: [f64; 2],
    /// The queue at both ends, and its slopes.
    pub(crate) q: [f64; 2],
    pub(crate) dq: [f64; 2],
    /// The loss ratio at the start, in the middle and at the end.
    pub(crate) p: [f64; 3],
    /// The link's rate, packets a second.
    pub(crate) capacity: f64,
}

/// The values at one time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Past {
    pub(crate) w: f64,
    pub(crate) q: f64,
    pub(crate) p: f64,
    pub(crate) capacity: f64,
}

#[inline]
fn cubic(s: f64, h: f64, [a, b]: [f64; 2], [da, db]: [f64; 2]) -> f64 {
    let (r, d) = (1.0 - s, b - a);
    a + s * d + s * r * (r * (h * da - d) - s * (h * db - d))
}

#[inline]
fn parabola(s: f64, [a, m, b]: [f64; 3]) -> f64 {
    a + s * (4.0 * m - 3.0 * a - b + 2.0 * s * (a + b - 2.0 * m))
}

impl History {
    pub(crate) fn new(memory: f64, step: f64, origin: Origin) -> Self {
        let classes = origin.windows.len();
        let stride = SHARED + OWN * classes;
        let room = ((2.0 * memory / step) as usize).clamp(64, 1 << 16).next_power_of_two();
        Self {
            classes,
            stride,
            data: vec![0.0; room * stride],
            room,
            first: 0,
            next: 0,
            cursors: vec![0; classes + 1],
            memory,
            origin,
        }
    }

    #[inline]
    fn at(&self, interval: usize) -> &[f64] {
        let start = (interval & (self.room - 1)) * self.stride;
        &self.data[start..start + self.stride]
    }

    /// Adds an interval; `own` gives the window of each class at both ends, and its slopes.
    pub(crate) fn push(&mut self, interval: &Interval, own: impl Fn(usize) -> [f64; OWN]) {
        let oldest = interval.t[1] - self.memory;
        while self.first + 1 < self.next && self.at(self.first + 1)[0] < oldest {
            self.first += 1;
        }
        if self.next - self.first == self.room {
            self.grow();
        }
        let start = (self.next & (self.room - 1)) * self.stride;
        let slot = &mut self.data[start..start + self.stride];
        let Interval { t, q, dq, p, capacity } = interval;
        slot[..SHARED].copy_from_slice(&[t[0], t[1], q[0], q[1], dq[0], dq[1], p[0], p[1], p[2], *capacity]);
        for class in 0..self.classes {
            let at = SHARED + OWN * class;
            slot[at..at + OWN].copy_from_slice(&own(class));
        }
        self.next += 1;
    }

    /// Doubles the capacity.
    #[cold]
    fn grow(&mut self) {
        let mut data = vec![0.0; 2 * self.room * self.stride];
        for interval in self.first..self.next {
            let start = (interval & (2 * self.room - 1)) * self.stride;
            data[start..start + self.stride].copy_from_slice(self.at(interval));
        }
        self.data = data;
        self.room *= 2;
    }

    /// The number of the interval of `t`, which is kept; a cursor has that of a time nearby.
    #[inline]
    fn find(&mut self, cursor: usize, t: f64) -> usize {
        let mut i = self.cursors[cursor].clamp(self.first, self.next - 1);
        while i + 1 < self.next && t >= self.at(i)[1] {
            i += 1;
        }
        while i > self.first && t < self.at(i)[0] {
            i -= 1;
        }
        self.cursors[cursor] = i;
        i
    }

    /// The queue at `t`, which may lie in the past.
    fn queue(&mut self, t: f64) -> f64 {
        if t < 0.0 || self.next == self.first {
            return self.origin.q;
        }
        let i = self.find(self.classes, t);
        let interval = self.at(i);
        let (start, h) = (interval[0], interval[1] - interval[0]);
        let s = ((t - start) / h).clamp(0.0, 1.0);
        cubic(s, h, [interval[2], interval[3]], [interval[4], interval[5]])
    }

    /// How long the packet that leaves at `t` has waited, if the link sent `c` packets per second: as long as it takes to
    /// send the queue at its arrival. `most` is the longest wait.
    pub(crate) fn sojourn(&mut self, t: f64, c: f64, most: f64) -> f64 {
        // The rest of the queue that it found falls as the assumed wait grows: regula falsi, by the rule of Illinois.
        let mut rest = |wait: f64| self.queue(t - wait).max(0.0) / c - wait;
        let (mut low, mut high) = ([0.0, rest(0.0)], [most, rest(most).min(0.0)]);
        if low[1] <= 0.0 || high[1] >= 0.0 {
            return if low[1] <= 0.0 { 0.0 } else { most };
        }
        let mut side = 0;
        for _ in 0..60 {
            let wait = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1]);
            let left = rest(wait);
            if left.abs() < 1e-10 || high[0] - low[0] < 1e-10 {
                return wait;
            }
            if left > 0.0 {
                low = [wait, left];
                high[1] *= if side > 0 { 0.5 } else { 1.0 };
                side = 1;
            } else {
                high = [wait, left];
                low[1] *= if side < 0 { 0.5 } else { 1.0 };
                side = -1;
            }
        }
        low[0]
    }

    /// The values at `t` for a class.
    #[inline]
    pub(crate) fn look(&mut self, class: usize, t: f64) -> Past {
        // The first interval starts at time 0, and as long as it is kept something before it may be asked for.
        if t < 0.0 || self.next == self.first {
            let Origin { q, p, capacity, windows } = &self.origin;
            return Past { w: windows[class], q: *q, p: *p, capacity: *capacity };
        }
        let i = self.find(class, t);
        let interval = self.at(i);
        let own = &interval[SHARED + OWN * class..SHARED + OWN * (class + 1)];
        let capacity = interval[9];
        let (start, h) = (interval[0], interval[1] - interval[0]);
        let s = ((t - start) / h).clamp(0.0, 1.0);
        Past {
            w: cubic(s, h, [own[0], own[1]], [own[2], own[3]]),
            q: cubic(s, h, [interval[2], interval[3]], [interval[4], interval[5]]),
            p: parabola(s, [interval[6], interval[7], interval[8]]).clamp(0.0, 1.0),
            capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(t: f64) -> f64 {
        1.0 + t - 2.0 * t * t + 0.5 * t * t * t
    }

    fn p(t: f64) -> f64 {
        0.1 + 0.02 * t * t
    }

    /// Intervals of 0.1 s in which the queue is a cubic in time, the window half of it, and p a parabola.
    fn history(memory: f64, intervals: usize) -> History {
        let dq = |t: f64| 1.0 - 4.0 * t + 1.5 * t * t;
        let origin = Origin { q: 7.0, p: 0.5, capacity: 1.0, windows: vec![3.0] };
        let mut history = History::new(memory, 0.1, origin);
        for i in 0..intervals {
            let t = [i as f64 * 0.1, (i + 1) as f64 * 0.1];
            let interval = Interval {
                t,
                q: t.map(q),
                dq: t.map(dq),
                p: [p(t[0]), p(f64::midpoint(t[0], t[1])), p(t[1])],
                capacity: 1.0,
            };
            history.push(&interval, |_| {
                let [a, b] = t.map(|t| 0.5 * q(t));
                let [da, db] = t.map(|t| 0.5 * dq(t));
                [a, b, da, db]
            });
        }
        history
    }

    #[test]
    fn cubics_and_parabolas_come_back_as_they_were() {
        let mut history = history(10.0, 40);
        for t in [0.0, 0.05, 1.234, 3.999, 0.37, 2.5] {
            let past = history.look(0, t);
            assert!((past.q - q(t)).abs() < 1e-12 && (past.w - 0.5 * q(t)).abs() < 1e-12, "{t}");
            assert!((past.p - p(t)).abs() < 1e-12, "{t}");
        }
        let before = history.look(0, -3.0);
        assert_eq!((before.w, before.q, before.p), (3.0, 7.0, 0.5));
    }

    #[test]
    fn a_packet_has_waited_for_the_queue_that_it_found() {
        let mut history = history(10.0, 40);
        history.origin.q = q(0.0);
        for (t, c) in [(0.5, 2.0), (0.1, 5.0), (0.7, 3.0)] {
            let wait = q(t) / c;
            assert!((history.sojourn(t + wait, c, 3.0) - wait).abs() < 1e-9, "{t}");
        }
        assert_eq!(history.sojourn(1.7, 1.0, 3.0), 0.0, "the queue is empty");
        history.origin.q = 7.0;
        let first = history.sojourn(0.1, 1.0, 30.0);
        assert!((first - 7.0).abs() < 1e-9, "the queue before the start counts: {first}");
    }

    #[test]
    fn the_ring_keeps_what_it_has_to_and_grows_when_it_must() {
        // 30 s are 300 intervals, for which there was room of half the number.
        let mut history = history(30.0, 1000);
        for t in [70.5, 99.95] {
            assert!((history.look(0, t).q - q(t)).abs() < 1e-9 * q(t).abs());
        }
        assert!(history.next - history.first < 310);
    }
}
