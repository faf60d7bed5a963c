//! An algorithm whose periods are declared to change nothing while no packet comes keeps to that, to the last bit.

use crate::datagram::Datagram;
use crate::support::{PORT, Random};
use aqm::aqm::NAMES;
use aqm::{AnyParams, Packet, Queue, Span, Time};
use std::collections::BTreeSet;

/// A queue with its clocks.
#[derive(Clone)]
struct Host {
    queue: Queue<Datagram>,
    random: Random,
    now: Time,
    timer: Time,
}

impl Host {
    fn new(params: &AnyParams, seed: u64) -> Self {
        let queue: Queue<Datagram> = Queue::new(params.build(&PORT), &PORT, &[1, 2]);
        let timer = Time::ZERO + queue.period().unwrap_or_default();
        Self { queue, random: Random(seed), now: Time::ZERO, timer }
    }

    fn signals(&self) -> Vec<u64> {
        let mut bits = Vec::new();
        self.queue.algorithm().signals(|_, value| bits.push(value.to_bits()));
        bits
    }

    fn close_period(&mut self) {
        self.now = self.now.max(self.timer);
        self.queue.on_period(self.timer);
        self.timer += self.queue.period().unwrap();
    }

    /// Runs a burst of arrivals, a third of which leave during the burst, and the rest afterwards; returns the fate of
    /// each, and the signals.
    fn burst(&mut self, arrivals: u64) -> Vec<(String, Vec<u64>)> {
        let mut fates = Vec::new();
        for i in 0..2 * arrivals {
            self.now += Span::us(400);
            while self.timer <= self.now {
                self.close_period();
            }
            let outcome = if i < arrivals {
                let packet =
                    Packet { class: 1 + (self.random.bits() % 2) as u8, ..Packet::new(500, i % 2 == 0) };
                format!(
                    "{:?}",
                    self.queue.enqueue_or(
                        self.now,
                        Datagram { packet, row: usize::from(packet.class) - 1 },
                        &mut self.random,
                        |_, _| ()
                    )
                )
            } else {
                String::new()
            };
            let sent = (i % 3 == 0 || i >= arrivals)
                .then(|| self.queue.dequeue_or(self.now, &mut self.random, |_| ()).map(|sent| sent.number));
            fates.push((format!("{outcome} {sent:?}"), self.signals()));
        }
        while self.queue.dequeue_or(self.now, &mut self.random, |_| ()).is_some() {}
        fates
    }
}

#[test]
fn periods_that_are_omitted_at_rest_change_nothing() {
    let mut rested = BTreeSet::new();
    for name in NAMES {
        let base = AnyParams::of(name).unwrap();
        let presets = base.presets().iter().filter_map(|(preset, _)| base.preset(preset));
        for params in presets.chain([base.clone()]).filter(|params| params.build(&PORT).period().is_some()) {
            for (seed, arrivals) in [(1, 1), (2, 40), (3, 400), (4, 3000)] {
                let mut host = Host::new(&params, seed);
                host.burst(arrivals);
                let mut periods = 0;
                while !host.queue.rests() && periods < 100_000 {
                    host.close_period();
                    periods += 1;
                }
                if !host.queue.rests() {
                    continue;
                }
                rested.insert(*name);
                let mut idle = host.clone();
                for _ in 0..1000 {
                    idle.close_period();
                    assert_eq!(idle.signals(), host.signals(), "{params:?}");
                    assert!(idle.queue.rests(), "{params:?}");
                }
                // The same time has passed for the algorithm at rest, without the calls.
                (host.now, host.timer) = (idle.now, idle.timer);
                assert_eq!(idle.burst(2000), host.burst(2000), "{params:?}");
            }
        }
    }
    assert_eq!(rested.into_iter().collect::<Vec<_>>(), ["lred", "pi", "pi2", "pie", "raqm", "rem"]);
}

#[test]
fn an_algorithm_whose_state_moves_does_not_rest() {
    let mut host = Host::new(&AnyParams::of("pi").unwrap(), 1);
    host.burst(3000);
    let mut before = host.signals();
    assert!(f64::from_bits(before[0]) > 0.0);
    // p falls to 0, and the algorithm rests only then.
    while !host.queue.rests() {
        host.close_period();
        let now = host.signals();
        assert!(now != before || now == [0]);
        before = now;
    }
    assert_eq!(before, [0]);
}
