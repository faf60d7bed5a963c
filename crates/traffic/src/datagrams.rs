//! Sources of datagrams and their sinks.

use crate::world::{Deed, World};
use aqm::unit::{Span, Time};
use netsim::traffic::{Setting, Source, starts};
use run::Watch;
use scenario::model::{Ecn, UDP_HEADER, Udp};
use socket2::Socket;
use std::io;

/// A source with its socket.
#[derive(Debug)]
pub(crate) struct Outlet {
    class: usize,
    stop: Time,
    source: Source,
    socket: Socket,
}

impl World {
    /// Makes the sources of a traffic entry.
    pub(crate) fn add_sources(&mut self, class: usize, udp: &Udp, ecn: Ecn) -> io::Result<()> {
        let entry = self.scenario.traffic[class].clone();
        let stop = netsim::traffic::stop(&entry);
        for (i, start) in starts(&entry, self.seed).enumerate() {
            let setting = Setting { class: class as u16, forward: 0, ecn, start, end: self.end };
            let source = Source::new(setting, &entry, udp, i, self.seed, &mut Watch::default());
            let source = source.expect("nobody stops it");
            let [from, to] = self.hosts.ends(&self.scenario, class, i);
            let socket = self.sockets.source(class, from, to, ecn)?;
            self.flows.insert((class, socket.local_addr()?.as_socket().expect("an address")), i);
            self.plan(source.start(), Deed::Datagram(self.outlets.len()));
            self.outlets.push(Outlet { class, stop, source, socket });
        }
        Ok(())
    }

    /// Sends what a source has to send now, and plans its next packet.
    pub(crate) fn send_datagrams(&mut self, index: usize, now: Time, planned: Time) {
        let outlet = &mut self.outlets[index];
        let mut at = planned;
        while at <= now && at < outlet.stop {
            let sent = outlet.source.send();
            let payload =
                usize::from(sent.size).saturating_sub((UDP_HEADER + self.sockets.ip.extra_header()) as usize);
            self.counters.datagrams.tried += 1;
            if let Err(error) = outlet.socket.send(&self.zeros[..payload]) {
                let name = &self.scenario.traffic[outlet.class].name;
                self.counters.datagrams.fail(format!("traffic.{name}: a datagram was not sent: {error}"));
            }
            match sent.gap {
                Some(Span::ZERO) => {}
                Some(gap) => at += gap,
                None => return,
            }
        }
        if at < outlet.stop {
            self.plan(at, Deed::Datagram(index));
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
}
