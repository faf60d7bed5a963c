//! BLUE: p moves with a full buffer and an idle link.

use aqm::aqm::blue;
use aqm::unit::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct Blue {
    pub(super) params: blue::Params,
    pub(super) l: f64,
    pub(super) p: f64,
    pub(super) moved: Option<Time>,
    pub(super) was_idle: bool,
}

impl Blue {
    pub(super) fn watch(&mut self, now: Time, congested: bool, idle: bool) -> Option<Time> {
        let lowers = idle && (self.params.idle == blue::Idle::Lasting || !self.was_idle);
        self.was_idle = idle;
        let due = |moved: Time| moved + self.params.freeze_time.max(Span::us(1));
        if !congested && !lowers {
            return None;
        }
        if let Some(due) = self.moved.map(due).filter(|due| *due > now) {
            return Some(due);
        }
        self.p =
            if congested { (self.p + self.params.d1).min(1.0) } else { (self.p - self.params.d2).max(0.0) };
        self.moved = Some(now);
        Some(due(now))
    }
}
