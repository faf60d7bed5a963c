//! Users who read pages: a client thinks, opens some connections to its server, fetches the objects of a page
//! over them, closes them and thinks again.
//!
//! A connection is persistent and carries one request at a time (HTTP/1.1 without pipelining): it asks for its
//! next object when the last has arrived completely. The first free connection requests the next object. A connection is
//! opened only for an object, whose time then includes the handshake.
//!
//! A connection is two TCP flows, one in each direction, each with its own ACKs. Client to server: the SYN, then one
//! segment per request, retransmitted until it is acknowledged. Server to client: the objects, without a handshake of their own,
//! from an initial window on. Differences from a real connection: the server's ACKs ride on no data (a
//! request costs the path to the client a packet of headers, half a packet with delayed ACKs); the server's first
//! round-trip time is the client's, measured with its SYN; a lost SYN shrinks only the client's window. The client closes
//! the connection, with a FIN if its TCP is Linux's; it stays until both flows are acknowledged.
//!
//! A client that plays a video ([`crate::traffic::player`]) fetches its chunks in one session, over one connection.

use crate::network::route::Paths;
use crate::traffic::pages::{self, Reader};
use crate::traffic::plan;
use aqm::unit::{Span, Time};
use run::Playback;
use scenario::model::{Profile, Traffic, Web};

/// The common parameters of the clients of a `web` entry.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) class: u16,
    /// The profiles of the two flows of a connection.
    pub(crate) requests: u16,
    pub(crate) objects: u16,
    pub(crate) web: Web,
    stop: Time,
}

/// A client, and the server ends of its connections.
#[derive(Debug)]
pub(crate) struct Client {
    /// The index of its site.
    pub(crate) site: u16,
    /// Its number in its traffic entry.
    pub(crate) number: u32,
    /// Whether it begins sessions, and goes on with a video, as far as its site does.
    pub(crate) active: bool,
    /// The paths of the objects: forward to the client, in reverse to the server.
    pub(crate) paths: Paths,
    reader: Reader,
    /// The connections of the session, in the order in which they were opened.
    pub(crate) connections: Vec<Connection>,
    /// Objects of the session that are not yet complete.
    missing: u32,
    /// When the session began.
    began: Time,
}

/// A connection of a session.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// The slots of its two flows.
    pub(crate) requests: u32,
    pub(crate) objects: u32,
    /// The last requested object, until it has arrived.
    fetch: Option<Fetch>,
    /// The number of requests at the server.
    asked: u32,
    /// Segments of all objects up to the last one.
    segments: u32,
}

/// An object on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fetch {
    since: Time,
    /// Payload bytes, and the segments that carry them.
    pub(crate) size: u64,
    pub(crate) segments: u32,
}

/// An object that has arrived completely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrived {
    pub(crate) object: Fetch,
    /// Since the client wanted it.
    pub(crate) took: Span,
    /// Since the session began, if it is the session's last object.
    pub(crate) session: Option<Span>,
    /// How long the client waits before the next.
    pub(crate) wait: Span,
}

impl Site {
    pub(crate) fn new(class: u16, requests: u16, objects: u16, entry: &Traffic, web: &Web) -> Self {
        Self { class, requests, objects, web: web.clone(), stop: plan::stop(entry) }
    }

    /// Whether a session may begin at `now`, or the next chunk of a video be asked for.
    pub(crate) fn is_active(&self, now: Time) -> bool {
        now < self.stop
    }

    /// Connections of a session.
    pub(crate) fn connections(&self) -> u16 {
        pages::connections(&self.web)
    }
}

impl Connection {
    pub(crate) const fn new(requests: u32, objects: u32) -> Self {
        Self { requests, objects, fetch: None, asked: 0, segments: 0 }
    }

    /// Whether the server has had a request.
    pub(crate) const fn has_served(&self) -> bool {
        self.asked > 0
    }

    /// The server has `requests` requests: the object that the latest is for, if it is new.
    pub(crate) fn serve(&mut self, requests: u32) -> Option<Fetch> {
        let new = requests > self.asked;
        self.asked = self.asked.max(requests);
        self.fetch.filter(|_| new)
    }
}

impl Client {
    pub(crate) const fn new(site: u16, number: u32, paths: Paths, reader: Reader) -> Self {
        let connections = Vec::new();
        Self { site, number, active: true, paths, reader, connections, missing: 0, began: Time::ZERO }
    }

    /// The think time.
    pub(crate) fn think(&mut self, site: &Site) -> Span {
        self.reader.think(&site.web)
    }

    /// Whether it plays a video.
    pub(crate) const fn plays(&self) -> bool {
        self.reader.plays()
    }

    /// Its playback until now.
    pub(crate) fn playback(&self, now: Time) -> Playback {
        self.reader.playback(now)
    }

    /// Begins a session, without connections so far.
    pub(crate) fn begin(&mut self, site: &Site, now: Time) {
        debug_assert!(self.missing == 0 || self.plays(), "the last session is over");
        self.connections.clear();
        self.reader.begin(&site.web, now);
        (self.missing, self.began) = (site.web.objects, now);
    }

    /// Asks for the next object over a connection that is free, unless there is none left.
    pub(crate) fn ask(
        &mut self,
        site: &Site,
        profile: &Profile,
        connection: u16,
        now: Time,
    ) -> Option<Fetch> {
        let size = self.reader.ask(&site.web)?;
        let fetch = Fetch { since: now, size, segments: profile.segments(size) };
        let connection = &mut self.connections[usize::from(connection)];
        connection.fetch = Some(fetch);
        connection.segments = connection.segments.saturating_add(fetch.segments);
        Some(fetch)
    }

    /// The object that is complete now that `segments` segments have arrived over a connection, if one is.
    pub(crate) fn take(&mut self, connection: u16, segments: u32, now: Time) -> Option<Arrived> {
        let connection = &mut self.connections[usize::from(connection)];
        if segments < connection.segments {
            return None;
        }
        let object = connection.fetch.take()?;
        self.missing -= 1;
        let session = (self.missing == 0).then(|| now - self.began);
        let took = now - object.since;
        Some(Arrived { object, took, session, wait: self.reader.take(now, took) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rng::Stream;
    use aqm::Bytes;
    use scenario::Distribution;
    use scenario::model::{Dscp, Tcp, TrafficKind};

    fn site(connections: u32, objects: u32, size: Distribution<Bytes>) -> Site {
        let web = Web {
            connections,
            objects,
            size,
            request: Bytes(300),
            think: Distribution::Exponential(Span::s(1)),
            video: None,
        };
        let entry = Traffic {
            name: "x".to_owned(),
            from: vec![0],
            to: vec![1],
            count: 1,
            packet_size: Bytes(500),
            send_jitter: Span::ZERO,
            class: 1,
            dscp: Dscp::Be,
            begin: Span::ZERO,
            start: Distribution::Fixed(Span::ZERO),
            stop: Some(Span::s(100)),
            kind: TrafficKind::Web(Tcp::default(), web.clone()),
        };
        Site::new(0, 0, 1, &entry, &web)
    }

    /// A client with its connections open.
    fn client(site: &Site) -> Client {
        let mut client = Client::new(
            0,
            0,
            Paths { forward: 0, reverse: 1 },
            Reader::new(Stream::new(1, "client"), &site.web),
        );
        client.begin(site, Time::ZERO);
        client.connections =
            (0..u32::from(site.connections())).map(|i| Connection::new(2 * i, 2 * i + 1)).collect();
        client
    }

    fn profile() -> Profile {
        Profile::new(&Tcp::default(), 500)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn a_session_is_over_when_its_last_object_has_arrived() {
        let site = site(2, 3, Distribution::Fixed(Bytes(1000)));
        let (mut client, profile) = (client(&site), profile());
        let first = client.ask(&site, &profile, 0, at(10)).unwrap();
        assert_eq!((first.size, first.segments), (1000, 3));
        assert!(client.ask(&site, &profile, 1, at(20)).is_some());
        assert_eq!(client.take(1, 2, at(30)), None, "a segment is missing");
        let done = client.take(1, 3, at(40)).unwrap();
        assert_eq!((done.took, done.session), (Span::ms(20), None));
        assert_eq!(client.take(1, 3, at(41)), None, "it has been taken");
        // The third object follows over the connection that is free: its last segment is the sixth there.
        assert!(client.ask(&site, &profile, 1, at(50)).is_some());
        assert_eq!(client.take(1, 5, at(60)), None);
        assert_eq!(client.take(1, 6, at(70)).unwrap().session, None);
        assert_eq!(client.ask(&site, &profile, 1, at(70)), None, "no object is left");
        let done = client.take(0, 3, at(110)).unwrap();
        assert_eq!((done.took, done.session), (Span::ms(100), Some(Span::ms(110))));
    }

    #[test]
    fn a_request_is_served_once() {
        let site = site(1, 2, Distribution::Fixed(Bytes(1000)));
        let (mut client, profile) = (client(&site), profile());
        let fetch = client.ask(&site, &profile, 0, at(0));
        let connection = &mut client.connections[0];
        assert_eq!(connection.serve(0), None, "only the SYN has arrived");
        assert_eq!(connection.serve(1), fetch);
        assert_eq!(connection.serve(1), None, "a copy");
    }

    #[test]
    fn the_sequence_of_sizes_and_thoughts_does_not_depend_on_which_connection_is_free() {
        let site = site(3, 6, Distribution::Pareto(Bytes(10_000), 1.3));
        let session = |order: [u16; 6]| {
            let (mut client, profile) = (client(&site), profile());
            let sizes = order.map(|connection| client.ask(&site, &profile, connection, at(0)).unwrap().size);
            (sizes, client.think(&site))
        };
        assert_eq!(session([0, 1, 2, 0, 1, 2]), session([2, 1, 0, 0, 0, 0]));
        assert!(session([0; 6]).0.iter().all(|&size| size >= 2307));
    }

    #[test]
    fn no_more_connections_are_opened_than_there_are_objects() {
        assert_eq!(site(6, 50, Distribution::Fixed(Bytes(1))).connections(), 6);
        assert_eq!(site(6, 2, Distribution::Fixed(Bytes(1))).connections(), 2);
        assert!(site(1, 1, Distribution::Fixed(Bytes(1))).is_active(at(99_999)));
        assert!(!site(1, 1, Distribution::Fixed(Bytes(1))).is_active(at(100_000)));
    }
}
