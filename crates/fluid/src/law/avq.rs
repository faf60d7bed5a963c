//! AVQ: a virtual queue, and its overflow.

use super::input::FLOWING;

#[derive(Clone, Debug)]
pub(super) struct Avq {
    pub(super) alpha: f64,
    /// Whether C~ counts what the virtual queue lets through.
    pub(super) counts_accepted: bool,
    pub(super) buffer: f64,
    pub(super) c: f64,
    pub(super) desired: f64,
    pub(super) initial: f64,
}

impl Avq {
    /// What the virtual queue has no room for.
    #[inline]
    pub(super) fn p(&self, arriving: f64, [vq, capacity]: [f64; FLOWING]) -> f64 {
        if vq >= self.buffer && arriving > capacity { 1.0 - capacity.max(0.0) / arriving } else { 0.0 }
    }

    #[inline]
    pub(super) fn flow(&self, arriving: f64, [vq, capacity]: [f64; FLOWING], p: f64) -> [f64; FLOWING] {
        let grows = arriving * (1.0 - p) - capacity;
        let counted = if self.counts_accepted { arriving * (1.0 - p) } else { arriving };
        let adapts = self.alpha * (self.desired - counted);
        [
            if vq <= 0.0 { grows.max(0.0) } else { grows },
            if capacity <= 0.0 {
                adapts.max(0.0)
            } else if capacity >= self.c {
                adapts.min(0.0)
            } else {
                adapts
            },
        ]
    }
}
