//! Sources of datagrams and their sinks.

use crate::connections::{Connection, Role};
use crate::driver::{Action, Driver};
use aqm::unit::{Span, Time};
use netsim::traffic::{Setting, Source, starts};
use run::Watch;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recvfrom};
use scenario::model::{Ecn, UDP_HEADER, Udp};
use socket2::Socket;
use std::io::{self, Read as _};
use std::net::SocketAddr;

/// A source with its socket.
#[derive(Debug)]
pub(crate) struct UdpSource {
    class: usize,
    stop: Time,
    packets: Source,
    socket: Socket,
    /// Whether its packets are requests, which begin with the time when they are sent.
    asks: bool,
}

/// Bytes of the time at the start of a request.
const STAMP: usize = size_of::<u64>();
/// Bytes of the largest datagram.
const LARGEST: usize = 1 << 16;

impl Driver {
    /// Makes the sources of a traffic entry.
    pub(crate) fn add_sources(&mut self, class: usize, udp: &Udp, ecn: Ecn) -> io::Result<()> {
        let entry = self.scenario.traffic[class].clone();
        let stop = netsim::traffic::stop(&entry);
        for (i, start) in starts(&entry, self.seed).enumerate() {
            let setting = Setting { class: class as u16, forward: 0, reverse: 0, ecn, start, end: self.end };
            let packets = Source::new(setting, &entry, udp, i, self.seed, &mut Watch::default());
            let packets = packets.expect("nobody stops it");
            let [from, to] = self.hosts.ends(&self.scenario, class, i);
            let socket = self.sockets.source(class, from, to, ecn)?;
            self.flows.insert((class, socket.local_addr()?.as_socket().expect("an address")), i);
            self.plan(packets.start(), Action::Datagram(self.sources.len()));
            let asks = matches!(udp, Udp::Ping(_));
            if asks {
                let connection = Connection { socket: socket.try_clone()?, class, role: Role::Asker };
                self.open(connection, EventFlags::IN)?;
            }
            self.sources.push(UdpSource { class, stop, packets, socket, asks });
        }
        Ok(())
    }

    /// Sends what a source has to send now, and plans its next packet.
    pub(crate) fn send_datagrams(&mut self, index: usize, now: Time, planned: Time) {
        let source = &mut self.sources[index];
        let mut at = planned;
        while at <= now && at < source.stop {
            let sent = source.packets.send();
            let payload =
                usize::from(sent.size).saturating_sub((UDP_HEADER + self.sockets.ip.extra_header()) as usize);
            self.counters.datagrams.tried += 1;
            // Room for the time, which the zeros keep until the next request.
            let payload = if source.asks {
                self.zeros[..STAMP].copy_from_slice(&self.clock.now().nanos().to_be_bytes());
                payload.max(STAMP)
            } else {
                payload
            };
            let sent_all = source.socket.send(&self.zeros[..payload]);
            if let Err(error) = sent_all {
                let name = &self.scenario.traffic[source.class].name;
                self.counters.datagrams.fail(format!("traffic.{name}: a datagram was not sent: {error}"));
            }
            match sent.gap {
                Some(Span::ZERO) => {}
                Some(gap) => at += gap,
                None => return,
            }
        }
        if at < source.stop {
            self.plan(at, Action::Datagram(index));
        }
    }

    /// Takes the datagrams that have come to a sink.
    pub(crate) fn take_datagrams(&mut self, token: u64) -> io::Result<()> {
        let Some((connection, buffer)) = self.table.with_buffer(token) else { return Ok(()) };
        let class = connection.class;
        loop {
            match connection.socket.recv_from(buffer) {
                Ok((bytes, from)) => {
                    let flow = from.as_socket().and_then(|from| self.flows.get(&(class, from)));
                    self.counters.deliver(class, flow.copied(), bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Answers the requests that have come to a server, with what they hold.
    pub(crate) fn answer(&mut self, token: u64) -> io::Result<()> {
        let Some(Connection { socket, class, .. }) = self.table.get(token) else { return Ok(()) };
        let mut request = [0; LARGEST];
        loop {
            let (bytes, from) = match recvfrom(&*socket, &mut request, RecvFlags::empty()) {
                Ok((bytes, _, Some(from))) => (bytes, SocketAddr::try_from(from)?),
                Ok((_, _, None)) | Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let flow = self.flows.get(&(*class, from)).copied();
            self.counters.deliver(*class, flow, bytes);
            self.counters.datagrams.tried += 1;
            if let Err(error) = socket.send_to(&request[..bytes], &from.into()) {
                let name = &self.scenario.traffic[*class].name;
                self.counters.datagrams.fail(format!("traffic.{name}: an answer was not sent: {error}"));
            }
        }
    }

    /// Takes the answers to requests.
    pub(crate) fn take_answers(&mut self, token: u64) -> io::Result<()> {
        let now = self.clock.now();
        let Some(Connection { socket, class, .. }) = self.table.get(token) else { return Ok(()) };
        let mut answer = [0; LARGEST];
        loop {
            match (&*socket).read(&mut answer) {
                Ok(bytes) => {
                    if let Some(stamp) = answer[..bytes].first_chunk() {
                        let sent = Time::from_nanos(u64::from_be_bytes(*stamp));
                        self.counters.round_trip(*class, now.since(sent));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}
