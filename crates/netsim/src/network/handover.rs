//! Handovers at random: their times, and the link after each.

use crate::engine::rng::Stream;
use aqm::unit::Span;
use scenario::Scenario;
use scenario::model::{Change, EVERY, Handover, Link, Loss, Outage, Steps, Waypoint};

/// Draws the handovers of a run with this seed, as changes, outages, delays and losses of the links.
pub(crate) fn draw(scenario: &mut Scenario, seed: u64) {
    for link in &mut scenario.links {
        if let Some(handover) = link.handover.take() {
            hand_over(link, &handover, seed, scenario.general.duration);
        }
    }
}

/// Both directions have the same times, outages and delays.
fn hand_over(link: &mut Link, handover: &Handover, seed: u64, duration: Span) {
    let stream = |link: &str, what: &str| Stream::new(seed, &format!("link.{link}.handover.{what}"));
    let [mut every, mut outages, mut delays] =
        ["every", "outage", "delay"].map(|what| stream(link.cable(), what));
    let mut rates = stream(&link.name, "rate");
    let mut variation = link.variation.take().unwrap_or_default();
    let own = match link.loss {
        Some(Loss::Bernoulli(p)) => p,
        _ => 0.0,
    };
    let out = 1.0 - (1.0 - own) * (1.0 - handover.loss);
    let mut losses = vec![(Span::ZERO, own)];
    let mut next = every.draw(handover.first());
    while next < duration {
        let at = next;
        next = at + every.draw(&handover.every).max(Span::from_secs(EVERY.low));
        let until = (at + outages.draw(&handover.outage)).min(next);
        if until > at {
            link.outages.push(Outage { since: at, until });
            losses.extend([(at, out), (until, own)]);
        }
        if let Some(law) = &handover.delay {
            variation.delays.push(Waypoint { since: at, until: at, delay: delays.draw(law) });
        }
        if let Some(law) = &handover.rate {
            link.changes.push(Change { at, rate: rates.draw(law) });
        }
    }
    if handover.loss > 0.0 {
        link.loss = Some(Loss::Steps(Steps { values: losses, period: next.max(duration) + Span::ns(1) }));
    }
    link.variation = Some(variation).filter(|variation| !variation.is_none());
}
