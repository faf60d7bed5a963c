//! Whether the handovers of a link fit it and the run.

use super::{MOST_CHANGES, shown};
use crate::keys::{LOSSES, below};
use crate::model::{Distribution, Handover, Loss};
use crate::reader::Reader;
use crate::tables::LossEntry;
use aqm::params::Field as _;
use aqm::unit::Span;

/// The least delay of a link.
pub(super) fn least(own: &Distribution<Span>, handover: Option<&Handover>) -> Span {
    let drawn = handover.and_then(|handover| handover.delay.as_ref());
    own.least().min(drawn.unwrap_or(own).least())
}

/// Checks the handovers of the link at `path`, which has `others` of the keys of changes with time, and these losses.
pub(super) fn check(
    path: &str,
    handover: Option<&Handover>,
    (others, losses): (&[(&str, bool)], &[Option<LossEntry>; 2]),
    duration: Span,
    reader: &mut Reader<'_>,
) {
    let at = below(path, "handover");
    let Some(handover) = handover.filter(|_| reader.fine(&[&at, "duration"])) else { return };
    let Handover { every, outage, delay, .. } = handover;
    if let Some((other, _)) = others.iter().find(|(_, given)| *given) {
        return reader.refuse(&at, None, format!("`{other}` is given as well: remove one of them"));
    }
    let pauses = *outage != Distribution::Fixed(Span::ZERO);
    if delay.is_none() && handover.rates().next().is_none() && !pauses {
        let message = "changes nothing: give it a `delay`, a `rate`, a `reverse_rate` or an `outage`";
        return reader.refuse(&at, None, message);
    }
    let lost = below(&at, "loss");
    if handover.loss > 0.0 && !pauses {
        let message = "needs an `outage`, during which packets are lost";
        reader.refuse(&lost, Some(shown(&handover.loss)), message);
    }
    for (key, entry) in LOSSES.into_iter().zip(losses) {
        let simple = entry.as_ref().is_none_or(|entry| matches!(entry.loss, Loss::Bernoulli(_)));
        if handover.loss > 0.0 && !simple {
            let message =
                format!("needs a probability as the link's `{key}`, not a table: remove one of them");
            reader.refuse(&lost, Some(shown(&handover.loss)), message);
        }
    }
    let given = if handover.first.is_some() { "first" } else { "every" };
    if handover.first().least() >= duration {
        let found = handover.first().value().to_string();
        let message = format!("must be below the time of the run, duration = {}", shown(&duration));
        return reader.refuse(&below(&at, given), Some(found), message);
    }
    if let (Some(longest), Some(_)) = (outage.greatest(), every.greatest())
        && longest > every.least()
    {
        let message =
            format!("must be at most the time from one handover to the next, {}", shown(&every.least()));
        return reader.refuse(&below(&at, "outage"), Some(outage.value().to_string()), message);
    }
    if duration.secs() / every.mean() > MOST_CHANGES as f64 {
        let message = format!("more than {MOST_CHANGES:e} in this duration: raise it, or lower the duration");
        reader.refuse(&below(&at, "every"), Some(every.value().to_string()), message);
    }
}
