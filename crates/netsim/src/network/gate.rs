//! The gate in front of a link's queue. Packets are lost there at random, independently or in bursts, and a middlebox loses
//! packets because of their ECN field, or clears it. Those of a link with a shared medium part from the others here.

use crate::engine::rng::Stream;
use crate::network::fate::Cause;
use crate::packet::Packet;
use aqm::Uniform as _;
use aqm::unit::{Span, Time};
use scenario::Distribution;
use scenario::model::{EcnPath, Gilbert, Link, Loss};

/// A link's gate.
#[derive(Debug)]
pub(crate) struct Gate {
    ecn_path: EcnPath,
    /// What becomes of the others: they are unchanged.
    others: AtGate,
    loss: Option<Loss>,
    bad: bool,
    /// When the state is over, if it changes with time, and was looked at.
    until: Option<Time>,
    rng: Stream,
    /// Packets lost since the start.
    pub(crate) losses: u64,
}

/// What becomes of a packet at a gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtGate {
    Unchanged,
    /// It is unchanged, and the link has a medium that it shares.
    Shared,
    /// Its ECN field is to be cleared.
    Cleared,
    Lost(Cause),
}

impl Gate {
    pub(crate) fn new(link: &Link, rng: Stream) -> Self {
        let others = if link.is_shared() { AtGate::Shared } else { AtGate::Unchanged };
        Self {
            ecn_path: link.ecn_path,
            others,
            loss: link.loss.clone(),
            bad: false,
            until: None,
            rng,
            losses: 0,
        }
    }

    /// Loses packets in another way from now on.
    pub(crate) fn change(&mut self, loss: Option<Loss>) {
        self.loss = loss;
    }

    /// What becomes of the next packet, which comes at `at`.
    pub(crate) fn pass(&mut self, at: Time, packet: &Packet) -> AtGate {
        let refused = match self.ecn_path {
            EcnPath::Drop => packet.is_ect(),
            EcnPath::Refuse => packet.asks_for_ecn(),
            EcnPath::Pass | EcnPath::Clear | EcnPath::ClearMarks => false,
        };
        let passed = if refused {
            AtGate::Lost(Cause::Ecn)
        } else if self.loses(at) {
            AtGate::Lost(Cause::Random)
        } else if self.ecn_path == EcnPath::Clear && packet.is_ect() {
            AtGate::Cleared
        } else {
            self.others
        };
        self.losses += u64::from(matches!(passed, AtGate::Lost(_)));
        passed
    }

    /// Whether the next packet, which comes at `at`, is lost at random.
    fn loses(&mut self, at: Time) -> bool {
        match &self.loss {
            None => false,
            Some(Loss::Bernoulli(p)) => self.rng.uniform() < *p,
            Some(Loss::Steps(steps)) => self.rng.uniform() < steps.at(at - Time::ZERO),
            Some(Loss::Gilbert(Gilbert {
                good_time: Some(good),
                bad_time: Some(bad),
                loss_good,
                loss_bad,
                ..
            })) => {
                let rng = &mut self.rng;
                let mut stay = |mean: &Span| rng.draw(&Distribution::Exponential(*mean)).max(Span::ns(1));
                let mut until = self.until.unwrap_or_else(|| Time::ZERO + stay(good));
                while until <= at {
                    self.bad = !self.bad;
                    until += stay(if self.bad { bad } else { good });
                }
                self.until = Some(until);
                self.rng.uniform() < if self.bad { *loss_bad } else { *loss_good }
            }
            Some(Loss::Gilbert(chain)) => {
                let (loss, leave) = match self.bad {
                    true => (chain.loss_bad, chain.bad_to_good),
                    false => (chain.loss_good, chain.good_to_bad),
                };
                let lost = self.rng.uniform() < loss;
                self.bad ^= self.rng.uniform() < leave;
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Header, PacketKind};
    use crate::tcp::{Ack, Content, Segment};
    use scenario::model::{Ecn, Gilbert, Steps};

    const HEADER: Header = Header { flow: 1, generation: 0, hop: 2, class: 3, size: 500 };

    fn gate(ecn_path: EcnPath, loss: Option<Loss>) -> Gate {
        let others = AtGate::Unchanged;
        Gate { ecn_path, others, loss, bad: false, until: None, rng: Stream::new(1, "test"), losses: 0 }
    }

    /// Losses among a million packets, 1 ms apart, and the runs that they form.
    fn tried(loss: Loss) -> (f64, f64) {
        let mut gate = gate(EcnPath::Pass, Some(loss));
        let packet = Packet::datagram(Time::ZERO, HEADER, Ecn::Ect0);
        let (mut runs, mut before) = (0u32, false);
        for ms in 0..1_000_000 {
            let lost = gate.pass(Time::ZERO + Span::ms(ms), &packet) == AtGate::Lost(Cause::Random);
            runs += u32::from(lost && !before);
            before = lost;
        }
        (gate.losses as f64 / 1e6, gate.losses as f64 / f64::from(runs))
    }

    #[test]
    fn a_middlebox_meets_the_packets_that_it_is_against() {
        let segment = |syn, cwr, ect| {
            let segment = Segment {
                seq: 0,
                content: if syn { Content::Syn } else { Content::Data },
                retransmission: false,
                cwr,
                ect,
                l4s: ect,
                push: false,
                sent: Time::ZERO,
            };
            Packet::data(&segment, HEADER)
        };
        let ack = |ect, l4s| Packet::ack(&Ack { ece: true, ect, l4s, ..Ack::default() }, HEADER);
        let external = |kind, asks, ecn| Packet::external(Time::ZERO, HEADER, (kind, asks), ecn, u32::MAX);
        // Each packet, whether it is ECN-capable, and whether it is a SYN that asks for ECN.
        let packets = [
            (segment(true, true, false), false, true),
            (segment(true, true, true), true, true),
            (segment(true, false, false), false, false),
            (segment(false, true, true), true, false),
            (segment(false, false, false), false, false),
            (ack(false, false), false, false),
            (ack(true, false), true, false),
            (ack(true, true), true, false),
            (Packet::datagram(Time::ZERO, HEADER, Ecn::None), false, false),
            (Packet::datagram(Time::ZERO, HEADER, Ecn::Ect1), true, false),
            (external(PacketKind::Ack, true, Ecn::None), false, true),
            (external(PacketKind::Ack, true, Ecn::Ect1), true, true),
            (external(PacketKind::Ack, false, Ecn::Ect0), true, false),
            (external(PacketKind::Data, false, Ecn::Ect0), true, false),
        ];
        let lost = AtGate::Lost(Cause::Ecn);
        for (i, (packet, capable, asks)) in packets.into_iter().enumerate() {
            for (path, is_met, what) in [
                (EcnPath::Pass, false, lost),
                (EcnPath::Clear, capable, AtGate::Cleared),
                (EcnPath::ClearMarks, false, lost),
                (EcnPath::Drop, capable, lost),
                (EcnPath::Refuse, asks, lost),
            ] {
                let mut gate = gate(path, None);
                let expected = if is_met { what } else { AtGate::Unchanged };
                assert_eq!(gate.pass(Time::ZERO, &packet), expected, "{path:?} of packet {i}");
                assert_eq!(gate.losses, u64::from(expected == lost));
            }
        }
    }

    #[test]
    fn independent_losses_have_their_ratio_and_no_memory() {
        // Standard deviation of the ratio 0.0003; runs last 1/(1 - p).
        let (ratio, run) = tried(Loss::Bernoulli(0.1));
        assert!((ratio - 0.1).abs() < 0.0015, "{ratio}");
        assert!((run - 1.0 / 0.9).abs() < 0.01, "{run}");
        assert_eq!(tried(Loss::Bernoulli(0.0)).0, 0.0);
    }

    #[test]
    fn losses_of_a_chain_come_in_bursts() {
        // All of the bad state is lost: bursts of 1/0.25 = 4, with 0.01/(0.01 + 0.25) of the packets.
        let gilbert = Gilbert { good_to_bad: 0.01, bad_to_good: 0.25, ..Gilbert::default() };
        let expected = Loss::Gilbert(gilbert.clone()).ratio();
        let (ratio, run) = tried(Loss::Gilbert(gilbert));
        assert!((expected - 0.01 / 0.26).abs() < 1e-12);
        assert!((ratio / expected - 1.0).abs() < 0.03, "{ratio}");
        assert!((run - 4.0).abs() < 0.15, "{run}");
    }

    #[test]
    fn a_chain_in_time_changes_whether_packets_come_or_not() {
        // 40 ms of every 540 are bad: bursts of 41 packets, because one is lost for each that comes in an open interval.
        let in_time = |good, bad| {
            let (good_time, bad_time) = (Some(Span::ms(good)), Some(Span::ms(bad)));
            Loss::Gilbert(Gilbert { good_time, bad_time, ..Gilbert::default() })
        };
        let (ratio, run) = tried(in_time(500, 40));
        assert!((ratio / (40.0 / 540.0) - 1.0).abs() < 0.06, "{ratio}");
        assert!((run - 40.5).abs() < 3.0, "{run}");
        // Far apart, packets find the states independently.
        let (ratio, run) = tried(in_time(3, 1));
        assert!((ratio - 0.25).abs() < 0.005, "{ratio}");
        assert!(run < 2.0, "{run}");
    }

    #[test]
    fn recorded_losses_are_those_of_their_time() {
        let steps = Steps {
            values: vec![(Span::ZERO, 0.0), (Span::s(1), 1.0), (Span::s(2), 0.5)],
            period: Span::s(4),
        };
        let mut gate = gate(EcnPath::Pass, Some(Loss::Steps(steps)));
        let packet = Packet::datagram(Time::ZERO, HEADER, Ecn::None);
        let mut lost = [0; 4];
        for ms in 0..400_000u64 {
            let at = Time::ZERO + Span::ms(ms);
            lost[(ms / 1000 % 4) as usize] += u32::from(gate.pass(at, &packet) != AtGate::Unchanged);
        }
        assert_eq!(lost[..2], [0, 100_000]);
        assert!(lost[2..].iter().all(|lost| lost.abs_diff(50_000) < 800), "{lost:?}");
    }
}
