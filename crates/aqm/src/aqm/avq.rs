//! AVQ: drops or marks when a virtual queue, which is served more slowly than the real one, overflows.
//!
//! The virtual queue VQ receives the arrivals of the real queue, is served at the virtual capacity C~ and has a buffer
//! B, `buflim` times the real one. With C the link's rate, b the arriving packet and t - s the time since the last
//! arrival:
//!
//! ```text
//! VQ <- max(0, VQ - C~ (t - s))
//! drop (mark) if VQ + b > B, else VQ <- VQ + b
//! C~ <- max(0, min(C, C~ + alpha gamma C (t - s)) - alpha b)      form = "paper"
//! C~ <- clip(C~ + alpha gamma C (t - s) - alpha b, 0, C)          form = "ns2", unless it is dropped
//! ```
//!
//! C~ settles where the rate that it counts is gamma C. The form "paper" counts every arrival: without ECN, the link
//! carries (1 - l) gamma C at a loss ratio l, and arrivals that do not slow down reduce C~ to 0, after which every
//! packet is dropped until they do. The form "ns2" counts the packets that the virtual queue accepts: the link carries
//! gamma C, and t - s is then the time since the last accepted packet.
//!
//! Decides at: enqueue. Timer: none. Randomness: none. State: VQ (0 at the start), C~, the times of the last arrival
//! and of the last arrival that C~ counted (no time has passed before the first).
//!
//! # Departures from the source
//! The paper leaves the initial C~ open; both forms start as ns-2 does. ns-2 fixes alpha at 0.15; here it is a
//! parameter. ns-2 has options to drop or mark at the front of the queue; here only the arriving packet is dropped or
//! marked. As in ns-2, the form "ns2" with `ecn` drops no packet early, not even one that cannot be marked; the form
//! "paper" drops packets that cannot be marked. A packet that overflows the real buffer has passed through the virtual
//! queue like any other arrival.
//!
//! # Sources
//! Kunniyur, Srikant, "Analysis and design of an adaptive virtual queue (AVQ) algorithm for active queue
//! management", SIGCOMM 2001; ns-2.35, vq.cc. Tested against both.

use crate::contract::{Aqm, Backlog, Numbers, Packet, Port, Signal, Uniform, Verdict};
use crate::params::Range;
use crate::unit::{Bytes, Limit, Time};

crate::choice! {
    /// The arrivals that the virtual capacity counts.
    pub enum Form {
        /// Every arrival; C~ is capped before the arrival is subtracted (the paper's pseudocode).
        Paper = "paper",
        /// The arrivals that the virtual queue accepts; C~ is capped afterwards (ns-2's vq.cc).
        Ns2 = "ns2",
    }
}

crate::params! {
    /// AVQ's parameters.
    pub struct Params {
        /// Desired utilisation: the virtual capacity settles where arrivals take this fraction of the link's rate.
        gamma: f64 = 0.98, "", Range::above(0.0, 1.0), ["gamma_"];
        /// Adaptation rate of the virtual capacity (ns-2's default); at 0 the capacity stays at its initial value. An
        /// excessive rate is unstable: the LRED paper gives a limit of 0.2 for 100 flows of 450 ms at 2500 packets/s.
        alpha: f64 = 0.15, "1/s", Range::new(0.0, 1e3);
        /// Initial virtual capacity, as a fraction of the link's rate.
        initial: f64 = 0.8, "", Range::new(0.0, 1.0), ["ecnlim", "ecnlim_"];
        /// Virtual buffer, as a multiple of the real one.
        buflim: f64 = 1.0, "", Range::above(0.0, 1e6), ["buflim_"];
        /// The arrivals that the virtual capacity counts: `paper`, all; `ns2`, those that the virtual queue accepts.
        form: Form = Form::Paper, "";
        /// Measure the virtual queue in bytes, as the paper and ns-2 do, rather than in packets.
        bytes: bool = true, "", Range::ANY, ["queue_in_bytes_"];
        /// The packet size that converts between bytes and packets: for a buffer limited in packets with `bytes`, and
        /// for the link's rate without. With ns-2's 1000 B, the virtual buffer is twice the real one for 500-byte
        /// packets. If omitted, the port's packet.
        mean_packet: Option<Bytes> = None, "bytes", Range::new(1.0, 65_535.0), ["mean_pktsize_"];
        /// Mark packets of ECN-capable transports instead of dropping them.
        ecn: bool = false, "", Range::ANY, ["markpkts_"];
    }
}

/// The algorithm; see the module. It counts in bytes or in packets.
#[derive(Clone, Debug)]
pub struct Avq {
    alpha: f64,
    form: Form,
    bytes: bool,
    ecn: bool,
    /// A packet of the mean size, in the unit of the counts.
    packet: f64,
    /// The virtual buffer B.
    buffer: f64,
    /// The link's rate C, per second.
    c: f64,
    /// The target rate gamma C of C~, per second.
    desired: f64,
    vq: f64,
    /// The virtual capacity C~, per second.
    capacity: f64,
    /// When the last packet arrived.
    arrived: Time,
    /// When the last arrival that C~ counted came.
    counted: Option<Time>,
}

impl Avq {
    /// The verdict on a packet that overflows the virtual queue.
    #[inline]
    fn refusal(&self, ect: bool) -> Verdict {
        match self.form {
            Form::Ns2 if self.ecn && !ect => Verdict::Pass,
            _ => Verdict::signal(self.ecn && ect),
        }
    }

    /// Adapts C~ to an arrival of `b`, `seconds` after the last counted arrival.
    #[inline]
    fn adapt(&mut self, b: f64, seconds: f64) {
        let (up, down) = (self.alpha * self.desired * seconds, self.alpha * b);
        self.capacity = match self.form {
            Form::Paper => ((self.capacity + up).min(self.c) - down).max(0.0),
            Form::Ns2 => (self.capacity + up - down).clamp(0.0, self.c),
        };
    }
}

impl Aqm for Avq {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[
        Signal { name: "vq", unit: "packets", doc: "Virtual queue after the last arrival." },
        Signal { name: "capacity", unit: "", doc: "Virtual capacity as a fraction of the link's rate." },
    ];
    const PRESETS: &'static [(&'static str, &'static str)] =
        &[("ns2.35", "ns-2.35's defaults: its form, packets of 1000 bytes whatever the traffic's")];

    fn new(params: &Params, port: &Port) -> Self {
        let mean = params.mean_packet.unwrap_or(port.packet);
        let (packet, c) = if params.bytes {
            (mean.0 as f64, port.rate.bits() / 8.0)
        } else {
            (1.0, port.rate.packets(mean))
        };
        let limit = match port.limit {
            Limit::Bytes(limit) | Limit::BytesBefore(limit) if params.bytes => limit as f64,
            limit => limit.packets(mean) * packet,
        };
        Self {
            alpha: params.alpha,
            form: params.form,
            bytes: params.bytes,
            ecn: params.ecn,
            packet,
            buffer: params.buflim * limit,
            c,
            desired: params.gamma * c,
            vq: 0.0,
            capacity: params.initial * c,
            arrived: Time::ZERO,
            counted: None,
        }
    }

    fn fixed(params: &Params, port: &Port) -> Numbers {
        let avq = Self::new(params, port);
        // The time that the link needs for a unit of the counts, in ns.
        let unit = 1e9 / avq.c;
        let per_2_20_ns = 1_048_576.0 * 1e-9;
        let values = vec![
            ("unit", unit),
            ("packets", 1.0 / (avq.packet * unit)),
            ("buffer", avq.buffer * unit),
            ("rise", params.alpha * params.gamma * per_2_20_ns),
            ("fall", params.alpha * per_2_20_ns),
        ];
        Numbers { values, of: vec!["alpha", "gamma", "buflim", "mean_packet"] }
    }

    fn preset(name: &str) -> Option<Params> {
        match name {
            "ns2.35" => Some(Params { form: Form::Ns2, mean_packet: Some(Bytes(1000)), ..Params::default() }),
            _ => None,
        }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, now: Time, packet: &Packet, _: &Backlog, _: &mut R) -> Verdict {
        let b = if self.bytes { f64::from(packet.size) } else { 1.0 };
        let uncounted = now.since(*self.counted.get_or_insert(now)).secs();
        self.vq = (self.vq - self.capacity * now.since(self.arrived).secs()).max(0.0);
        self.arrived = now;
        let verdict = if self.vq + b > self.buffer {
            self.refusal(packet.ect)
        } else {
            self.vq += b;
            Verdict::Pass
        };
        if self.form == Form::Paper || verdict != Verdict::Drop {
            self.adapt(b, uncounted);
            self.counted = Some(now);
        }
        verdict
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, before: Self) {
        // The counts may be bytes now that were packets, and the link may have another rate.
        self.vq = before.vq * (self.packet / before.packet);
        self.capacity = before.capacity * (self.c / before.c);
        (self.arrived, self.counted) = (before.arrived, before.counted);
    }

    fn signals(&self, mut visit: impl FnMut(usize, f64)) {
        visit(0, self.vq / self.packet);
        visit(1, self.capacity / self.c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PACKET, PORT, assert_close, full, waiting};

    const UDP: Packet = Packet { ect: false, ..PACKET };

    fn arrive(avq: &mut Avq, us: u64, packet: &Packet) -> Verdict {
        avq.on_enqueue(Time::from_nanos(us * 1000), packet, &waiting(9), &mut Draw(0.5))
    }

    /// AVQ after this many full-sized packets at time zero.
    fn after(packets: u32, params: &Params) -> Avq {
        let mut avq = Avq::new(params, &PORT);
        for _ in 0..packets {
            assert_eq!(arrive(&mut avq, 0, &PACKET), Verdict::Pass);
        }
        avq
    }

    #[test]
    fn the_virtual_queue_is_served_at_the_virtual_capacity_and_never_negative() {
        // 0.8 of 1.25 bytes per microsecond.
        let mut avq = after(4, &Params { alpha: 0.0, ..Params::default() });
        assert_close(avq.vq, 2000.0);
        arrive(&mut avq, 700, &Packet::new(40, false));
        assert_close(avq.vq, 2000.0 - 700.0 + 40.0);
        arrive(&mut avq, 9000, &PACKET);
        assert_close(avq.vq, 500.0);
    }

    #[test]
    fn the_virtual_buffer_fills_exactly_and_a_refused_packet_is_not_in_it() {
        let mut avq = after(200, &Params::default());
        assert_close(avq.vq, 100_000.0);
        assert_eq!(arrive(&mut avq, 0, &Packet::new(1, false)), Verdict::Drop);
        assert_close(avq.vq, 100_000.0);
        let small = Params { buflim: 0.5, ..Params::default() };
        assert_eq!(arrive(&mut after(100, &small), 0, &PACKET), Verdict::Drop);
    }

    #[test]
    fn the_virtual_capacity_gains_with_time_and_loses_with_arrivals() {
        for form in [Form::Paper, Form::Ns2] {
            let mut avq = Avq::new(&Params { form, ..Params::default() }, &PORT);
            // No time has passed before the first arrival.
            arrive(&mut avq, 5000, &PACKET);
            assert_close(avq.capacity, 1e6 - 0.15 * 500.0);
            arrive(&mut avq, 6000, &PACKET);
            assert_close(avq.capacity, 1e6 - 2.0 * 0.15 * 500.0 + 0.15 * 0.98 * 1.25e6 * 1e-3);
        }
    }

    #[test]
    fn the_paper_caps_before_it_subtracts_and_ns2_after() {
        let capped = |form| {
            let mut avq = after(1, &Params { form, ..Params::default() });
            arrive(&mut avq, 60_000_000, &PACKET);
            avq.capacity
        };
        assert_close(capped(Form::Paper), 1.25e6 - 75.0);
        assert_close(capped(Form::Ns2), 1.25e6);
        for form in [Form::Paper, Form::Ns2] {
            assert_close(after(3, &Params { form, alpha: 1e3, ..Params::default() }).capacity, 0.0);
        }
    }

    #[test]
    fn a_dropped_arrival_counts_in_the_paper_and_waits_for_the_next_in_ns2() {
        // The buffer holds one packet.
        let params = |form| Params { form, buflim: 0.005, ..Params::default() };
        let (gain, loss) = (0.15 * 0.98 * 1.25, 0.15 * 500.0);
        for (form, dropped, passed) in [
            (Form::Paper, 100.0 * gain - loss, 900.0 * gain - 2.0 * loss),
            (Form::Ns2, 0.0, 900.0 * gain - loss),
        ] {
            let mut avq = after(1, &params(form));
            let start = avq.capacity;
            assert_eq!(arrive(&mut avq, 100, &PACKET), Verdict::Drop);
            assert_close(avq.capacity - start, dropped);
            assert_eq!(arrive(&mut avq, 900, &PACKET), Verdict::Pass);
            assert_close(avq.capacity - start, passed);
        }
    }

    #[test]
    fn ecn_marks_packets_that_can_be_marked_and_only_the_paper_drops_the_others() {
        for (form, verdict) in [(Form::Paper, Verdict::Drop), (Form::Ns2, Verdict::Pass)] {
            let mut avq = after(200, &Params { form, ecn: true, ..Params::default() });
            let before = avq.capacity;
            assert_eq!(arrive(&mut avq, 0, &PACKET), Verdict::Mark);
            assert_eq!(arrive(&mut avq, 0, &UDP), verdict);
            assert_close(avq.capacity, before - 2.0 * 75.0);
            assert_close(avq.vq, 100_000.0);
        }
    }

    #[test]
    fn packets_that_overflow_the_real_buffer_pass_through_the_virtual_one() {
        let mut avq = after(1, &Params::default());
        avq.on_enqueue(Time::ZERO, &PACKET, &full(), &mut Draw(0.5));
        assert_close(avq.vq, 1000.0);
        assert_close(avq.capacity, 1e6 - 150.0);
    }

    #[test]
    fn counted_in_packets_sizes_do_not_matter() {
        let mut avq = Avq::new(&Params { bytes: false, alpha: 0.0, ..Params::default() }, &PORT);
        arrive(&mut avq, 0, &Packet::new(40, false));
        arrive(&mut avq, 0, &Packet::new(1500, false));
        arrive(&mut avq, 0, &PACKET);
        assert_close(avq.vq, 3.0);
        // 0.8 of 2500 packets/s.
        arrive(&mut avq, 1000, &PACKET);
        assert_close(avq.vq, 2.0);
    }

    #[test]
    fn the_mean_packet_sizes_the_virtual_buffer_of_a_limit_in_packets() {
        let buffer = |bytes, limit| {
            let params = Params { bytes, mean_packet: Some(Bytes(1000)), ..Params::default() };
            Avq::new(&params, &Port { limit, ..PORT }).buffer
        };
        assert_close(buffer(true, Limit::Packets(200)), 200_000.0);
        assert_close(buffer(true, Limit::Bytes(30_500)), 30_500.0);
        assert_close(buffer(false, Limit::Packets(200)), 200.0);
        assert_close(buffer(false, Limit::Bytes(30_500)), 30.5);
    }
}
