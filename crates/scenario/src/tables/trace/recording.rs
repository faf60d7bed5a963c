//! The packets of a recording, in the order of time.

use crate::model::Arrival;
use aqm::unit::Span;

/// Latest time of a packet after the first, in seconds: no run lasts longer.
const LATEST: u64 = 10_000_000;

/// The packets so far; refuses invalid ones.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) arrivals: Vec<Arrival>,
    /// The time of the first packet, by the recording's clock.
    first: Option<i128>,
}

impl Recording {
    /// Adds a packet of `size` bytes that came at `nanos`, by the recording's clock.
    pub(super) fn add(&mut self, nanos: i128, size: u64) -> Result<(), String> {
        let since = nanos.saturating_sub(*self.first.get_or_insert(nanos));
        let last = self.arrivals.last().map_or(Span::ZERO, |last| last.at);
        if since < i128::from(last.nanos()) {
            return Err("earlier than the packet before: sort the packets by time".to_owned());
        }
        let at = u64::try_from(since).ok().map(Span::ns).filter(|&at| at <= Span::s(LATEST));
        let at = at.ok_or_else(|| format!("more than {LATEST} s after the first packet"))?;
        match u16::try_from(size) {
            Ok(size) if size > 0 => self.arrivals.push(Arrival { at, size }),
            _ => return Err(format!("size = {size}: must be in [1, 65535], bytes")),
        }
        Ok(())
    }
}
