//! One end of a connection: quinn's endpoint and connection, and the application that downloads or serves.

use super::control::{Factory, Shared};
use super::log::Log;
use super::tls;
use aqm::unit::{Span, Time};
use bytes::{Bytes, BytesMut};
use netsim::stack::{Codepoint, Datagram, Stack, State, Wanted};
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, ReadError, ServerConfig, StreamId, Transmit,
    TransportConfig, VarInt, WriteError,
};
use scenario::model::{Ecn, QuicControl};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The datagrams of one batch, which are sent at once, as quinn hands them to the kernel.
const BATCH: usize = 10;
/// The bytes of the identifier that quinn's client chooses for its first packet.
const ID: usize = 20;
/// A piece of the download.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
/// What the client asks.
const REQUEST: &[u8] = b"GET /";

/// What an end does with the stream.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// It sends as many bytes as are `left`, without end if none are given.
    Server {
        left: Option<u64>,
    },
    Client {
        received: u64,
        complete: bool,
    },
}

/// One end.
pub(crate) struct End {
    role: Role,
    told: Told,
    endpoint: Endpoint,
    /// What the client connects with, until it has.
    config: Option<ClientConfig>,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    /// Datagrams that the endpoint itself sends, and room for a batch.
    answers: Vec<Datagram>,
    buffer: Vec<u8>,
    problem: Option<String>,
}

impl fmt::Debug for End {
    fn fmt(&self, fmt: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt.debug_struct("End")
            .field("role", &self.role)
            .field("stream", &self.stream)
            .finish_non_exhaustive()
    }
}

/// The address of the other end, which is the same for both: each has a network of its own.
fn peer() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 443))
}

/// The time that stands for the start of the run, and what an end reports.
struct Told {
    base: Instant,
    shared: Shared,
    log: Option<Log>,
}

impl Told {
    fn new(wanted: &Wanted<'_>) -> Self {
        Self { base: Instant::now(), shared: Shared::default(), log: wanted.qlog.then(Log::default) }
    }
}

fn transport(control: QuicControl, wanted: &Wanted<'_>, told: &Told) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    let shared = &told.shared;
    config
        .congestion_controller_factory(Arc::new(Factory { control, shared: shared.clone() }))
        .initial_mtu(wanted.payload)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .qlog_stream(told.log.as_ref().and_then(|log| log.stream(told.base)));
    Arc::new(config)
}

/// An end's own random numbers, which differ from those of the other end.
fn endpoint(wanted: &Wanted<'_>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    let mut config = EndpointConfig::default();
    let mut seed = wanted.seed;
    seed[0] ^= u8::from(server.is_some());
    config
        .rng_seed(Some(seed))
        .max_udp_payload_size(wanted.payload)
        .expect("the scenario's check knows the least");
    Endpoint::new(Arc::new(config), server, false, None)
}

impl End {
    pub(crate) fn server(control: QuicControl, wanted: &Wanted<'_>) -> Self {
        let told = Told::new(wanted);
        let mut config = ServerConfig::with_crypto(tls::server());
        config.transport_config(transport(control, wanted, &told));
        let endpoint = endpoint(wanted, Some(Arc::new(config)));
        Self::new(Role::Server { left: wanted.size }, endpoint, None, told)
    }

    pub(crate) fn client(control: QuicControl, wanted: &Wanted<'_>) -> Self {
        let told = Told::new(wanted);
        let mut config = ClientConfig::new(tls::client());
        config.transport_config(transport(control, wanted, &told));
        // It identifies the connection in a log.
        let id = ConnectionId::new(&wanted.seed[..ID]);
        config.initial_dst_cid_provider(Arc::new(move || id));
        let role = Role::Client { received: 0, complete: false };
        Self::new(role, endpoint(wanted, None), Some(config), told)
    }

    fn new(role: Role, endpoint: Endpoint, config: Option<ClientConfig>, told: Told) -> Self {
        Self {
            role,
            told,
            endpoint,
            config,
            connection: None,
            stream: None,
            answers: Vec::new(),
            buffer: Vec::new(),
            problem: None,
        }
    }

    fn instant(&self, now: Time) -> Instant {
        self.told.base + Duration::from_nanos(now.nanos())
    }

    /// Takes what has happened to the connection.
    fn take_events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if matches!(self.role, Role::Client { .. }) => {
                    self.stream = connection.streams().open(Dir::Bi);
                    let Some(stream) = self.stream else { continue };
                    let mut stream = connection.send_stream(stream);
                    let asked = stream.write(REQUEST).is_ok_and(|length| length == REQUEST.len());
                    if !asked || stream.finish().is_err() {
                        self.problem = Some("its request finds no room".to_owned());
                    }
                }
                // The client hangs up when it has all.
                Event::ConnectionLost {
                    reason: ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed,
                } => {}
                Event::ConnectionLost { reason } => self.problem = Some(format!("connection lost: {reason}")),
                _ => {}
            }
        }
        if self.stream.is_none() && matches!(self.role, Role::Server { .. }) {
            self.stream = connection.streams().accept(Dir::Bi);
        }
    }

    /// The application writes, or reads and in the end hangs up.
    fn serve(&mut self, now: Instant) {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else { return };
        match &mut self.role {
            Role::Server { left } => {
                let mut stream = connection.send_stream(stream);
                while *left != Some(0) {
                    let most = left.map_or(ZEROS.len(), |left| ZEROS.len().min(left as usize));
                    match stream.write_chunks(&mut [Bytes::from_static(&ZEROS[..most])]) {
                        Ok(written) => *left = left.map(|left| left - written.bytes as u64),
                        Err(WriteError::Blocked) => return,
                        // The client has hung up.
                        Err(_) => return,
                    }
                }
                // A second time it has no effect.
                let _ = stream.finish();
            }
            Role::Client { received, complete } => {
                let mut stream = connection.recv_stream(stream);
                let Ok(mut chunks) = stream.read(true) else { return };
                loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => *received += chunk.bytes.len() as u64,
                        Ok(None) => break *complete = true,
                        Err(ReadError::Blocked) => break,
                        Err(ReadError::Reset(code)) => {
                            break self.problem = Some(format!("its download was reset: {code}"));
                        }
                    }
                }
                let _ = chunks.finalize();
                if *complete {
                    connection.close(now, VarInt::from_u32(0), Bytes::new());
                }
            }
        }
    }
}

/// The codepoint that a datagram is sent with.
fn sent(ecn: Option<EcnCodepoint>) -> Ecn {
    match ecn {
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) | None => Ecn::None,
    }
}

/// The datagrams of a batch.
fn split(transmit: &Transmit, batch: &[u8]) -> impl Iterator<Item = Datagram> {
    let ecn = sent(transmit.ecn);
    let size = transmit.segment_size.unwrap_or(transmit.size);
    batch[..transmit.size].chunks(size).map(move |datagram| Datagram { payload: datagram.to_vec(), ecn })
}

impl Stack for End {
    fn recv(&mut self, now: Time, datagram: &[u8], ecn: Codepoint) {
        let ecn = match ecn {
            Codepoint::NotEct => None,
            Codepoint::Ect0 => Some(EcnCodepoint::Ect0),
            Codepoint::Ect1 => Some(EcnCodepoint::Ect1),
            Codepoint::Ce => Some(EcnCodepoint::Ce),
        };
        let now = self.instant(now);
        self.buffer.clear();
        match self.endpoint.handle(now, peer(), None, ecn, BytesMut::from(datagram), &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut self.buffer, None) {
                    Ok(connection) if self.connection.is_none() => self.connection = Some(connection),
                    Ok(_) => self.problem = Some("the client connects a second time".to_owned()),
                    Err(refused) => self.problem = Some(format!("handshake: {}", refused.cause)),
                }
            }
            Some(DatagramEvent::Response(transmit)) => self.answers.extend(split(&transmit, &self.buffer)),
            None => {}
        }
    }

    fn poll(&mut self, now: Time, out: &mut Vec<Datagram>) -> Result<(), String> {
        let now = self.instant(now);
        if let Some(config) = self.config.take() {
            let connected = self.endpoint.connect(now, config, peer(), tls::NAME);
            self.connection = Some(connected.map_err(|error| error.to_string())?);
        }
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|timeout| timeout <= now)
        {
            connection.handle_timeout(now);
        }
        self.take_events();
        self.serve(now);
        out.append(&mut self.answers);
        if let Some((_, connection)) = &mut self.connection {
            self.buffer.clear();
            while let Some(transmit) = connection.poll_transmit(now, BATCH, &mut self.buffer) {
                out.extend(split(&transmit, &self.buffer));
                self.buffer.clear();
            }
        }
        self.problem.take().map_or(Ok(()), Err)
    }

    fn timeout(&mut self) -> Option<Time> {
        let timeout = self.connection.as_mut()?.1.poll_timeout()?;
        Some(Time::from_nanos(timeout.saturating_duration_since(self.told.base).as_nanos() as u64))
    }

    fn stop(&mut self) {
        if let Role::Server { left } = &mut self.role {
            *left = Some(0);
        }
    }

    fn state(&self) -> State {
        let (delivered, complete) = match self.role {
            Role::Server { .. } => (0, false),
            Role::Client { received, complete } => (received, complete),
        };
        let calls = self.told.shared.calls();
        let mut state = State { delivered, complete, threshold: calls.threshold, ..State::default() };
        if let Some((_, connection)) = &self.connection {
            let path = connection.stats().path;
            (state.lost, state.window) = (path.lost_packets, path.cwnd);
            state.smoothed =
                (!connection.is_handshaking()).then(|| Span::ns(connection.rtt().as_nanos() as u64));
        }
        state
    }

    fn round_trip(&mut self) -> Option<Span> {
        self.told.shared.calls().round_trips.pop_front()
    }

    fn qlog(&self) -> Option<Vec<u8>> {
        self.told.log.as_ref().map(Log::text)
    }
}
