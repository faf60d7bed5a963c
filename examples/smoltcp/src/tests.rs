//! A TCP transfer between two interfaces of smoltcp in virtual time.

use super::*;
use aqm::{Limit, Rate};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::Medium;
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

type Wire = Rc<RefCell<VecDeque<Vec<u8>>>>;

/// An end of a wire on which nothing takes time.
struct End {
    out: Wire,
    into: Wire,
}

struct Received(Vec<u8>);

impl smoltcp::phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl smoltcp::phy::TxToken for &End {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let mut packet = vec![0; len];
        let result = write(&mut packet);
        self.out.borrow_mut().push_back(packet);
        result
    }
}

impl Device for End {
    type RxToken<'a> = Received;
    type TxToken<'a> = &'a Self;

    fn receive(&mut self, _: Instant) -> Option<(Received, &Self)> {
        let packet = self.into.borrow_mut().pop_front()?;
        Some((Received(packet), self))
    }

    fn transmit(&mut self, _: Instant) -> Option<&Self> {
        Some(self)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ip, 1500);
        capabilities
    }
}

struct Host {
    device: Queued<End>,
    interface: Interface,
    sockets: SocketSet<'static>,
    tcp: SocketHandle,
}

impl Host {
    fn new(number: u8, end: End, aqm: &str, port: &Port) -> Self {
        let mut device = Queued::new(end, &aqm.parse().unwrap(), port, 1).unwrap();
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Instant::ZERO);
        let address = IpCidr::new(IpAddress::v4(10, 0, 0, number), 24);
        interface.update_ip_addrs(|addresses| addresses.push(address).unwrap());
        let buffer = || SocketBuffer::new(vec![0; 600_000]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(CongestionControl::Cubic);
        let mut sockets = SocketSet::new(vec![]);
        let tcp = sockets.add(socket);
        Self { device, interface, sockets, tcp }
    }

    fn poll(&mut self, now: Instant) -> Option<Instant> {
        self.interface.poll(now, &mut self.device, &mut self.sockets);
        let at = self.interface.poll_at(now, &self.sockets);
        at.into_iter().chain(self.device.poll_at()).min()
    }
}

/// What 30 s of a transfer come to behind a discipline at 10 Mbit/s and 40 ms.
struct Outcome {
    goodput: f64,
    mean_wait: f64,
    drops: u64,
}

fn transfer(aqm: &str) -> Outcome {
    let port = Port { delay: Span::ms(20), ..Port::new(Rate::mbit_per_s(10), Limit::Packets(400)) };
    let (there, back) = (Wire::default(), Wire::default());
    let end = |out: &Wire, into: &Wire| End { out: Rc::clone(out), into: Rc::clone(into) };
    let mut client = Host::new(1, end(&there, &back), aqm, &port);
    let mut server = Host::new(2, end(&back, &there), "droptail", &port);
    server.sockets.get_mut::<Socket<'_>>(server.tcp).listen(80).unwrap();
    let socket = client.sockets.get_mut::<Socket<'_>>(client.tcp);
    socket.connect(client.interface.context(), (IpAddress::v4(10, 0, 0, 2), 80), 50_000).unwrap();
    let (mut now, end) = (Instant::ZERO, Instant::from_secs(30));
    let (mut sent, mut received) = (0_usize, 0_usize);
    while now < end {
        let socket = client.sockets.get_mut::<Socket<'_>>(client.tcp);
        while socket.can_send() {
            sent += socket
                .send(|room| {
                    room.iter_mut().zip(sent..).for_each(|(byte, number)| *byte = (number % 251) as u8);
                    (room.len(), room.len())
                })
                .unwrap();
        }
        let due = client.poll(now);
        let other = server.poll(now);
        let socket = server.sockets.get_mut::<Socket<'_>>(server.tcp);
        let before = received;
        while socket.can_recv() {
            received += socket
                .recv(|bytes| {
                    assert!(bytes.iter().zip(received..).all(|(byte, number)| *byte == (number % 251) as u8));
                    (bytes.len(), bytes.len())
                })
                .unwrap();
        }
        // The ends take packets from each other, and the server acknowledges what was read, in another turn.
        let goes_on = received > before || !there.borrow().is_empty() || !back.borrow().is_empty();
        let next = due.into_iter().chain(other).min().unwrap_or(end);
        now = if goes_on { now } else { next }.max(now + smoltcp::time::Duration::from_micros(1));
    }
    let counts = client.device.link().counts();
    Outcome {
        goodput: received as f64 * 8.0 / 30.0,
        mean_wait: client.device.waited().secs() / counts.departures as f64,
        drops: counts.drops(),
    }
}

#[test]
fn codel_shortens_the_wait_of_a_transfer_that_fills_the_link() {
    let [tail, codel] = ["droptail", "codel"].map(|aqm| {
        let outcome = transfer(aqm);
        let (rate, wait) = (outcome.goodput / 1e6, outcome.mean_wait * 1e3);
        println!("{aqm}: {rate:.2} Mbit/s, mean wait {wait:.1} ms, {} drops", outcome.drops);
        outcome
    });
    assert!(tail.goodput > 9e6 && codel.goodput > 8.5e6);
    assert!(codel.mean_wait < tail.mean_wait / 20.0);
    assert!(codel.drops > 0);
}
