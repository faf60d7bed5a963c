//! Sockets in the namespaces of the hosts.

use router::hosts::{Host, Hosts, Ip, port, tcp};
use router::stack::control;
use router::sys;
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use scenario::Scenario;
use scenario::model::{Ecn, HEADER};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, RawFd};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;
/// Bytes that a source or sink of datagrams holds: no packet may be lost there.
const DATAGRAMS: usize = 8 << 20;
/// Bytes that an application hands over before they can be sent: few, so that it can stop.
pub(crate) const AHEAD: u32 = 128 << 10;

/// Makes sockets.
#[derive(Debug)]
pub(crate) struct Sockets {
    namespaces: Vec<File>,
    entered: Option<usize>,
    pub(crate) ip: Ip,
    kinds: Vec<Settings>,
}

/// The settings of the sockets of a traffic entry.
#[derive(Clone, Debug)]
struct Settings {
    /// The entry's name.
    entry: String,
    congestion: &'static str,
    /// The largest segment without options, in bytes.
    segment: u32,
}

impl Sockets {
    pub(crate) fn new(scenario: &Scenario, namespaces: &[RawFd], ip: Ip) -> io::Result<Self> {
        let opened = namespaces.iter().map(|fd| File::open(format!("/proc/self/fd/{fd}")));
        let kinds = scenario.traffic.iter().map(|entry| {
            let tcp = tcp(&entry.kind);
            let segment = entry.packet_size.0 as u32 - HEADER - ip.extra_header();
            let entry = entry.name.to_string();
            Settings {
                entry,
                congestion: tcp.and_then(|tcp| control(tcp.congestion)).unwrap_or("reno"),
                segment,
            }
        });
        Ok(Self { namespaces: opened.collect::<io::Result<_>>()?, entered: None, ip, kinds: kinds.collect() })
    }

    /// Moves the thread into the namespace of a host.
    pub(crate) fn enter(&mut self, host: Host) -> io::Result<()> {
        if self.entered != Some(host.namespace) {
            let namespace = self.namespaces[host.namespace].as_fd();
            move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?;
            self.entered = Some(host.namespace);
        }
        Ok(())
    }

    /// A socket of TCP. An error is one that all connections of the entry would have.
    pub(crate) fn stream(&mut self, class: usize, host: Host) -> io::Result<Socket> {
        let socket = self.socket(class, host, Type::STREAM, Protocol::TCP)?;
        let Settings { entry, congestion, segment } = &self.kinds[class];
        socket.set_tcp_congestion(congestion.as_bytes()).map_err(|error| {
            let what = format!(
                "traffic.{entry}.tcp.congestion = \"{congestion}\": this kernel cannot have it: {error}"
            );
            io::Error::new(
                error.kind(),
                format!("{what}; call modprobe tcp_{congestion}, or choose another one"),
            )
        })?;
        socket.set_tcp_mss(*segment)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_notsent_lowat(AHEAD)?;
        Ok(socket)
    }

    /// A socket that listens for the connections of a traffic entry.
    pub(crate) fn listener(&mut self, class: usize, host: Host) -> io::Result<Socket> {
        let socket = self.stream(class, host)?;
        socket.set_reuse_address(true)?;
        socket.bind(&self.address(host, port(class)))?;
        socket.listen(BACKLOG)?;
        Ok(socket)
    }

    /// Begins to connect a socket to a listener.
    pub(crate) fn connect(&self, socket: &Socket, class: usize, [from, to]: [Host; 2]) -> io::Result<()> {
        sys::bind_address_no_port(socket)?;
        socket.bind(&self.address(from, 0))?;
        match socket.connect(&self.address(to, port(class))) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INPROGRESS) => Ok(()),
            other => other,
        }
    }

    /// A socket that takes the datagrams of a traffic entry.
    pub(crate) fn sink(&mut self, class: usize, host: Host) -> io::Result<Socket> {
        let socket = self.socket(class, host, Type::DGRAM, Protocol::UDP)?;
        // Beyond the system's limit, if that is allowed.
        if set_socket_recv_buffer_size_force(&socket, DATAGRAMS).is_err() {
            socket.set_recv_buffer_size(DATAGRAMS)?;
        }
        socket.bind(&self.address(host, port(class)))?;
        Ok(socket)
    }

    /// A socket that sends datagrams.
    pub(crate) fn source(&mut self, class: usize, from: Host, to: Host, ecn: Ecn) -> io::Result<Socket> {
        let socket = self.socket(class, from, Type::DGRAM, Protocol::UDP)?;
        if set_socket_send_buffer_size_force(&socket, DATAGRAMS).is_err() {
            socket.set_send_buffer_size(DATAGRAMS)?;
        }
        let field = match ecn {
            Ecn::None => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
        };
        match self.ip {
            Ip::V4 => socket.set_tos_v4(field)?,
            Ip::V6 => socket.set_tclass_v6(field)?,
        }
        socket.bind(&self.address(from, 0))?;
        socket.connect(&self.address(to, port(class)))?;
        Ok(socket)
    }

    const fn domain(&self) -> Domain {
        match self.ip {
            Ip::V4 => Domain::IPV4,
            Ip::V6 => Domain::IPV6,
        }
    }

    fn address(&self, host: Host, port: u16) -> SockAddr {
        SocketAddr::new(host.address(self.ip), port).into()
    }

    fn socket(&mut self, class: usize, host: Host, kind: Type, protocol: Protocol) -> io::Result<Socket> {
        self.enter(host)?;
        Socket::new(self.domain(), kind.nonblocking(), Some(protocol)).map_err(|error| {
            let entry = &self.kinds[class].entry;
            let unnamed =
                || io::Error::new(error.kind(), format!("traffic.{entry}: there is no socket: {error}"));
            used_up(entry, &error).unwrap_or_else(unnamed)
        })
    }
}

/// The error of a traffic entry's socket with its remedy, if there are no more descriptors.
pub(crate) fn used_up(entry: &str, error: &io::Error) -> Option<io::Error> {
    let (limit, remedy) = match Errno::from_io_error(error)? {
        Errno::MFILE => {
            let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
            (format!("a process of this user may have {most}"), "ulimit -n")
        }
        Errno::NFILE => (format!("the system has no more ({error})"), "/proc/sys/fs/file-max"),
        _ => return None,
    };
    let text = format!(
        "traffic.{entry}: no descriptor is left for a socket: {limit}, and each connection takes two; raise the limit \
         ({remedy}), or lower count, connections or arrival_rate"
    );
    Some(io::Error::new(error.kind(), text))
}

/// The listeners and sinks that a traffic entry needs: one at each host that it may reach.
pub(crate) fn servers(scenario: &Scenario, hosts: &Hosts, class: usize, at_from: bool) -> Vec<Host> {
    let entry = &scenario.traffic[class];
    let count = entry.from.len().max(entry.to.len()) * entry.from.len().min(entry.to.len());
    let mut found = Vec::<Host>::new();
    for i in 0..count {
        let [from, to] = hosts.ends(scenario, class, i);
        let host = if at_from { from } else { to };
        if !found.contains(&host) {
            found.push(host);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;

    #[test]
    fn errors_that_all_connections_would_have_name_the_entry_and_the_remedy() {
        let text = "[dumbbell]\n[[traffic]]\nname = \"x\"\ntcp = \"linux\"\n";
        let scenario = Document::parse(text, "test").unwrap().check().unwrap();
        let hosts = Hosts::new(&scenario, false).unwrap();
        let mut sockets = Sockets::new(&scenario, &[], Ip::V4).unwrap();
        let host = hosts.all()[0];
        sockets.entered = Some(host.namespace); // that of the test
        assert!(sockets.stream(0, host).is_ok());
        sockets.kinds[0].congestion = "nonesuch";
        let error = sockets.stream(0, host).unwrap_err().to_string();
        assert!(
            error.starts_with("traffic.x.tcp.congestion = \"nonesuch\": this kernel cannot have it: "),
            "{error}"
        );
        assert!(error.ends_with("; call modprobe tcp_nonesuch, or choose another one"), "{error}");
        let full = used_up("x", &Errno::NFILE.into()).unwrap().to_string();
        assert!(
            full.starts_with("traffic.x: no descriptor is left for a socket: the system has no more"),
            "{full}"
        );
        assert!(full.contains("/proc/sys/fs/file-max"), "{full}");
        assert!(used_up("x", &Errno::CONNRESET.into()).is_none());
    }
}
