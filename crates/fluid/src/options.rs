//! How the equations are read.

use serde::Deserialize;

/// The choices of the modeller, which a scenario does not contain.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// The longest step, s; auto is a quarter of the shortest round trip, 10 ms at most, or shorter where the algorithm's
    /// own average asks for it. Never longer than a quarter of the shortest round trip.
    pub step: Option<f64>,
    /// Take the round trip as it is at the target queue, instead of with the queue of the time: the paper's equation.
    pub constant_rtt: bool,
    /// Take w(t)^2 for w(t) w(t - R), as the linearised equations do.
    pub merged: bool,
    /// What loss ratio goes with which window in the mean.
    pub tcp: TcpLaw,
    /// Whether packets dropped early do not enter the queue; in the paper's equation (5) they do.
    pub thinned: bool,
    /// Whether flows start in slow start, until they see a first loss; else in congestion avoidance.
    pub slow_start: bool,
    /// p = p0 + gain (q - q0) in the algorithm's place.
    pub proportional: Option<Proportional>,
    /// All flows are there from the start, and have been for ever with this window and queue; no slow start.
    pub initial: Option<Initial>,
}

/// What loss ratio goes with which window in the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcpLaw {
    /// w = sqrt(3 / (2 b p)).
    SquareRoot,
    /// The window of Padhye's approximate rate, which has time-outs.
    Padhye,
}

/// A static law.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proportional {
    /// p at `q0`.
    pub p0: f64,
    /// Per packet.
    pub gain: f64,
    /// Packets.
    pub q0: f64,
}

/// A state.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Initial {
    /// The window of all flows, packets.
    pub window: f64,
    /// The queue, packets.
    pub queue: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            step: None,
            constant_rtt: false,
            merged: false,
            tcp: TcpLaw::Padhye,
            thinned: true,
            slow_start: true,
            proportional: None,
            initial: None,
        }
    }
}

impl Options {
    /// Reads them from JSON.
    ///
    /// # Errors
    /// If there is a key that none of them has, or a value out of its range; names the key and the allowed values.
    pub fn read(text: &str) -> Result<Self, String> {
        let options: Self = serde_json::from_str(text).map_err(|error| format!("fluid options: {error}"))?;
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), String> {
        let refuse = |name: &str, found: f64, allowed: &str| {
            Err(format!("fluid option {name} = {found}: must be {allowed}"))
        };
        if let Some(step) = self.step.filter(|step| !(1e-7..=1.0).contains(step)) {
            return refuse("step", step, "in [1e-7, 1] s");
        }
        if let Some(Proportional { p0, gain, q0 }) = self.proportional {
            if !(0.0..=1.0).contains(&p0) {
                return refuse("proportional.p0", p0, "in [0, 1]");
            }
            if !(gain.is_finite() && gain >= 0.0) {
                return refuse("proportional.gain", gain, "at least 0 per packet");
            }
            if !(q0.is_finite() && q0 >= 0.0) {
                return refuse("proportional.q0", q0, "at least 0 packets");
            }
        }
        if let Some(Initial { window, queue }) = self.initial {
            if !(window.is_finite() && window > 0.0) {
                return refuse("initial.window", window, "above 0 packets");
            }
            if !(queue.is_finite() && queue >= 0.0) {
                return refuse("initial.queue", queue, "at least 0 packets");
            }
        }
        Ok(())
    }
}
