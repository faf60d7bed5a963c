//! Users who read pages, and their servers; see the packet engine's `flows::web`.
//!
//! A request begins with the size of the object that it asks for.

use crate::connections::{CHUNK, Connection, Role};
use crate::driver::{Action, Driver};
use aqm::unit::{Span, Time};
use netsim::traffic::{Reader, connections, readers, stop};
use router::hosts::Host;
use rustix::event::epoll::EventFlags;
use scenario::model::{TrafficKind, Web};
use std::io;

/// Bytes of the size that a request asks for.
const SIZE: usize = 8;
/// How long a user waits, besides thinking, after a connection that failed at once: without thinking, no time would pass.
const RETRY: Span = Span::ms(1000);

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    class: usize,
    server: Host,
    host: Host,
    reader: Reader,
    /// The session's connections, and the object under way on each.
    tokens: Vec<u64>,
    fetches: Vec<Option<Fetch>>,
    /// Objects of the session that are not complete.
    missing: u32,
    /// When the session began.
    began: Time,
    /// When its next session begins, or the present one goes on after a wait; anything planned for another time is void.
    due: Option<Time>,
}

/// An object on its way.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    since: Time,
    left: u64,
    /// Whether the request was sent.
    asked: bool,
}

/// A server's end of a connection.
#[derive(Debug)]
pub(crate) struct Server {
    /// Bytes of a request.
    request: usize,
    /// Bytes of the present request so far, and the first of them.
    read: usize,
    head: [u8; SIZE],
    /// Bytes of objects that are still to be handed over.
    left: u64,
    /// Whether the system reports when more can be handed over.
    waits: bool,
}

impl Server {
    pub(crate) const fn new(request: usize) -> Self {
        Self { request, read: 0, head: [0; SIZE], left: 0, waits: false }
    }

    /// Reads requests.
    fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if let Some(place) = self.head.get_mut(self.read) {
                *place = byte;
            }
            self.read += 1;
            if self.read == self.request {
                self.left += u64::from_le_bytes(self.head);
                self.read = 0;
            }
        }
    }
}

impl Driver {
    fn web(&self, class: usize) -> Option<&Web> {
        match &self.scenario.traffic[class].kind {
            TrafficKind::Web(_, web) => Some(web),
            _ => None,
        }
    }

    /// Payload bytes of a request of this entry, if it has requests.
    pub(crate) fn request_size(&self, class: usize) -> Option<usize> {
        let entry = &self.scenario.traffic[class];
        let headers = entry.header() + u64::from(self.sockets.ip.extra_header());
        entry.kind.request().map(|request| (request.0.saturating_sub(headers) as usize).max(SIZE))
    }

    /// Makes the clients of a traffic entry.
    pub(crate) fn add_clients(&mut self, class: usize, web: &Web) {
        let entry = self.scenario.traffic[class].clone();
        for (i, (first, reader)) in readers(&entry, web, self.seed).enumerate() {
            let [server, host] = self.hosts.ends(&self.scenario, class, i);
            self.plan(first, Action::Session(self.clients.len()));
            let due = Some(first);
            let (tokens, fetches) = (Vec::new(), Vec::new());
            self.clients.push(Client {
                class,
                server,
                host,
                reader,
                tokens,
                fetches,
                missing: 0,
                began: first,
                due,
            });
        }
    }

    /// A client begins a session, or goes on with it after a wait.
    pub(crate) fn begin_session(&mut self, number: usize, now: Time) -> io::Result<()> {
        let client = &mut self.clients[number];
        if client.due != Some(now) {
            return Ok(());
        }
        client.due = None;
        let class = client.class;
        if let Some(&token) = client.tokens.first() {
            return self.ask(token, now);
        }
        if now >= stop(&self.scenario.traffic[class]) {
            return Ok(());
        }
        let web = self.web(class).expect("it is a web client").clone();
        let client = &mut self.clients[number];
        client.reader.begin(&web, now);
        client.missing = web.objects;
        client.began = now;
        client.tokens.clear();
        client.fetches.clear();
        let (server, host) = (client.server, client.host);
        for connection in 0..connections(&web) {
            let Some(socket) = self.connect(class, [host, server])? else {
                self.end_session(number, now + RETRY);
                return Ok(());
            };
            let role = Role::Client(number, connection);
            let token = self.open(Connection { socket, class, role }, EventFlags::IN | EventFlags::OUT)?;
            let client = &mut self.clients[number];
            client.tokens.push(token);
            client.fetches.push(None);
            self.choose(number, connection, &web, now);
        }
        Ok(())
    }

    /// Plans a session of a client, or that it goes on.
    fn plan_session(&mut self, number: usize, at: Time) {
        self.clients[number].due = Some(at);
        self.plan(at, Action::Session(number));
    }

    /// Counts what all clients have played by the end of the run.
    pub(crate) fn count_playback(&mut self, now: Time) {
        for client in &self.clients {
            self.counters.play(client.class, &client.reader.playback(now));
        }
    }

    /// A client wants its next object over a connection that is free, and returns whether there is one.
    fn choose(&mut self, number: usize, connection: u16, web: &Web, now: Time) -> bool {
        let client = &mut self.clients[number];
        let Some(left) = client.reader.ask(web) else { return false };
        client.fetches[usize::from(connection)] = Some(Fetch { since: now, left, asked: false });
        self.counters.start(client.class);
        true
    }

    /// A client asks for an object: the one for which it opened the connection, or its next.
    pub(crate) fn ask(&mut self, token: u64, now: Time) -> io::Result<()> {
        let Some(&mut Connection { role: Role::Client(number, connection), class, .. }) =
            self.table.get(token)
        else {
            return Ok(());
        };
        let (web, request) = (self.web(class).expect("it is a web client").clone(), self.request_size(class));
        let client = &mut self.clients[number];
        let wanted = client.fetches[usize::from(connection)];
        if wanted.is_some_and(|fetch| fetch.asked) {
            return Ok(()); // the connection became writable again
        }
        // A page is fetched to its end, a video until its viewer turns it off.
        if wanted.is_none() && client.reader.plays() && now >= stop(&self.scenario.traffic[class]) {
            for token in std::mem::take(&mut client.tokens) {
                self.close(token);
            }
            return Ok(());
        }
        self.watch_for_input(token)?;
        if wanted.is_none() && !self.choose(number, connection, &web, now) {
            return Ok(());
        }
        let fetch = self.clients[number].fetches[usize::from(connection)].as_mut().expect("it is wanted");
        fetch.asked = true;
        let size = fetch.left;
        let mut bytes = vec![0; request.expect("it is a web client")];
        bytes[..SIZE].copy_from_slice(&size.to_le_bytes());
        self.send_whole(token, &bytes)
    }

    fn watch_for_input(&mut self, token: u64) -> io::Result<()> {
        let socket = &self.table.get(token).expect("it is there").socket;
        self.poll.modify(socket, token, EventFlags::IN)
    }

    /// A client takes what has arrived of an object.
    pub(crate) fn take_object(&mut self, token: u64, now: Time) -> io::Result<()> {
        let Some((connection, buffer)) = self.table.with_buffer(token) else { return Ok(()) };
        let Connection { socket, class, role: Role::Client(number, index) } = connection else {
            return Ok(());
        };
        let (class, number, index) = (*class, *number, usize::from(*index));
        let bytes = match socket.recv(buffer) {
            Ok(0) => return self.fail(token, &io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return self.fail(token, &error),
        };
        self.counters.deliver(class, None, bytes);
        let client = &mut self.clients[number];
        let Some(fetch) = &mut client.fetches[index] else { return Ok(()) };
        fetch.left = fetch.left.saturating_sub(bytes as u64);
        if fetch.left > 0 {
            return Ok(());
        }
        let since = fetch.since;
        self.counters.complete(class, now - since);
        client.fetches[index] = None;
        client.missing -= 1;
        let wait = client.reader.take(now, now - since);
        if wait > Span::ZERO {
            self.plan_session(number, now + wait);
            return Ok(());
        }
        if client.missing > 0 {
            return self.ask(token, now);
        }
        let took = now - client.began;
        self.counters.end_session(class, took);
        self.end_session(number, now);
        Ok(())
    }

    /// A client closes its connections and thinks.
    pub(crate) fn end_session(&mut self, number: usize, now: Time) {
        let class = self.clients[number].class;
        let web = self.web(class).expect("it is a web client").clone();
        let client = &mut self.clients[number];
        let next = now + client.reader.think(&web);
        for token in std::mem::take(&mut client.tokens) {
            self.close(token);
        }
        self.plan_session(number, next);
    }

    /// A server reads requests, or sees that its client has closed.
    pub(crate) fn take_requests(&mut self, token: u64) -> io::Result<()> {
        let Some(Connection { socket, role: Role::Server(server), .. }) = self.table.get(token) else {
            return Ok(());
        };
        let mut bytes = [0; 2048];
        match io::Read::read(&mut &*socket, &mut bytes) {
            Ok(0) => {
                self.close(token);
                Ok(())
            }
            Ok(count) => {
                server.read(&bytes[..count]);
                self.serve(token)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => self.fail(token, &error),
        }
    }

    /// A server hands over what its socket takes.
    pub(crate) fn serve(&mut self, token: u64) -> io::Result<()> {
        let Some(Connection { socket, role: Role::Server(server), .. }) = self.table.get(token) else {
            return Ok(());
        };
        while server.left > 0 {
            let chunk = server.left.min(CHUNK as u64) as usize;
            match socket.send(&self.zeros[..chunk]) {
                Ok(sent) => server.left -= sent as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return self.fail(token, &error),
            }
        }
        let waits = server.left > 0;
        if waits != server.waits {
            server.waits = waits;
            let events = if waits { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            self.poll.modify(&*socket, token, events)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_reads_requests_however_they_are_cut() {
        let mut server = Server::new(20);
        let mut bytes = Vec::new();
        for size in [1000u64, 70_000] {
            bytes.extend(size.to_le_bytes());
            bytes.extend([0; 12]);
        }
        for chunk in bytes.chunks(7) {
            server.read(chunk);
        }
        assert_eq!((server.left, server.read), (71_000, 0));
    }
}
