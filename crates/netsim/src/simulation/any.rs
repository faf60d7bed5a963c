//! A run of any kind: with series or without, and with every packet accounted for.

use super::live::{may_follow, schedules};
use super::{SenderNow, Simulation, WaitingPacket, WindowSample};
use crate::measure::flow_log::FlowRow;
use crate::measure::probe::Checked;
use crate::measure::series::Series;
use crate::network::Seen;
use crate::stack::Logs;
use aqm::unit::Time;
use run::{Column, Glance, Results, Watch};
use scenario::Scenario;

/// What a run does besides simulating. Each option implies the first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RunOptions {
    /// It accounts for every packet: see [`Simulation::violations`].
    pub accounted: bool,
    /// It lists the packets that links send and lose: see [`Simulation::seen`].
    pub tap: bool,
    /// It can follow a scenario that changes: see [`Simulation::follow`]. It has no series, because their columns would be
    /// those of its first algorithms.
    pub live: bool,
}

/// A run of a scenario with one seed. Each probe has an engine that is compiled for it. The set-up, which can take long, is
/// part of the first advance, so that the watch can stop it.
#[derive(Debug)]
pub struct Run(Stage);

#[derive(Debug)]
enum Stage {
    NotStarted {
        scenario: Box<Scenario>,
        seed: u64,
        options: RunOptions,
    },
    Bare(Simulation<()>),
    Recorded(Simulation<Series>),
    Accounted(Simulation<Checked<Series>>),
    /// The watch has stopped it.
    Stopped,
}

/// Evaluates an expression with the run, whichever probe it has, if it is set up.
macro_rules! whichever {
    ($self:expr, $run:ident => $do:expr, $otherwise:expr) => {
        match $self {
            Stage::NotStarted { .. } | Stage::Stopped => $otherwise,
            Stage::Bare($run) => $do,
            Stage::Recorded($run) => $do,
            Stage::Accounted($run) => $do,
        }
    };
}

impl Stage {
    fn set_up(scenario: Scenario, seed: u64, options: RunOptions, watch: Watch) -> Self {
        let RunOptions { accounted, tap, live } = options;
        let series = (scenario.record.series && !live).then(|| Series::new(&scenario));
        let run = match series {
            series if accounted || tap || live => {
                let set_up = if live { Simulation::live } else { Simulation::watched };
                set_up(scenario, seed, Checked(series), watch).map(|mut run| {
                    if tap {
                        run.tap();
                    }
                    Self::Accounted(run)
                })
            }
            Some(series) => Simulation::watched(scenario, seed, series, watch).map(Self::Recorded),
            None => Simulation::watched(scenario, seed, (), watch).map(Self::Bare),
        };
        run.unwrap_or(Self::Stopped)
    }

    /// Its recorder, if it has one.
    const fn series(&mut self) -> Option<&mut Series> {
        match self {
            Self::NotStarted { .. } | Self::Bare(_) | Self::Stopped => None,
            Self::Recorded(run) => Some(run.probe_mut()),
            Self::Accounted(run) => run.probe_mut().0.as_mut(),
        }
    }
}

impl Run {
    /// A run that has not begun.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64, options: RunOptions) -> Self {
        Self(Stage::NotStarted { scenario: Box::new(scenario), seed, options })
    }

    /// Advances up to and including `until`, unless the watch, with which it is set up, stops it.
    pub fn advance(&mut self, until: Time, watch: impl FnOnce() -> Watch) {
        // After a panic, the run remains stopped.
        let mut run = match std::mem::replace(&mut self.0, Stage::Stopped) {
            Stage::NotStarted { scenario, seed, options } => Stage::set_up(*scenario, seed, options, watch()),
            under_way => under_way,
        };
        let finished_at = whichever!(&mut run, run => {
            run.advance(until);
            run.finished().then_some(run.end())
        }, None);
        if let (Some(end), Some(series)) = (finished_at, run.series()) {
            series.finish(end);
        }
        if !whichever!(&run, run => run.has_stopped(), true) {
            self.0 = run;
        }
    }

    /// The simulated time reached.
    #[must_use]
    pub const fn now(&self) -> Time {
        whichever!(&self.0, run => run.now(), Time::ZERO)
    }

    /// Whether it is over.
    #[must_use]
    pub const fn finished(&self) -> bool {
        whichever!(&self.0, run => run.finished(), false)
    }

    /// Whether the watch has stopped it, after which it goes no further.
    #[must_use]
    pub const fn has_stopped(&self) -> bool {
        matches!(self.0, Stage::Stopped)
    }

    /// The observed link so far; `None` before the set-up and after a stop.
    #[must_use]
    pub fn glance(&self) -> Option<Glance> {
        whichever!(&self.0, run => Some(run.glance()), None)
    }

    /// Payload bytes delivered so far by all flows; `None` before the set-up and after a stop.
    #[must_use]
    pub fn delivered(&self) -> Option<u64> {
        whichever!(&self.0, run => Some(run.delivered()), None)
    }

    /// The summary of a run that is over.
    #[must_use]
    pub fn results(&self) -> Option<Results> {
        whichever!(&self.0, run => run.finished().then(|| run.results()), None)
    }

    /// The violations of conservation, one sentence each, of a run that is over and was accounted for.
    #[must_use]
    pub fn violations(&self) -> Option<Vec<String>> {
        match &self.0 {
            Stage::Accounted(run) if run.finished() => Some(run.violations()),
            _ => None,
        }
    }

    /// The recorded series, once; `None` if none are recorded.
    pub fn take_columns(&mut self) -> Option<Vec<Column>> {
        self.0.series().map(Series::take_columns)
    }

    /// The recorded flows of a run that is over.
    #[must_use]
    pub fn flows(&self) -> Vec<FlowRow> {
        whichever!(&self.0, run => run.flows(), Vec::new())
    }

    /// The sampled congestion windows.
    #[must_use]
    pub fn windows(&self) -> &[WindowSample] {
        whichever!(&self.0, run => run.windows(), &[])
    }

    /// What the ends of each connection of a stack have logged, with its traffic entry.
    #[must_use]
    pub fn qlogs(&self) -> Vec<(u16, Logs)> {
        whichever!(&self.0, run => run.qlogs(), Vec::new())
    }

    /// Follows a changed scenario from now on.
    ///
    /// # Errors
    /// If part of the change, which the message names, needs a new run. Then nothing has changed.
    pub fn follow(&mut self, scenario: &Scenario) -> Result<(), String> {
        match &mut self.0 {
            Stage::NotStarted { scenario: ours, options: RunOptions { live: true, .. }, .. } => {
                may_follow(ours, &schedules(ours), scenario)?;
                **ours = scenario.clone();
                Ok(())
            }
            Stage::Accounted(run) => run.follow(scenario),
            _ => Err("only a live run can follow".to_owned()),
        }
    }

    /// Its seed; `None` after a stop.
    #[must_use]
    pub const fn seed(&self) -> Option<u64> {
        match &self.0 {
            Stage::NotStarted { seed, .. } => Some(*seed),
            Stage::Bare(run) => Some(run.seed),
            Stage::Recorded(run) => Some(run.seed),
            Stage::Accounted(run) => Some(run.seed),
            Stage::Stopped => None,
        }
    }

    /// The bits that the observed link could send in an interval of the time so far; 0 before the set-up and after a stop.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        whichever!(&self.0, run => run.capacity(from, to), 0.0)
    }

    /// The signals of the observed link's algorithm now, in the order of their list: `p`, for example.
    #[must_use]
    pub fn signals(&self) -> Vec<f64> {
        whichever!(&self.0, run => run.signals(), Vec::new())
    }

    /// The flows that have begun and are not over; none before the set-up and after a stop.
    #[must_use]
    pub fn senders(&self) -> Vec<SenderNow> {
        whichever!(&self.0, run => run.senders(), Vec::new())
    }

    /// The packets that wait at the observed link; none before the set-up and after a stop.
    #[must_use]
    pub fn waiting(&self) -> Vec<WaitingPacket> {
        whichever!(&self.0, run => run.waiting(), Vec::new())
    }

    /// The packets seen at the links up to `until`, which are then forgotten; none unless it taps them.
    pub fn seen(&mut self, until: Time) -> Vec<Seen> {
        match &mut self.0 {
            Stage::Accounted(run) => run.seen(until),
            _ => Vec::new(),
        }
    }
}
