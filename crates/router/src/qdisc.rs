//! A queue discipline of the kernel at the observed link, in place of one of ours.
//!
//! It sits on a TUN device in a namespace of its own, behind HTB, which has the link's rate. Packets go to it through an
//! [`Inlet`], and come back when it sends them; a packet that the kernel has let go without sending it was dropped. The
//! link's transmission and propagation remain those of the emulation.

use crate::entries::Entries;
use crate::inlet::Inlet;
use crate::namespace::be_silent;
use crate::sys;
use crate::tool::{context, tool};
use aqm::params::Field as _;
use scenario::model::Link;
use std::fs::File;
use std::io::{self, Read as _};

const DEVICE: &str = "aqmlab1";
/// Bytes that HTB sends at once in real time, where it is late by up to a packet: hardly more than one.
const BURST: u32 = 1600;
/// The time for which HTB makes up in virtual time, in seconds, beside two bytes, as tc rounds less to none. Its timers are late
/// by up to 256 ns there; with more, packets would pass after a pause as by a faster link.
const LATENESS: f64 = 1e-6;
/// The discipline's number (tc(8)).
const HANDLE: &str = "10:";
/// The disciplines that drop a packet only if they have no room for it.
const FIFOS: [&str; 3] = ["pfifo", "bfifo", "pfifo_head_drop"];

/// The discipline.
#[derive(Debug)]
pub struct Qdisc {
    /// Its device, which is readable when it has sent a packet.
    pub device: File,
    inlet: Inlet,
    /// When packets are sent, if that is asked for.
    departures: Option<Entries>,
    /// The packets whose fate is not known, in the order of their arrivals.
    waiting: Vec<Waiting>,
    decided: Vec<Decision>,
    packet: Box<[u8]>,
    fifo: bool,
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u32,
    place: usize,
    let_go: bool,
}

/// A packet that the discipline has sent or dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Its number.
    pub number: u32,
    /// What the discipline did.
    pub fate: Fate,
    /// When it was sent, in ns of the clock of the day, if the kernel notes that.
    pub noted: Option<u64>,
}

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was sent, perhaps with CE set.
    Sent {
        /// Whether it has CE.
        marked: bool,
    },
    /// It was dropped.
    Dropped {
        /// Whether there was no room for it; false if the reason is not known.
        full: bool,
    },
}

impl Qdisc {
    /// The discipline that `words`, tc's, describe at a link for packets of at most `mtu` bytes; if it is `timed`, the
    /// kernel notes when it sends them. The calling thread is in its namespace afterwards.
    ///
    /// # Errors
    /// If the system refuses, or tc does not understand the words.
    pub fn new(words: &str, link: &Link, mtu: usize, timed: bool) -> io::Result<Self> {
        sys::unshare_network(false).map_err(context("a network namespace"))?;
        // A packet of the kernel's own would take its turn, and its drop would be counted.
        be_silent()?;
        let device = sys::tun(DEVICE).map_err(context("/dev/net/tun"))?;
        let index = sys::device_number(DEVICE)?;
        let departures = timed.then(|| Entries::new(index)).transpose()?;
        tool("ip", &format!("link set {DEVICE} up addrgenmode none mtu {mtu}"))?;
        let (rate, overhead) = (link.rate.bits(), link.overhead.0);
        if link.framing.is_some() {
            let message =
                format!("link {}: the kernel's own discipline has no `framing`: remove it", link.name);
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let quantum = BURST.max(mtu as u32 + 100);
        let burst = if timed { quantum } else { (rate / 8.0 * LATENESS) as u32 + 2 };
        tool("tc", &format!("qdisc add dev {DEVICE} root handle 1: htb default 1"))?;
        tool(
            "tc",
            &format!(
                "class add dev {DEVICE} parent 1: classid 1:1 htb rate {rate}bit burst {burst} cburst {burst} \
                 quantum {quantum} overhead {overhead}"
            ),
        )?;
        tool("tc", &format!("qdisc add dev {DEVICE} parent 1:1 handle {HANDLE} {words}"))?;
        let name = words.split_whitespace().next().unwrap_or_default();
        Ok(Self {
            device,
            inlet: Inlet::new(index, mtu).map_err(context("a packet socket"))?,
            departures,
            waiting: Vec::new(),
            decided: Vec::new(),
            packet: vec![0; mtu].into_boxed_slice(),
            fifo: FIFOS.contains(&name),
            dropped: 0,
        })
    }

    /// Passes a packet to the discipline.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(&mut self, number: u32, packet: &[u8]) -> io::Result<()> {
        match self.inlet.send(packet)? {
            Some(place) => self.waiting.push(Waiting { number, place, let_go: false }),
            None => self.drop(number),
        }
        Ok(())
    }

    fn drop(&mut self, number: u32) {
        self.dropped += 1;
        self.decided.push(Decision { number, fate: Fate::Dropped { full: self.fifo }, noted: None });
    }

    /// Looks which packets it has sent or dropped; `packet` returns the bytes of one.
    ///
    /// # Errors
    /// If the device fails.
    pub fn look<'a>(&mut self, packet: impl Fn(u32) -> &'a [u8]) -> io::Result<()> {
        // Before the device is read: of these, those that it has not sent are dropped.
        for waiting in &mut self.waiting {
            waiting.let_go = self.inlet.is_free(waiting.place);
        }
        loop {
            match self.device.read(&mut self.packet) {
                Ok(length) => {
                    let noted =
                        self.departures.as_mut().map(|departures| departures.next(length)).transpose()?;
                    self.note_sent(length, noted, &packet);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let dropped: Vec<Waiting> = self.waiting.extract_if(.., |waiting| waiting.let_go).collect();
        for Waiting { number, place, .. } in dropped {
            self.inlet.give_back(place);
            self.drop(number);
        }
        Ok(())
    }

    /// Its decisions that were seen and not taken yet.
    pub fn decisions(&mut self) -> impl Iterator<Item = Decision> {
        self.decided.drain(..)
    }

    /// Notes that the packet which was read was sent. If two are equal, the first was: packets of a flow keep their order.
    fn note_sent<'a>(&mut self, length: usize, noted: Option<u64>, packet: impl Fn(u32) -> &'a [u8]) {
        let sent = &self.packet[..length];
        let is_it =
            |waiting: &Waiting| self.inlet.is_free(waiting.place) && is_same(sent, packet(waiting.number));
        // One that the kernel let go a moment before it handed it over counts as dropped by now.
        let Some(i) = self.waiting.iter().position(is_it) else { return };
        let Waiting { number, place, .. } = self.waiting.remove(i);
        self.inlet.give_back(place);
        let marked = ecn(sent) == 3 && ecn(packet(number)) != 3;
        self.decided.push(Decision { number, fate: Fate::Sent { marked }, noted });
    }

    /// Compares the number of dropped packets with the kernel's own count. The calling thread must be in its namespace.
    ///
    /// # Errors
    /// If they differ, or tc fails.
    pub fn verify<'a>(&mut self, packet: impl Fn(u32) -> &'a [u8]) -> io::Result<()> {
        let before = self.dropped;
        let text = tool("tc", &format!("qdisc show dev {DEVICE}"))?;
        let counted =
            of_statistics(&text).ok_or_else(|| io::Error::other(format!("tc has no count: {text}")))?;
        // It went on meanwhile.
        self.look(packet)?;
        if (before..=self.dropped).contains(&counted) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the kernel's discipline dropped {counted} packets by its own count, and {before} by the router's: use \
             clock=virtual, or report this"
        )))
    }
}

/// Checks that a discipline of the kernel can be at this link.
///
/// # Errors
/// The reason why not.
pub fn check(link: &Link) -> Result<(), String> {
    if link.aqm.as_ref().is_none_or(|aqm| aqm.name() != "droptail") {
        return Err(format!("link {}: with --qdisc its own discipline must be droptail", link.name));
    }
    if let Some(signal) = link.half_duplex {
        return Err(format!(
            "link {}: half_duplex = {}: a discipline of the kernel knows no collisions; omit qdisc, or half_duplex (for \
             the links of hosts, access_half_duplex)",
            link.name,
            signal.value()
        ));
    }
    if link.is_shared() {
        let medium = match (link.wifi, link.cell) {
            (Some(_), _) => "Wi-Fi",
            (_, Some(_)) => "cell",
            _ => "cable modem",
        };
        return Err(format!(
            "link {}: a discipline of the kernel knows no {medium}, whose queues are the router's; omit qdisc",
            link.name
        ));
    }
    if !link.has_changes() {
        return Ok(());
    }
    Err(format!(
        "link {}: a discipline of the kernel needs a constant rate; omit qdisc, or changes, rates, outages and handover",
        link.name
    ))
}

/// The number of dropped packets in tc's statistics.
fn of_statistics(text: &str) -> Option<u64> {
    let own = text.split_once(&format!(" {HANDLE} "))?.1;
    own.split_once("(dropped ")?.1.split_once(',')?.0.parse().ok()
}

/// The ECN field.
fn ecn(packet: &[u8]) -> u8 {
    match packet[0] >> 4 {
        6 => packet[1] >> 4 & 3,
        _ => packet[1] & 3,
    }
}

/// Whether two packets are the same apart from the traffic class, which a discipline may change, and the checksum.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let version = a[0] >> 4;
    let after = if version == 6 { 2 } else { 12 };
    a.len() == b.len() && version == b[0] >> 4 && a[2..10] == b[2..10] && a[after..] == b[after..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_those_of_the_discipline_not_of_htb() {
        let text = "qdisc htb 1: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0\n \
                    Sent 100 bytes 3 pkt (dropped 9, overlimits 5 requeues 0)\n\
                    qdisc codel 10: parent 1:1 limit 1000p target 5ms interval 100ms\n \
                    Sent 100 bytes 3 pkt (dropped 7, overlimits 0 requeues 0)\n";
        assert_eq!(of_statistics(text), Some(7));
        assert_eq!(of_statistics("qdisc htb 1: root\n Sent 1 bytes 1 pkt (dropped 9, overlimits 0)"), None);
    }

    #[test]
    fn a_link_that_shares_its_medium_is_refused() {
        let text = |more: &str| {
            format!(
                "observe = \"lan\"\n[[link]]\nname = \"lan\"\nfrom = \"a\"\nto = \"b\"\naqm = \"droptail\"\n{more}\
                 [[traffic]]\nfrom = \"a\"\nto = \"b\"\n"
            )
        };
        let said = |more: &str| {
            let scenario = scenario::Document::parse(&text(more), "x.toml").unwrap().check().unwrap();
            check(&scenario.links[scenario.observed])
        };
        assert_eq!(said(""), Ok(()));
        let message = said("half_duplex = \"1 us\"\n").unwrap_err();
        assert!(
            message.starts_with("link lan: half_duplex = \"1 us\": a discipline of the kernel"),
            "{message}"
        );
        for (table, medium) in [
            ("[[wifi]]\nap = \"a\"\nstations = \"b\"\nmcs = 0", "Wi-Fi"),
            ("[[cell]]\nbase = \"a\"\nusers = \"b\"\ncqi = 1", "cell"),
            ("[[cable]]\ncmts = \"a\"\nmodems = \"b\"", "cable modem"),
        ] {
            let air = format!("{table}\nname = \"air\"\n[[traffic]]\nfrom = \"a\"\nto = \"b\"\n");
            let scenario = scenario::Document::parse(&air, "x.toml").unwrap().check().unwrap();
            let message = check(&scenario.links[scenario.observed]).unwrap_err();
            let expected = format!("link air-b: a discipline of the kernel knows no {medium}");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}
