//! Congestion controls that are written outside, in Python for instance, as [`aqm::user_defined`] has algorithms.
//!
//! A `rack` sender calls the [`Instance`] of its connection for each [`Hook`] that the control wants to know of, and takes
//! the window from it.

use aqm::params::Value;
use aqm::user_defined::{self, Plain};
use std::fmt::Debug;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A congestion control as its source declares it.
pub type Declaration = user_defined::Declaration<Hooks>;

/// The parameters of such a control.
pub type Params = user_defined::Params<Hooks>;

/// What only congestion controls declare.
#[derive(Debug)]
pub struct Hooks {
    /// Whether the control has each hook, in the order of [`Hook::ALL`].
    pub has: [bool; Hook::ALL.len()],
    /// Creates its instances.
    pub maker: Box<dyn Maker>,
}

impl Hooks {
    /// The hook that is called for this one: marks and time-outs are losses for a control that does not tell them apart.
    #[must_use]
    pub const fn called(&self, hook: Hook) -> Option<Hook> {
        match hook {
            hook if self.has[hook as usize] => Some(hook),
            Hook::Ecn | Hook::Timeout if self.has[Hook::Loss as usize] => Some(Hook::Loss),
            _ => None,
        }
    }
}

/// An event that a control may want to know of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hook {
    /// An acknowledgement delivered segments, and the window is not coming down.
    Ack,
    /// A loss was found: the window is about to come down to the threshold that the control sets.
    Loss,
    /// The same for a mark, once a round trip.
    Ecn,
    /// The retransmission timer went off.
    Timeout,
    /// An acknowledgement has measured a round trip; before anything else that it reports.
    Rtt,
    /// Something is sent while nothing is in the network.
    Restart,
}

impl Hook {
    /// All, with the name of each one's method.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Ack, "on_ack"),
        (Self::Loss, "on_loss"),
        (Self::Ecn, "on_ecn"),
        (Self::Timeout, "on_timeout"),
        (Self::Rtt, "on_rtt"),
        (Self::Restart, "on_restart"),
    ];

    /// The name of its method.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Creates the instances of a control.
pub trait Maker: Send + Sync + Debug {
    /// An instance for a connection with this first window, with these values of its parameters; it may change the window.
    fn make(
        &'static self,
        values: &[Plain],
        connection: &Connection,
        window: &mut Window,
    ) -> Box<dyn Instance>;
}

/// A control at work on one connection.
pub trait Instance: Send + Sync + Debug {
    /// Something happened. `window` is the present one, and has [`Window::fault`] neither before nor afterwards.
    fn on(&mut self, hook: Hook, flow: &Flow, window: &mut Window);
    /// A copy in the same state.
    fn copy(&self) -> Box<dyn Instance>;
}

/// What a connection is from its start on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Connection {
    /// Payload bytes of a full segment.
    pub payload: u32,
    /// Its size on the wire in bytes.
    pub size: u32,
    /// Nanoseconds of a tick of the sender's clock.
    pub tick_ns: u64,
    /// Whether data is sent as ECN-capable.
    pub ecn: bool,
    /// Nanoseconds since the start of the run, and the next segment to be sent.
    pub now_ns: u64,
    /// See `now_ns`.
    pub sent: u32,
}

/// A connection at an event.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Flow {
    /// Nanoseconds since the start of the run.
    pub now_ns: i64,
    /// Segments that this acknowledgement has delivered.
    pub acked: i64,
    /// The last measured round trip and the smoothed one, in microseconds; 0 before the first.
    pub rtt_us: i64,
    /// See `rtt_us`.
    pub srtt_us: i64,
    /// Segments in the network, and segments sent but not acknowledged.
    pub in_flight: i64,
    /// See `in_flight`.
    pub outstanding: i64,
    /// Segments delivered so far, those of them that were marked, and segments judged lost.
    pub delivered: i64,
    /// See `delivered`.
    pub marked: i64,
    /// See `delivered`.
    pub lost: i64,
    /// The first segment that is not acknowledged, and the next that was never sent.
    pub acknowledged: i64,
    /// See `acknowledged`.
    pub sent: i64,
    /// Nanoseconds since a segment was sent, in whole ticks.
    pub idle_ns: i64,
    /// Whether the window is what limits the sender.
    pub limited: bool,
    /// Whether segments leave at a pace.
    pub paced: bool,
    /// Of a time-out: whether another one of the same window came before it, so that the threshold stands.
    pub repeated: bool,
}

/// What a control decides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// The congestion window in segments; the sender takes the whole ones.
    pub cwnd: f64,
    /// The slow-start threshold in segments.
    pub ssthresh: f64,
    /// The pace in bit/s; infinite without one.
    pub pacing_rate: f64,
}

impl Window {
    /// Its fault, if it has one.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let segments = |name, value: f64| {
            let fault = !(1.0..=f64::MAX).contains(&value);
            fault.then(|| format!("{name} = {}: must be a number of segments, at least 1", written(value)))
        };
        // A threshold may be infinite.
        let threshold = Some(self.ssthresh).filter(|&value| value != f64::INFINITY);
        let pace = self.pacing_rate;
        segments("cwnd", self.cwnd).or_else(|| segments("ssthresh", threshold?)).or_else(|| {
            (pace.is_nan() || pace <= 0.0)
                .then(|| format!("pacing_rate = {}: must be in bit/s, above 0", written(pace)))
        })
    }
}

/// A number as Python writes it.
fn written(value: f64) -> String {
    value.to_string().to_lowercase()
}

/// Returns the control of a reference. With a digest, that of the source with this digest. The error states the fault and
/// its place.
pub type Loader = fn(&str, Option<&str>) -> Result<&'static Declaration, String>;

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Sets the loader; only the first call has an effect.
pub fn set_loader(loader: Loader) {
    let _ = LOADER.set(loader);
}

/// A user-defined control with the values of its parameters. There is one for each set of values, which is never freed.
#[derive(Clone, Copy, Debug)]
pub struct Control(&'static Params);

impl PartialEq for Control {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Control {}

static CONTROLS: Mutex<Vec<&'static Params>> = Mutex::new(Vec::new());

impl Control {
    /// The control with these parameters.
    #[must_use]
    pub fn of(params: Params) -> Self {
        let mut known = CONTROLS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|one| ***one == params).copied();
        Self(found.unwrap_or_else(|| {
            known.push(Box::leak(Box::new(params)));
            known[known.len() - 1]
        }))
    }

    /// The defaults of the control with this reference, from the source with this digest, if one is given.
    ///
    /// # Errors
    /// The reason for which there is no such control.
    pub fn find(name: &str, source: Option<&str>) -> Result<Params, String> {
        let loader = LOADER.get().ok_or("only aqmlab in Python can run a congestion control in Python")?;
        loader(name, source).map(Params::of)
    }

    /// Its parameters.
    #[must_use]
    pub const fn params(self) -> &'static Params {
        self.0
    }

    /// Reads the table that [`Control::value`] returns.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let Value::Table(entries) = value else { return None };
        let text = |key: &str| match &entries.iter().find(|(name, _)| name == key)?.1 {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        };
        let mut params = Self::find(text("name")?, text("source")).ok()?;
        for (key, value) in entries.iter().filter(|(key, _)| !["name", "source"].contains(&&**key)) {
            params.set(key, value).ok()?;
        }
        Some(Self::of(params))
    }

    /// The table with its name, the digest of its source and its parameters.
    #[must_use]
    pub fn value(self) -> Value {
        let declaration = self.0.declaration();
        let text = |key: &str, text: &str| (key.to_owned(), Value::Text(text.to_owned()));
        let own = self.0.values().into_iter().map(|(key, value)| (key.to_owned(), value));
        let head = [text("name", declaration.name), text("source", declaration.source)];
        Value::Table(head.into_iter().chain(own).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_number_of_segments() {
        let good = Window { cwnd: 1.5, ssthresh: f64::INFINITY, pacing_rate: f64::INFINITY };
        assert_eq!(good.fault(), None);
        let fault = |window: Window| window.fault().unwrap();
        assert_eq!(
            fault(Window { cwnd: -3.0, ..good }),
            "cwnd = -3: must be a number of segments, at least 1"
        );
        assert!(fault(Window { cwnd: f64::NAN, ..good }).starts_with("cwnd = nan:"));
        assert!(fault(Window { cwnd: f64::INFINITY, ..good }).starts_with("cwnd = inf"));
        assert!(fault(Window { ssthresh: 0.5, ..good }).starts_with("ssthresh = 0.5"));
        assert!(fault(Window { pacing_rate: 0.0, ..good }).starts_with("pacing_rate = 0: must be in bit/s"));
        assert!(fault(Window { pacing_rate: f64::NAN, ..good }).starts_with("pacing_rate = nan"));
    }
}
