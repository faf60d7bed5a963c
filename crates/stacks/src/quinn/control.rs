//! quinn's congestion controls, and the counts of their calls.

use aqm::unit::Span;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use scenario::model::QuicControl;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The counts of a controller's calls, and its threshold.
#[derive(Default, Debug)]
pub(crate) struct Calls {
    /// From the sending of a packet to its acknowledgement: of those acknowledged together, of the latest.
    pub(crate) round_trips: VecDeque<Span>,
    pub(crate) threshold: Option<u64>,
}

/// The same for the controller and the end that it belongs to.
#[derive(Clone, Default, Debug)]
pub(crate) struct Shared(Arc<Mutex<Calls>>);

impl Shared {
    pub(crate) fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the controller of a sender.
pub(crate) struct Factory {
    pub(crate) control: QuicControl,
    pub(crate) shared: Shared,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = match self.control {
            QuicControl::Cubic => Arc::new(CubicConfig::default()).build(now, current_mtu),
            QuicControl::NewReno => Arc::new(NewRenoConfig::default()).build(now, current_mtu),
            QuicControl::Bbr => Arc::new(BbrConfig::default()).build(now, current_mtu),
        };
        Box::new(Counted { inner, latest: None, shared: self.shared.clone() })
    }
}

/// A controller with its counts.
struct Counted {
    inner: Box<dyn Controller>,
    /// The latest time at which one of the packets was sent that are acknowledged now.
    latest: Option<Instant>,
    shared: Shared,
}

impl Counted {
    fn note_threshold(&self) {
        self.shared.calls().threshold = self.inner.metrics().ssthresh;
    }
}

impl Controller for Counted {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.latest = self.latest.max(Some(sent));
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        if let Some(sent) = self.latest.take() {
            self.shared.calls().round_trips.push_back(Span::ns((now - sent).as_nanos() as u64));
        }
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.note_threshold();
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost_bytes: u64) {
        self.inner.on_congestion_event(now, sent, is_persistent, lost_bytes);
        self.note_threshold();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), latest: self.latest, shared: self.shared.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
