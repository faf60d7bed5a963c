//! The known fates of packets at a queue while the fate of an earlier packet is unknown.

use crate::packet::Packet;
use aqm::Ring;

/// The fate of an arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// It was sent.
    Sent(FlowKey),
    /// It was dropped.
    Lost(FlowKey),
    /// It was dropped, and does not count.
    Forgotten,
}

/// The flow that a packet belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowKey {
    pub(crate) flow: u32,
    pub(crate) class: u16,
    /// Which of the connections that have this number one after the other.
    pub(crate) generation: u16,
    /// Flows are numbered within their protocol.
    pub(crate) udp: bool,
}

/// The record of the arrivals since the *first* whose fate is unknown; the caller knows its number.
#[derive(Clone, Debug)]
pub(crate) enum Fates {
    /// In a FIFO queue, few fates are known early, mostly drops: these with their numbers, in order.
    Few(Ring<(u64, Fate)>),
    /// With several lanes, most packets leave before an earlier one: a place for each arrival, in order.
    Most(Ring<Option<Fate>>),
}

impl Fates {
    /// No fates so far, at a queue with `lanes` lanes.
    pub(crate) const fn new(lanes: usize) -> Self {
        if lanes > 1 { Self::Most(Ring::new()) } else { Self::Few(Ring::new()) }
    }

    /// The number of places in use.
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Few(fates) => fates.len(),
            Self::Most(fates) => fates.len(),
        }
    }

    /// Notes the fate of an arrival, which is not before the first.
    pub(crate) fn note(&mut self, first: u64, number: u64, fate: Fate) {
        match self {
            Self::Few(fates) => {
                let later = fates.back().is_none_or(|&(last, _)| last < number);
                let place = if later { fates.len() } else { fates.partition_point(|&(n, _)| n < number) };
                fates.insert(place, (number, fate));
            }
            Self::Most(fates) => {
                let place = (number - first) as usize;
                while fates.len() <= place {
                    fates.push_back(None);
                }
                if let Some(open) = fates.get_mut(place) {
                    *open = Some(fate);
                }
            }
        }
    }

    /// The first was sent without being noted, and `next` is the first now: whether its fate is known.
    #[inline]
    pub(crate) fn pass(&mut self, next: u64) -> bool {
        match self {
            Self::Few(fates) => fates.front().is_some_and(|&(number, _)| number == next),
            Self::Most(fates) => {
                fates.drop_front();
                matches!(fates.front(), Some(Some(_)))
            }
        }
    }

    /// Takes the fate of the first, if it is known.
    pub(crate) fn take(&mut self, first: u64) -> Option<Fate> {
        match self {
            Self::Few(fates) => {
                fates.front().filter(|&&(number, _)| number == first)?;
                fates.pop_front().map(|(_, fate)| fate)
            }
            Self::Most(fates) => {
                let fate = (*fates.front()?)?;
                fates.drop_front();
                Some(fate)
            }
        }
    }

    /// Gives up those whose fate is not known before the first that is, or that is `number`; returns the number of the
    /// first that is left.
    pub(crate) fn give_up(&mut self, mut first: u64, number: u64) -> u64 {
        match self {
            Self::Few(fates) => fates.front().map_or(number, |&(certain, _)| certain.min(number)),
            Self::Most(fates) => {
                while first < number && !matches!(fates.front(), Some(Some(_))) {
                    fates.drop_front();
                    first += 1;
                }
                first
            }
        }
    }

    /// Drops so far do not count.
    pub(crate) fn forget_losses(&mut self) {
        for i in 0..self.len() {
            let fate = match self {
                Self::Few(fates) => fates.get_mut(i).map(|(_, fate)| fate),
                Self::Most(fates) => fates.get_mut(i).and_then(Option::as_mut),
            };
            if let Some(fate @ Fate::Lost(_)) = fate {
                *fate = Fate::Forgotten;
            }
        }
    }
}

impl FlowKey {
    #[inline]
    pub(crate) fn of(packet: &Packet) -> Self {
        Self {
            flow: packet.flow,
            class: packet.class() as u16,
            generation: packet.generation,
            udp: packet.kind.is_udp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whichever_way_they_are_kept_fates_come_out_in_the_order_of_arrivals(
            order in Just((0u64..60).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut kept = [Fates::new(1), Fates::new(2)];
            let mut first = [0; 2];
            for (i, &number) in order.iter().enumerate() {
                for (fates, first) in kept.iter_mut().zip(&mut first) {
                    if number == *first && i % 2 == 0 {
                        *first += 1;
                        fates.pass(*first);
                    } else {
                        fates.note(*first, number, Fate::Forgotten);
                    }
                    while fates.take(*first).is_some() {
                        *first += 1;
                    }
                }
                let certain = (0..).find(|n| !order[..=i].contains(n)).unwrap();
                prop_assert_eq!(first, [certain; 2]);
            }
            prop_assert_eq!(kept.map(|fates| fates.len()), [0; 2]);
        }
    }
}
