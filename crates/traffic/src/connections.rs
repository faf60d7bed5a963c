//! TCP connections: the flows that send and their receivers.

use crate::driver::{Action, Driver};
use crate::sockets::used_up;
use aqm::unit::Time;
use netsim::traffic::{Amount, stop};
use router::hosts::Host;
use router::sys::TcpInfo;
use rustix::event::epoll::EventFlags;
use socket2::Socket;
use std::io;
use std::mem::MaybeUninit;
use std::net::Shutdown;

/// The most bytes that an application offers to a socket at once.
pub(crate) const CHUNK: usize = 128 << 10;
/// Most bytes that are taken at once.
const BUFFER: usize = 1 << 20;

/// A socket and its purpose.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) class: usize,
    pub(crate) role: Role,
}

/// The purpose of a socket.
#[derive(Debug)]
pub(crate) enum Role {
    /// It accepts connections.
    Listener,
    /// It takes datagrams.
    Sink,
    /// It answers requests.
    Answerer,
    /// It takes the answers to requests.
    Asker,
    /// It sends a flow.
    Sender(Sender),
    /// It takes a flow, which is this one of those that are there for the whole run.
    Receiver(Option<usize>),
    /// It takes a flow that it has asked for, or will when its handshake is over.
    Caller(Option<usize>),
    /// A web client's end of a connection: the client, and which of its connections.
    Client(usize, u16),
    /// A web server's end.
    Server(crate::web::Server),
}

/// A flow that sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    /// When its application started it.
    pub(crate) start: Time,
    /// Bytes that the application has still to hand over; [`u64::MAX`] without end.
    pub(crate) left: u64,
    /// Whether its end counts as a completion.
    pub(crate) completes: bool,
    /// Whether its handshake is over.
    pub(crate) connected: bool,
    /// Bytes of the request that have still to come.
    pub(crate) awaits: usize,
    /// Its number among the flows that are there for the whole run.
    pub(crate) flow: Option<usize>,
}

/// The sockets, by token: a place, and the number of its user among those that have had it.
pub(crate) struct Table {
    places: Vec<(u32, Option<Connection>)>,
    free: Vec<u32>,
    buffer: Vec<MaybeUninit<u8>>,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("places", &self.places).finish_non_exhaustive()
    }
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), buffer: vec![MaybeUninit::uninit(); BUFFER] }
    }

    pub(crate) fn add(&mut self, connection: Connection) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            (self.places.len() - 1) as u32
        });
        let (user, free) = &mut self.places[place as usize];
        *user += 1;
        *free = Some(connection);
        u64::from(*user) << 32 | u64::from(place)
    }

    fn place(&mut self, token: u64) -> Option<&mut Option<Connection>> {
        let (user, connection) = &mut self.places[token as u32 as usize];
        (u64::from(*user) == token >> 32).then_some(connection)
    }

    pub(crate) fn get(&mut self, token: u64) -> Option<&mut Connection> {
        self.place(token)?.as_mut()
    }

    pub(crate) fn with_buffer(&mut self, token: u64) -> Option<(&mut Connection, &mut [MaybeUninit<u8>])> {
        let (user, connection) = &mut self.places[token as u32 as usize];
        let connection = connection.as_mut().filter(|_| u64::from(*user) == token >> 32)?;
        Some((connection, &mut self.buffer))
    }

    pub(crate) fn remove(&mut self, token: u64) -> Option<Connection> {
        let removed = self.place(token)?.take()?;
        self.free.push(token as u32);
        Some(removed)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Connection> {
        self.places.iter().filter_map(|(_, connection)| connection.as_ref())
    }
}

impl Role {
    /// Whether the socket sends data whose repair counts.
    pub(crate) const fn sends(&self) -> bool {
        matches!(self, Self::Sender(_) | Self::Caller(_) | Self::Client(..) | Self::Server(_))
    }
}

impl Driver {
    /// A flow starts; `None` if its connection failed at once.
    pub(crate) fn start(&mut self, class: usize, number: usize, sender: Sender) -> io::Result<Option<u64>> {
        self.counters.start(class);
        let ends = self.hosts.ends(&self.scenario, class, number);
        let Some(socket) = self.connect(class, ends)? else { return Ok(None) };
        if let (Some(flow), Some(address)) = (sender.flow, socket.local_addr()?.as_socket()) {
            self.flows.insert((class, address), flow);
        }
        let connection = Connection { socket, class, role: Role::Sender(sender) };
        self.open(connection, EventFlags::IN | EventFlags::OUT).map(Some)
    }

    /// The receiver of a flow starts it: it opens the connection, and asks for what the sender is to send.
    pub(crate) fn call(&mut self, class: usize, number: usize, sender: Sender) -> io::Result<()> {
        self.counters.start(class);
        let [from, to] = self.hosts.ends(&self.scenario, class, number);
        let Some(socket) = self.connect(class, [to, from])? else { return Ok(()) };
        if let Some(address) = socket.local_addr()?.as_socket() {
            self.asked.insert((class, address), sender);
        }
        let connection = Connection { socket, class, role: Role::Caller(sender.flow) };
        self.open(connection, EventFlags::IN | EventFlags::OUT)?;
        Ok(())
    }

    /// The receiver of a flow asks for it.
    pub(crate) fn send_request(&mut self, token: u64) -> io::Result<()> {
        let Some(&mut Connection { class, ref socket, .. }) = self.table.get(token) else { return Ok(()) };
        self.poll.modify(socket, token, EventFlags::IN)?;
        self.send_whole(token, &vec![0; self.request_size(class).unwrap_or_default()])
    }

    /// Sends a request, for which an empty socket has room.
    pub(crate) fn send_whole(&mut self, token: u64, request: &[u8]) -> io::Result<()> {
        let Some(Connection { socket, .. }) = self.table.get(token) else { return Ok(()) };
        match socket.send(request) {
            Ok(sent) if sent == request.len() => Ok(()),
            Ok(_) => self.fail(token, &io::ErrorKind::WriteZero.into()),
            Err(error) => self.fail(token, &error),
        }
    }

    /// A socket that connects; `None` if that failed at once.
    pub(crate) fn connect(&mut self, class: usize, ends: [Host; 2]) -> io::Result<Option<Socket>> {
        let socket = self.sockets.stream(class, ends[0])?;
        self.counters.connections.tried += 1;
        match self.sockets.connect(&socket, class, ends) {
            Ok(()) => Ok(Some(socket)),
            Err(error) => {
                self.count_failure(class, &error);
                Ok(None)
            }
        }
    }

    /// A flow of a `short` entry arrives; the next is planned.
    pub(crate) fn arrive(&mut self, class: usize, planned: Time) -> io::Result<()> {
        let arrivals = self.arrivals[class].as_mut().expect("the entry is short");
        let Some(arrival) = arrivals.arrive(planned) else { return Ok(()) };
        let next = arrivals.after(planned);
        self.plan(next, Action::Short(class));
        let left = match arrival.amount {
            Amount::Size(bytes) => bytes,
            Amount::Lifetime(_) => u64::MAX,
        };
        let sender =
            Sender { start: planned, left, completes: true, connected: false, awaits: 0, flow: None };
        let token = self.start(class, arrival.number, sender)?;
        if let (Some(token), Amount::Lifetime(lifetime)) = (token, arrival.amount) {
            self.plan(planned + lifetime, Action::Stop(token));
        }
        Ok(())
    }

    /// Lets the table and the system know a socket.
    pub(crate) fn open(&mut self, connection: Connection, events: EventFlags) -> io::Result<u64> {
        let token = self.table.add(connection);
        let socket = &self.table.get(token).expect("it was added").socket;
        self.poll.add(socket, token, events)?;
        Ok(token)
    }

    /// A flow's application produces no more.
    pub(crate) fn stop(&mut self, token: u64) -> io::Result<()> {
        let Some(Connection { role: Role::Sender(sender), .. }) = self.table.get(token) else {
            return Ok(());
        };
        // A transfer that is cut short does not complete.
        sender.completes &= sender.left == 0 || sender.left == u64::MAX;
        sender.left = 0;
        self.send(token)
    }

    /// Hands over what a socket takes.
    pub(crate) fn send(&mut self, token: u64) -> io::Result<()> {
        let Some(Connection { socket, role: Role::Sender(sender), .. }) = self.table.get(token) else {
            return Ok(());
        };
        if sender.awaits > 0 {
            return Ok(());
        }
        while sender.left > 0 {
            let chunk = sender.left.min(CHUNK as u64) as usize;
            match socket.send(&self.zeros[..chunk]) {
                Ok(sent) if sender.left < u64::MAX => sender.left -= sent as u64,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return self.fail(token, &error),
            }
        }
        // Linux would abort the handshake: the connection is closed when it is there.
        if !sender.connected {
            return Ok(());
        }
        // After the peer has gone, there is nothing to shut.
        match socket.shutdown(Shutdown::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            Err(error) => self.fail(token, &error),
            Ok(()) => self.poll.modify(&*socket, token, EventFlags::IN),
        }
    }

    /// Accepts all connections that wait.
    pub(crate) fn accept(&mut self, token: u64) -> io::Result<()> {
        loop {
            let Some(listener) = self.table.get(token) else { return Ok(()) };
            let class = listener.class;
            let (socket, from) = match listener.socket.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => {
                    if let Some(error) = used_up(&self.scenario.traffic[class].name, &error) {
                        return Err(error);
                    }
                    self.counters.connections.tried += 1;
                    self.count_failure(class, &error);
                    return Ok(()); // if others wait, there is another event
                }
            };
            self.counters.connections.tried += 1;
            socket.set_nonblocking(true)?;
            let from = from.as_socket().map(|from| (class, from));
            if let Some(sender) = from.and_then(|from| self.asked.remove(&from)) {
                let role = Role::Sender(sender);
                let token = self.open(Connection { socket, class, role }, EventFlags::IN)?;
                self.plan(stop(&self.scenario.traffic[class]), Action::Stop(token));
                continue;
            }
            let role = match self.request_size(class) {
                Some(size) => {
                    socket.set_tcp_nodelay(true)?;
                    Role::Server(crate::web::Server::new(size))
                }
                None => Role::Receiver(from.and_then(|from| self.flows.remove(&from))),
            };
            self.open(Connection { socket, class, role }, EventFlags::IN)?;
        }
    }

    /// Takes what has arrived at a receiver.
    pub(crate) fn receive(&mut self, token: u64) -> io::Result<()> {
        let Some((connection, buffer)) = self.table.with_buffer(token) else { return Ok(()) };
        let Connection { socket, class, role: Role::Receiver(flow) | Role::Caller(flow) } = connection else {
            return Ok(());
        };
        // Nothing is copied: the kernel only counts.
        match socket.recv_with_flags(buffer, libc_msg_trunc()) {
            Ok(0) => self.close(token),
            Ok(bytes) => self.counters.deliver(*class, *flow, bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return self.fail(token, &error),
        }
        Ok(())
    }

    /// The receiver of a flow has asked for it, or has closed: all data was acknowledged.
    pub(crate) fn finish(&mut self, token: u64, now: Time) -> io::Result<()> {
        let Some((connection, buffer)) = self.table.with_buffer(token) else { return Ok(()) };
        let Connection { socket, class, role: Role::Sender(sender) } = connection else { return Ok(()) };
        match socket.recv(buffer) {
            Ok(0) => {
                let (class, sender) = (*class, *sender);
                if sender.completes && sender.awaits == 0 {
                    self.counters.complete(class, now - sender.start);
                }
                self.close(token);
                Ok(())
            }
            Ok(bytes) if sender.awaits > 0 => {
                sender.awaits = sender.awaits.saturating_sub(bytes);
                if sender.awaits == 0 {
                    self.poll.modify(&*socket, token, EventFlags::IN | EventFlags::OUT)?;
                }
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => self.fail(token, &error),
        }
    }

    /// A connection is over.
    pub(crate) fn close(&mut self, token: u64) {
        let Some(Connection { socket, class, role }) = self.table.remove(token) else { return };
        if role.sends()
            && let Ok(info) = TcpInfo::of(&socket)
        {
            self.counters.retire(class, &info);
        }
    }

    /// A connection has failed.
    pub(crate) fn fail(&mut self, token: u64, error: &io::Error) -> io::Result<()> {
        if let Some(&mut Connection { class, ref role, .. }) = self.table.get(token) {
            let client = if let Role::Client(number, _) = role { Some(*number) } else { None };
            self.count_failure(class, error);
            self.close(token);
            if let Some(number) = client {
                self.end_session(number, self.clock.now());
            }
        }
        Ok(())
    }

    fn count_failure(&mut self, class: usize, error: &io::Error) {
        let name = &self.scenario.traffic[class].name;
        self.counters.connections.fail(format!("traffic.{name}: a connection failed: {error}"));
    }
}

/// MSG_TRUNC: of TCP, data is discarded instead of copied.
const fn libc_msg_trunc() -> std::ffi::c_int {
    rustix::net::RecvFlags::TRUNC.bits() as std::ffi::c_int
}
