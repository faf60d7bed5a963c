//! A device for smoltcp whose packets leave through a queue and a link of some rate and delay, in front of any other
//! device of IP packets. Time is what the caller of `Interface::poll` states, be it real or virtual.
//!
//! smoltcp's TCP sends no packets that are ECN-capable and ignores marks, so a discipline can only drop.

#[cfg(test)]
mod tests;

use aqm::link::Link;
use aqm::params::ParamError;
use aqm::{AnyParams, Header, Port, Span, Time};
use smoltcp::phy::{Device, DeviceCapabilities, TxToken as _};
use smoltcp::time::Instant;
use smoltcp::wire::Ipv4Packet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A device that sends through a queue and a link, and receives as the device behind it does.
#[derive(Debug)]
pub struct Queued<D> {
    inner: D,
    link: Link<Vec<u8>>,
    /// The sum of the times that packets have waited in the queue.
    waited: Span,
}

impl<D: Device> Queued<D> {
    /// A link in front of `inner`, under a discipline such as `codel:target=5ms`.
    ///
    /// # Errors
    /// If the parameters do not fit the port.
    pub fn new(inner: D, params: &AnyParams, port: &Port, seed: u64) -> Result<Self, ParamError> {
        Ok(Self { inner, link: Link::new(params, port, seed)?, waited: Span::ZERO })
    }

    /// When the device has something to do, so that `Interface::poll` has to be called then at the latest.
    pub fn poll_at(&self) -> Option<Instant> {
        // An instant is whole microseconds; an earlier call would find nothing.
        self.link.next().map(|at| Instant::from_micros((at.nanos().div_ceil(1000)).cast_signed()))
    }

    /// The link, with its counters.
    pub const fn link(&self) -> &Link<Vec<u8>> {
        &self.link
    }

    /// The sum of the times that the packets which have arrived waited in the queue.
    pub const fn waited(&self) -> Span {
        self.waited
    }

    /// Hands over to the device behind the link what has arrived there.
    fn advance(&mut self, now: Instant) {
        while let Some(arrival) = self.link.receive(time(now)) {
            self.waited = self.waited + arrival.waited;
            if let Some(token) = self.inner.transmit(now) {
                token.consume(arrival.packet.len(), |buffer| buffer.copy_from_slice(&arrival.packet));
            }
        }
    }
}

fn time(now: Instant) -> Time {
    Time::from_nanos(now.total_micros().max(0).cast_unsigned() * 1000)
}

/// What a queue may know of an IP packet: its size, and a number for its addresses, protocol and ports.
fn header(packet: &[u8]) -> Header {
    let mut hash = DefaultHasher::new();
    if let Ok(ip) = Ipv4Packet::new_checked(packet) {
        (ip.src_addr().octets(), ip.dst_addr().octets(), u8::from(ip.next_header())).hash(&mut hash);
        // TCP and UDP begin with the ports. A fragment behind the first has none.
        ip.payload().get(..4).filter(|_| ip.frag_offset() == 0 && !ip.more_frags()).hash(&mut hash);
    }
    Header { flow: hash.finish(), ..Header::new(packet.len() as u32) }
}

/// The right to send a packet through the queue.
#[derive(Debug)]
pub struct TxToken<'a> {
    link: &'a mut Link<Vec<u8>>,
    now: Time,
}

impl smoltcp::phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut packet = vec![0; len];
        let result = write(&mut packet);
        self.link.send(self.now, header(&packet), packet);
        result
    }
}

impl<D: Device> Device for Queued<D> {
    type RxToken<'a>
        = D::RxToken<'a>
    where
        D: 'a;
    type TxToken<'a>
        = TxToken<'a>
    where
        D: 'a;

    fn receive(&mut self, now: Instant) -> Option<(D::RxToken<'_>, TxToken<'_>)> {
        self.advance(now);
        let (received, _) = self.inner.receive(now)?;
        Some((received, TxToken { link: &mut self.link, now: time(now) }))
    }

    fn transmit(&mut self, now: Instant) -> Option<TxToken<'_>> {
        self.advance(now);
        Some(TxToken { link: &mut self.link, now: time(now) })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        self.inner.capabilities()
    }
}
