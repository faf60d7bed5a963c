//! Laws that steer the queueing delay on a timer: PIE and PI2.

use crate::unsupported::Unsupported;
use aqm::Port;
use aqm::aqm::pi2::{self, BasePi};
use aqm::aqm::pie::{self, Delay, Form};
use aqm::unit::Span;

#[derive(Clone, Debug)]
pub(super) struct Pie {
    pub(super) params: pie::Params,
    /// The link's rate at the start, packets per second: PIE knows no other if it does not measure.
    c: f64,
    /// A packet of the usual size, and a mean one, in bytes.
    sizes: [f64; 2],
    p: f64,
    /// At the last update.
    delay: Span,
}

impl Pie {
    pub(super) fn new(params: &pie::Params, port: &Port) -> Self {
        Self {
            params: params.clone(),
            c: port.rate.packets(port.packet),
            sizes: [port.packet, params.mean_packet.unwrap_or(port.packet)].map(|packet| packet.0 as f64),
            p: 0.0,
            delay: Span::ZERO,
        }
    }

    /// An error if it could never measure a delay.
    pub(super) fn check(params: &pie::Params, port: &Port) -> Result<(), Unsupported> {
        let (needed, room) =
            (params.dq_threshold.0 as f64, port.limit.packets(port.packet) * port.packet.0 as f64);
        if params.delay != Delay::Departures || room >= needed {
            return Ok(());
        }
        Err(Unsupported::new(format!(
            "aqm.dq_threshold = {needed} B: the buffer holds {room:.0} B, so that PIE never measures a delay and drops nothing \
             early; set a smaller dq_threshold, or delay = \"timestamps\""
        )))
    }

    /// The parts of the algorithm that are left out.
    pub(super) fn left_out(params: &pie::Params) -> impl Iterator<Item = String> {
        let docsis = params.form == Form::Docsis;
        let parts = [
            (params.max_burst > Span::ZERO, "PIE's burst allowance"),
            (true, "that two packets may always wait"),
            (params.derandomise, "the even spacing of drops"),
            (params.on_off || docsis, "that PIE drops nothing until a third of the buffer has filled"),
            (
                params.delay == Delay::Departures,
                "the measurement of the departure rate: the link's rate replaces it",
            ),
            (
                params.by_size || docsis,
                "that p is scaled by a packet's size, except for packets of the usual size",
            ),
            (params.ecn, "that PIE drops instead of marking where p is above mark_ecnth"),
        ];
        parts.into_iter().filter(|(is, _)| *is).map(|(_, what)| what.to_owned())
    }

    /// The share of packets of the usual size that is dropped.
    #[inline]
    pub(super) fn p(&self) -> f64 {
        let short = self.delay.secs() < 0.5 * self.params.target.secs();
        if short && self.p < 0.2 {
            return 0.0;
        }
        let [usual, mean] = self.sizes;
        self.params.of_size(self.p, usual, mean).min(1.0)
    }

    pub(super) fn update(&mut self, q: f64, c: f64, sojourn: impl FnOnce() -> f64) {
        let delay = Span::from_secs(match self.params.delay {
            Delay::Departures => q / c,
            Delay::Timestamps => sojourn(),
            Delay::Rate => q / self.c,
        });
        let next = self.params.next(self.p, [self.delay, delay], q <= 0.0);
        self.p = next.min(self.params.max(self.sizes[1]));
        self.delay = delay;
    }

    pub(super) fn signals(&self) -> [f64; 2] {
        [self.p.min(1.0), self.delay.secs()]
    }
}

#[derive(Clone, Debug)]
pub(super) struct Pi2 {
    pub(super) params: pi2::Params,
    pi: BasePi,
    delay: f64,
}

impl Pi2 {
    pub(super) fn new(params: &pi2::Params) -> Self {
        Self { params: params.clone(), pi: params.controller(), delay: 0.0 }
    }

    /// The share of the packets that is dropped.
    #[inline]
    pub(super) const fn p(&self) -> f64 {
        self.pi.p() * self.pi.p()
    }

    pub(super) fn update(&mut self, sojourn: f64) {
        self.delay = sojourn;
        self.pi.update(Span::from_secs(sojourn));
    }

    pub(super) const fn signals(&self) -> [f64; 3] {
        [self.p(), (self.params.k * self.pi.p()).min(1.0), self.delay]
    }
}
