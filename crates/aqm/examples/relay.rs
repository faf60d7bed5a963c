//! A relay of UDP datagrams behind a link of some rate, delay and discipline, in both directions; for one client, such
//! as a program under test, whose server is elsewhere.
//!
//! ```text
//! relay --listen 127.0.0.1:7000 --to 192.0.2.1:7000 --rate 10Mbit --aqm codel --delay 20ms --packets 1000
//! ```
//!
//! A datagram leaves up to some milliseconds late, as the system's timers do, but the next one is not later for that.
//! The standard library reads and sets no ECN bits, so a discipline can only drop.

use aqm::link::Link;
use aqm::params::{Field, Value};
use aqm::{AnyParams, Header, Limit, Port, Rate, Span, Time};
use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{io, process, thread};

/// The headers of UDP and IPv4.
const HEADERS: usize = 28;

/// Relays datagrams in two threads; returns the number of those that were dropped in either direction,
/// the server's first.
fn start(
    listen: UdpSocket,
    to: SocketAddr,
    aqm: &AnyParams,
    port: &Port,
) -> Result<[Arc<AtomicU64>; 2], Box<dyn Error>> {
    let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let out = UdpSocket::bind(any)?;
    out.connect(to)?;
    let client = Arc::new(Mutex::new(None));
    let links = [Link::new(aqm, port, 1)?, Link::new(aqm, port, 2)?];
    let dropped = [Arc::default(), Arc::default()];
    let [there, back] = links;
    let (listen_too, out_too) = (listen.try_clone()?, out.try_clone()?);
    let (count, count_back) = (Arc::clone(&dropped[0]), Arc::clone(&dropped[1]));
    let client_too = Arc::clone(&client);
    let from_client = move |from| *client.lock().expect("no thread panics") = Some(from);
    let to_server = move |datagram: &[u8]| out_too.send(datagram);
    let to_client = move |datagram: &[u8]| match *client_too.lock().expect("no thread panics") {
        Some(client) => listen_too.send_to(datagram, client),
        None => Ok(0),
    };
    thread::spawn(move || carry(there, &listen, from_client, to_server, &count));
    thread::spawn(move || carry(back, &out, |_| (), to_client, &count_back));
    Ok(dropped)
}

/// Carries datagrams in one direction, for ever.
fn carry(
    mut link: Link<Vec<u8>>,
    from: &UdpSocket,
    seen: impl Fn(SocketAddr),
    send: impl Fn(&[u8]) -> io::Result<usize>,
    dropped: &AtomicU64,
) {
    let start = Instant::now();
    let mut buffer = vec![0; 65_536];
    loop {
        let now = || Time::from_nanos(start.elapsed().as_nanos() as u64);
        let wait = link.next().map(|next| Duration::from_nanos(next.since(now()).nanos().max(1000)));
        from.set_read_timeout(wait).expect("longer than 0");
        // An error is the end of the pause, or a message that the other end is not there yet.
        if let Ok((size, sender)) = from.recv_from(&mut buffer) {
            seen(sender);
            let header = Header { udp: true, ..Header::new((size + HEADERS) as u32) };
            link.send(now(), header, buffer[..size].to_vec());
        }
        while let Some(arrival) = link.receive(now()) {
            let _ = send(&arrival.packet);
        }
        dropped.store(link.counts().drops(), Ordering::Relaxed);
    }
}

fn main() {
    if let Err(error) = run(std::env::args().skip(1)) {
        eprintln!("relay: {error}");
        process::exit(2);
    }
}

fn run(mut words: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let (mut listen, mut to, mut aqm) = (None, None, "codel".parse()?);
    let (mut rate, mut delay, mut packets) = (None, Span::ZERO, 1000);
    while let Some(option) = words.next() {
        let word = words.next().ok_or_else(|| format!("{option}: a value must follow"))?;
        let bad = || format!("{option} {word}: must be like 10Mbit, 20ms or 127.0.0.1:7000");
        let text = Value::Text(word.clone());
        match &*option {
            "--listen" => listen = Some(UdpSocket::bind(&word).map_err(|error| format!("{word}: {error}"))?),
            "--to" => to = Some(word.to_socket_addrs()?.next().ok_or_else(bad)?),
            "--rate" => rate = Some(Rate::read(&text).ok_or_else(bad)?),
            "--delay" => delay = Span::read(&text).ok_or_else(bad)?,
            "--packets" => packets = word.parse().map_err(|_| bad())?,
            "--aqm" => aqm = word.parse()?,
            _ => return Err(format!("{option}: must be listen, to, rate, aqm, delay or packets").into()),
        }
    }
    let (Some(listen), Some(to), Some(rate)) = (listen, to, rate) else {
        return Err("give --listen, --to and --rate".into());
    };
    let dropped = start(listen, to, &aqm, &Port { delay, ..Port::new(rate, Limit::Packets(packets)) })?;
    loop {
        thread::sleep(Duration::from_secs(10));
        let [there, back] = dropped.each_ref().map(|count| count.load(Ordering::Relaxed));
        println!("dropped so far: {there} to the server, {back} to the client");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client, a server and the numbers of dropped datagrams, with a relay between them.
    fn behind(aqm: &str, port: &Port) -> (UdpSocket, UdpSocket, [Arc<AtomicU64>; 2]) {
        let [client, relay, server] = [(); 3].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
        client.connect(relay.local_addr().unwrap()).unwrap();
        for socket in [&client, &server] {
            socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        }
        let to = server.local_addr().unwrap();
        (client, server, start(relay, to, &aqm.parse().unwrap(), port).unwrap())
    }

    /// The numbers of those of 60 datagrams, 10 ms each on the link, that arrive; the others must be counted as dropped.
    fn carried(aqm: &str, packets: u32) -> Vec<u8> {
        let port = Port::new(Rate::mbit_per_s(1), Limit::Packets(packets));
        let (client, server, [dropped, _]) = behind(aqm, &port);
        let (begun, mut arrived) = (Instant::now(), Vec::new());
        for number in 0..60 {
            client.send(&[number; 1250 - HEADERS]).unwrap();
        }
        let mut buffer = [0; 2000];
        while arrived.len() as u64 + dropped.load(Ordering::Relaxed) < 60 {
            if let Ok(size) = server.recv(&mut buffer) {
                assert_eq!(size, 1250 - HEADERS);
                arrived.push(buffer[0]);
                // However late it is read, it cannot have left earlier.
                assert!(begun.elapsed() >= Duration::from_millis(10) * arrived.len() as u32);
            }
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
        assert!(arrived.is_sorted(), "{arrived:?}");
        arrived
    }

    #[test]
    fn the_rate_is_held_and_what_does_not_fit_is_dropped() {
        assert!(carried("droptail", 20).len() >= 21);
    }

    #[test]
    fn drops_beside_a_packet_that_arrives_are_counted() {
        let arrived = carried("codel:interval=20ms", 1000).len();
        assert!((10..60).contains(&arrived), "{arrived}");
    }

    #[test]
    fn both_directions_have_the_delay() {
        let port = Port { delay: Span::ms(30), ..Port::new(Rate::mbit_per_s(100), Limit::Packets(20)) };
        let (client, server, dropped) = behind("codel", &port);
        let (begun, mut buffer) = (Instant::now(), [0; 100]);
        client.send(b"ping").unwrap();
        let await_one = |socket: &UdpSocket, buffer: &mut [u8]| {
            (0..1000).find_map(|_| socket.recv_from(buffer).ok()).expect("it arrives within 50 s")
        };
        let (size, relay) = await_one(&server, &mut buffer);
        assert!(begun.elapsed() >= Duration::from_millis(30));
        server.send_to(&buffer[..size], relay).unwrap();
        let (size, _) = await_one(&client, &mut buffer);
        assert_eq!(&buffer[..size], b"ping");
        assert!(begun.elapsed() >= Duration::from_millis(60));
        assert_eq!(dropped.map(|count| count.load(Ordering::Relaxed)), [0, 0]);
    }
}
