//! The ACK filter: of the ACKs that wait in a queue, which one another makes superfluous (`cake_ack_filter`).

use crate::discipline::Ack;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

crate::choice! {
    /// Which ACKs are dropped that another makes superfluous.
    pub enum Filter {
        /// None.
        Off = "off",
        /// All but the last before the newest.
        On = "on",
        /// That one too, if it comes right before the newest.
        Aggressive = "aggressive",
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitingAck {
    pub(super) flow: u64,
    pub(super) size: u32,
    /// Itself, if it is a pure ACK.
    pub(super) ack: Option<Ack>,
}

/// What waits in a queue.
pub(super) type Line = VecDeque<WaitingAck>;

/// The flags ECE and CWR; a third, which Accurate ECN has, is reserved for the filter.
const FLAGS: u8 = 3;

/// Whether every block of `old` is within one of `new`, and the last that `old` acknowledges is not a repeat.
fn covers(old: &Ack, new: &Ack) -> Sacked {
    let filled = |blocks: &[(u32, u32); 3]| {
        blocks.iter().filter(|(low, high)| low < high).copied().collect::<Vec<_>>()
    };
    let (olds, news) = (filled(&old.blocks), filled(&new.blocks));
    // A block that begins below what is acknowledged says that data came twice.
    if olds.iter().any(|(low, _)| *low < old.next) {
        return Sacked::Needed;
    }
    let within = |(low, high): &(u32, u32)| news.iter().any(|(begin, end)| begin <= low && high <= end);
    let size = |blocks: &[(u32, u32)]| blocks.iter().map(|(low, high)| high - low).sum::<u32>();
    if !olds.iter().all(within) {
        Sacked::Needed
    } else if size(&olds) == size(&news) {
        Sacked::Same
    } else {
        Sacked::Covered
    }
}

/// How the blocks of an ACK relate to those of a newer one.
#[derive(PartialEq, Eq)]
enum Sacked {
    /// It has something that the newer has not.
    Needed,
    /// Both have the same.
    Same,
    /// The newer has more.
    Covered,
}

/// Whether `new` says all that `old` says, and is not its duplicate.
fn supersedes(new: &Ack, old: &Ack) -> bool {
    if old.next > new.next || old.ecn & !FLAGS != 0 {
        return false;
    }
    match covers(old, new) {
        Sacked::Needed => false,
        Sacked::Same => old.next < new.next,
        Sacked::Covered => true,
    }
}

/// The place of the ACK in `line` that is dropped because the last one there has come.
pub(super) fn superfluous(line: &Line, filter: Filter) -> Option<usize> {
    let last = line.back()?;
    let newest = last.ack.as_ref()?;
    let mut candidate: Option<(usize, &Ack)> = None;
    for (place, waiting) in line.iter().enumerate().take(line.len() - 1) {
        let Some(ack) = waiting.ack.as_ref().filter(|_| waiting.flow == last.flow) else { continue };
        // A change of the ECN flags is itself a message.
        if candidate.is_some_and(|(_, before)| before.ecn & FLAGS != ack.ecn & FLAGS) {
            candidate = None;
        }
        if !supersedes(newest, ack) {
            continue;
        }
        match candidate {
            Some((before, _)) => return Some(before),
            None => candidate = Some((place, ack)),
        }
    }
    let (place, ack) = candidate?;
    let right_before = place + 2 == line.len();
    (filter == Filter::Aggressive && right_before && ack.ecn & FLAGS == newest.ecn & FLAGS).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(next: u32, blocks: &[(u32, u32)]) -> Option<Ack> {
        let mut all = [(0, 0); 3];
        all[..blocks.len()].copy_from_slice(blocks);
        Some(Ack { next, blocks: all, ecn: 0 })
    }

    fn dropped(acks: &[Option<Ack>], filter: Filter) -> Option<usize> {
        superfluous(&acks.iter().map(|ack| WaitingAck { flow: 7, size: 52, ack: *ack }).collect(), filter)
    }

    #[test]
    fn one_old_ack_is_kept_unless_aggressive() {
        assert_eq!(dropped(&[ack(1, &[]), ack(2, &[])], Filter::On), None);
        assert_eq!(dropped(&[ack(1, &[]), ack(2, &[])], Filter::Aggressive), Some(0));
        assert_eq!(dropped(&[ack(1, &[]), ack(2, &[]), ack(3, &[])], Filter::On), Some(0));
        // Data in between: the candidate is not right before the newest.
        assert_eq!(dropped(&[ack(1, &[]), None, ack(2, &[])], Filter::Aggressive), None);
        assert_eq!(dropped(&[ack(1, &[]), ack(2, &[]), None], Filter::Aggressive), None);
    }

    #[test]
    fn duplicates_and_what_only_they_say_stay() {
        for acks in [
            // Three duplicates.
            [ack(5, &[]), ack(5, &[]), ack(5, &[])],
            // Blocks that the newest lacks.
            [ack(5, &[(7, 8)]), ack(5, &[(9, 10)]), ack(6, &[])],
            // Data that came twice.
            [ack(5, &[(2, 3)]), ack(5, &[(3, 4)]), ack(6, &[])],
        ] {
            assert_eq!(dropped(&acks, Filter::On), None, "{acks:?}");
            assert_eq!(dropped(&acks, Filter::Aggressive), None, "{acks:?}");
        }
        // Duplicates with ever more blocks are superfluous.
        let growing = [ack(5, &[(7, 8)]), ack(5, &[(7, 9)]), ack(5, &[(7, 10)])];
        assert_eq!(dropped(&growing, Filter::On), Some(0));
        // The same in another order.
        let swapped = [ack(5, &[(7, 8), (9, 12)]), ack(5, &[(9, 12), (7, 8)]), ack(5, &[(7, 8), (9, 12)])];
        assert_eq!(dropped(&swapped, Filter::On), None);
        // Linux looks for the blocks alone, not for what is acknowledged meanwhile.
        assert_eq!(dropped(&[ack(5, &[(7, 8)]), ack(8, &[]), ack(9, &[])], Filter::On), None);
    }

    #[test]
    fn another_flow_and_another_echo_interrupt() {
        let other =
            [(7, 1), (8, 2), (7, 3)].map(|(flow, next)| WaitingAck { flow, size: 52, ack: ack(next, &[]) });
        assert_eq!(superfluous(&other.into_iter().collect(), Filter::On), None);
        let echo = ack(2, &[]).map(|ack| Ack { ecn: 1, ..ack });
        assert_eq!(dropped(&[ack(1, &[]), echo, ack(3, &[])], Filter::On), None);
        // A counter of four and more has a reserved bit.
        let count = |next, ecn| ack(next, &[]).map(|ack| Ack { ecn, ..ack });
        assert_eq!(dropped(&[count(1, 4), count(2, 4), count(3, 4)], Filter::On), None);
        assert_eq!(dropped(&[count(1, 3), count(2, 3), count(3, 4)], Filter::On), Some(0));
    }
}
