//! Queue protection: finds the flows whose packets build the low-latency queue (RFC 9957).
//!
//! Each of the busiest flows has a bucket, which holds the time at which its queuing score is used up. A bucket whose
//! time has passed is free for any flow.

use crate::contract::Packet;
use crate::hash::mix;
use crate::unit::{Span, Time};
use alloc::vec::Vec;

/// The state of a flow.
#[derive(Clone, Copy, Default, Debug)]
struct Bucket {
    flow: Option<u64>,
    /// t_exp: when the score of the flow is used up.
    expires: Time,
}

/// The algorithm, with a bucket for each flow and one that is shared by those for which there is none.
#[derive(Clone, Debug)]
pub(super) struct Protection {
    pub(super) critical_delay: Span,
    pub(super) critical_score: Span,
    pub(super) most: Span,
    /// LG_AGING.
    pub(super) lg_aging: u32,
    pub(super) attempts: u32,
    /// BI_SIZE.
    pub(super) bits: u32,
    buckets: Vec<Bucket>,
    /// The queuing score after the last packet, of its flow.
    score: Span,
}

impl Protection {
    /// The algorithm at the start, with 2^`bits` buckets of their own.
    pub(super) fn new(critical: [Span; 2], most: Span, lg_aging: u32, attempts: u32, bits: u32) -> Self {
        let [critical_delay, critical_score] = critical;
        let buckets = vec![Bucket::default(); (1 << bits) + 1];
        Self { critical_delay, critical_score, most, lg_aging, attempts, bits, buckets, score: Span::ZERO }
    }

    /// The queuing score after the last packet, of its flow.
    pub(super) const fn score(&self) -> Span {
        self.score
    }

    /// Whether the flows of `before` have the same places here.
    pub(super) const fn is_like(&self, before: &Self) -> bool {
        self.bits == before.bits
    }

    /// Takes over the scores.
    pub(super) fn resume(&mut self, before: Self) {
        (self.buckets, self.score) = (before.buckets, before.score);
    }

    /// Whether an arrival is sanctioned, whose delay would be `delay`, with this native mark probability.
    pub(super) fn sanctions(&mut self, now: Time, packet: &Packet, delay: Span, native: f64) -> bool {
        let bucket = self.pick(now, packet.flow);
        self.score = self.fill(now, bucket, packet.size, native);
        let product = |delay: Span, score: Span| u128::from(delay.nanos()) * u128::from(score.nanos());
        delay > self.critical_delay
            && product(delay, self.score) > product(self.critical_delay, self.critical_score)
    }

    /// The number of the flow's bucket (RFC 9957, `pick_bucket`).
    fn pick(&mut self, now: Time, flow: u64) -> usize {
        let shared = self.buckets.len() - 1;
        let (mut hash, mut found) = (mix(flow, 0) & 0xffff_ffff, shared);
        for _ in 0..self.attempts {
            let at = hash as usize & (shared - 1);
            if self.buckets[at].flow == Some(flow) {
                found = at;
                break;
            }
            if found == shared && self.buckets[at].expires <= now {
                found = at;
            }
            hash >>= self.bits;
        }
        let bucket = &mut self.buckets[found];
        bucket.expires = bucket.expires.max(now);
        bucket.flow = Some(flow);
        found
    }

    /// Adds to the score of a bucket what this packet adds to the queue; returns the score (RFC 9957, `fill_bucket`).
    fn fill(&mut self, now: Time, bucket: usize, size: u32, native: f64) -> Span {
        let bucket = &mut self.buckets[bucket];
        let score = native * f64::from(size) * f64::from(1_u32 << (30 - self.lg_aging));
        bucket.expires = (bucket.expires + Span::ns(score as u64)).min(now + self.most);
        bucket.expires.since(now)
    }
}
