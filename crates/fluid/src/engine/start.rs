//! A run's start: what the equations need of a model, and the state at time 0.

use super::{Flows, Fluid, Seen, Stream};
use crate::history::{History, Origin};
use crate::law::{FLOWING, Instant, Rule, Tally};
use crate::measure::Measure;
use crate::model::Model;
use crate::options::Options;
use crate::population::Population;
use crate::state::{OWN, QUEUE, STREAMS};
use crate::unsupported::Unsupported;
use aqm::unit::{Span, Time};
use run::Watch;
use std::time::Duration;

impl Fluid {
    /// The run of `model`, at its start.
    ///
    /// # Errors
    /// If the options do not fit the model.
    pub fn new(model: Model, options: Options) -> Result<Self, Unsupported> {
        let mut rule = match options.proportional {
            Some(law) => Rule::proportional(law.p0, law.gain, law.q0),
            None => Rule::new(&model.aqm, &model.port)?,
        };
        let (capacity, buffer) = (model.capacity(), model.buffer());
        let usual = model.port.packet.0 as f64;
        let delay = || rule.target_delay().map(|delay| delay * capacity);
        let target =
            options.proportional.map(|law| law.q0).or_else(delay).or_else(|| model.scenario.target());
        let constant = match (options.constant_rtt, target) {
            (false, _) => None,
            (true, Some(target)) => Some(target / capacity),
            (true, None) => {
                return Err(Unsupported::new(
                    "fluid option constant_rtt: the round trip at which queue? Neither the algorithm nor \
                     `response.target` says",
                ));
            }
        };
        if let Some(initial) = options.initial.filter(|initial| initial.queue > buffer) {
            let message = format!(
                "fluid option initial.queue = {}: must be at most the buffer, {buffer} packets",
                initial.queue
            );
            return Err(Unsupported::new(message));
        }
        let always = |population: &Population| match (options.initial, population) {
            (Some(_), Population::Lasting { count, .. }) => {
                Population::Lasting { count: *count, start: [f64::MIN; 2], stop: f64::INFINITY }
            }
            _ => population.clone(),
        };
        let slow_start = options.slow_start && options.initial.is_none();
        let flows: Vec<Flows> = model
            .classes
            .iter()
            .map(|class| Flows {
                population: always(&class.flows),
                tp: class.rtt,
                constant: constant.map(|queueing| class.rtt + queueing),
                size: class.packet as f64 / usual,
                b: class.acked,
                slow_start: if slow_start { libm::log1p(1.0 / class.acked) } else { 0.0 },
                initial: options.initial.map_or(class.initial_window.min(class.max_window), |o| o.window),
                greatest: class.max_window,
                ssthresh: class.initial_ssthresh,
                min_rto: class.min_rto,
                kept: class.lost.map(|lost| 1.0 - lost),
                marked: class.marked,
            })
            .collect();
        let streams: Vec<Stream> = model
            .load
            .iter()
            .map(|load| Stream {
                population: always(&load.rate),
                each: (1.0 - load.lost) / (8.0 * usual),
                marked: load.marked,
            })
            .collect();
        let shortest = flows.iter().map(|flows| flows.constant.unwrap_or(flows.tp)).fold(1.0, f64::min);
        let stiffness = rule.stiffness(1.5 * capacity);
        let auto = (shortest / 4.0).min(0.5 / stiffness.max(1e-9)).min(0.01);
        let step = options.step.unwrap_or(auto).min(shortest / 4.0).max(1e-7);
        rule.limit(step);
        let slowest = slowest(&model);
        let longest = flows.iter().map(|flows| flows.tp).fold(0.0, f64::max) + buffer / slowest;
        let queue = options.initial.map_or(0.0, |initial| initial.queue);
        let mut state = vec![0.0; STREAMS + 4 * flows.len() + 2 * streams.len()];
        state[QUEUE] = queue;
        state[OWN..OWN + FLOWING].copy_from_slice(&rule.start());
        for (class, flows) in flows.iter().enumerate() {
            state[STREAMS + 4 * class] = flows.initial;
            state[STREAMS + 4 * class + 1] = f64::from(u8::from(slow_start));
        }
        let start = Instant { q: queue, arriving: capacity, own: rule.start() };
        let before = if options.initial.is_some() { rule.p(&start) } else { 0.0 };
        let end = Time::ZERO + model.scenario.general.duration;
        let of_flows = flows.iter().map(|flows| &flows.population);
        let populations = of_flows.chain(streams.iter().map(|stream| &stream.population));
        let mut turns: Vec<Time> = populations
            .flat_map(Population::turns)
            .filter(|&turn| turn > 0.0 && turn < end.secs())
            .map(|turn| Time::ZERO + Span::from_secs(turn))
            .collect();
        turns.sort_unstable_by(|a, b| b.cmp(a));
        turns.dedup();
        let windows = flows.iter().map(|flows| flows.initial).collect();
        let origin = Origin { q: queue, p: before, capacity, windows };
        let slopes = || vec![0.0; state.len()];
        let link = &model.scenario.links[model.scenario.observed];
        Ok(Self {
            timer: rule.period().map_or(Time::MAX, |period| Time::ZERO + period),
            watch: Time::MAX,
            turns,
            rate_change: link.next_change(Span::ZERO).map_or(Time::MAX, |at| Time::ZERO + at),
            at_timer: Tally::default(),
            slopes: [slopes(), slopes(), slopes(), slopes()],
            trial: slopes(),
            seen: vec![Seen::default(); flows.len()],
            before: vec![[0.0; 2]; flows.len()],
            history: History::new(longest + 2.0 * step, step, origin),
            measure: Measure::new(&model, &rule, &state),
            at_warmup: vec![0.0; flows.len()],
            steps: 0,
            cpu: Duration::ZERO,
            watched: Watch::default(),
            now: Time::ZERO,
            end,
            capacity,
            buffer,
            step,
            state,
            flows,
            streams,
            rule,
            options,
            model,
        })
    }
}

/// The lowest rate that the link ever has, packets a second.
fn slowest(model: &Model) -> f64 {
    let link = &model.scenario.links[model.scenario.observed];
    let rates = link.changes.iter().map(|change| change.rate).chain([link.rate]);
    rates.map(|rate| rate.packets(model.port.packet)).fold(f64::INFINITY, f64::min)
}
