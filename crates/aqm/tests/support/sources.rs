//! Responsive and unresponsive traffic that shares a link under an algorithm.

use crate::support::{PORT, Random};
use aqm::params::Value;
use aqm::{AnyAqm, AnyParams, Backlog, Packet, Span, Time, Verdict};

/// The time that a packet takes on the link.
const SLOT: f64 = 4e-4;

/// The packets of a class in the second half of a run.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) arrivals: f64,
    pub(crate) drops: f64,
}

impl Tally {
    pub(crate) fn loss(&self) -> f64 {
        self.drops / self.arrivals
    }
}

/// The traffic of a class.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "not every test has traffic of both kinds")]
pub(crate) enum Source {
    /// This many TCP connections: each adds a packet per round trip to its window, and halves it at a drop.
    Tcp(f64),
    /// This many packets per second.
    Fixed(f64),
}
use Source::{Fixed, Tcp};

/// Lets the sources, one per class, share the link for 400 s; returns each class's tally and the mean queue. `observe`
/// gets each verdict.
pub(crate) fn share(
    params: &AnyParams,
    sources: &[Source],
    mut observe: impl FnMut(&AnyAqm, Verdict),
) -> (Vec<Tally>, f64) {
    let mut aqm = params.on_one_queue(&PORT).expect("an algorithm on one queue");
    let period = aqm.period().expect("a timer");
    let mut random = Random(5);
    let mut next_period = Time::ZERO + period;
    let start = |source: &Source| match *source {
        Tcp(_) => 100.0,
        Fixed(rate) => rate,
    };
    let mut rates: Vec<f64> = sources.iter().map(start).collect();
    let mut credits = vec![0.0; sources.len()];
    let mut tallies = vec![Tally::default(); sources.len()];
    let (mut waiting, mut sum) = (0_u32, 0.0);
    const SLOTS: u32 = 1_000_000;
    for slot in 0..SLOTS {
        let now = Time::ZERO + Span::from_secs(f64::from(slot) * SLOT);
        let counts = slot >= SLOTS / 2;
        let queue = |packets| Backlog { packets, bytes: 500 * u64::from(packets), full: packets >= 200 };
        while next_period <= now {
            aqm.on_period(next_period, &queue(waiting));
            next_period += period;
        }
        let round_trip = 0.1 + f64::from(waiting) * SLOT;
        for (class, source) in sources.iter().enumerate() {
            if let Tcp(flows) = source {
                rates[class] += flows / (round_trip * round_trip) * SLOT;
            }
            credits[class] += rates[class] * SLOT;
            while credits[class] >= 1.0 {
                credits[class] -= 1.0;
                let packet = Packet { class: 1 + class as u8, ..Packet::new(500, false) };
                let verdict = aqm.on_enqueue(now, &packet, &queue(waiting), &mut random);
                observe(&aqm, verdict);
                let dropped = waiting >= 200 || verdict == Verdict::Drop;
                match source {
                    Tcp(flows) if dropped => rates[class] -= rates[class] / (2.0 * flows),
                    _ => waiting += u32::from(!dropped),
                }
                if counts {
                    tallies[class].arrivals += 1.0;
                    tallies[class].drops += f64::from(u8::from(dropped));
                }
            }
        }
        if counts {
            sum += f64::from(waiting);
        }
        waiting = waiting.saturating_sub(1);
    }
    (tallies, sum / f64::from(SLOTS / 2))
}

/// An algorithm's parameters with these settings.
pub(crate) fn with(name: &str, settings: &[(&str, Value)]) -> AnyParams {
    let mut params = AnyParams::of(name).expect("an algorithm");
    settings.iter().for_each(|(key, value)| params.set(key, value).expect("an allowed value"));
    params
}
