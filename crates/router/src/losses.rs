//! Packets that the hosts' own kernels have lost, which no network of a scenario does.

use std::fmt;
use std::fs;
use std::io;

/// A counter of the kernel that is not zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Its file and name.
    pub counter: String,
    /// Its value.
    pub packets: u64,
    /// What to do about it.
    pub remedy: &'static str,
}

impl Loss {
    /// Whether it was lost on its way from a kernel to the router, or back.
    pub(crate) fn is_of_device(&self) -> bool {
        self.counter.starts_with("/proc/net/dev ")
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.counter, self.packets, self.remedy)
    }
}

const SLOWER: &str = "packets came faster than the router took them: use a slower link or fewer flows, a machine with less to \
                      do (aqmlab doctor), or clock=virtual";
const RECEIVE: &str = "datagrams found no room at their sink: use clock=virtual, run as root, or call \
                       sudo sysctl net.core.rmem_max=8388608";
const SEND: &str = "datagrams found no room at their source: use clock=virtual, run as root, or call \
                    sudo sysctl net.core.wmem_max=8388608";
const MEMORY: &str = "the kernel had no memory for datagrams: use fewer flows, or call \
                      sudo sysctl net.ipv4.udp_mem='262144 524288 1048576'";
const LISTEN: &str =
    "more connections came at once than wait to be accepted: use a lower arrival_rate, or clock=virtual";
const ROOM: &str = "segments found no room at their sink: use a slower link or fewer flows, a machine with less to do \
                    (aqmlab doctor), or clock=virtual";
const TCP_MEMORY: &str = "the kernel had too little memory for TCP: use fewer flows, or call \
                          sudo sysctl net.ipv4.tcp_mem='262144 524288 1048576' net.ipv4.tcp_max_orphans=262144";
const KERNEL_MEMORY: &str =
    "the kernel had no memory for packets: use fewer flows, or a machine with less to do (aqmlab doctor)";
const INVALID: &str = "a host rejected packets as invalid, could not send them, or fragmented them: use another kernel \
                       (clock=virtual), or report this with the scenario";

/// The counters: a file below `/proc/net`, the group in it that begins a line, the names, the remedy. They are those of
/// packets that a host lost, cut or could not have; each is zero in a run that is well, whatever the network loses.
/// `Tcp InErrs` is not: it counts copies of a SYN+ACK whose acknowledgement was lost. Nor does `PruneCalled` mean a loss.
/// The device's come first: what it drops, IP and UDP count once more.
const COUNTERS: [(&str, &str, &[&str], &str); 20] = [
    ("dev", "", &["rx_dropped"], SLOWER),
    ("dev", "", &["tx_dropped"], SLOWER),
    ("snmp", "Ip", &["InDiscards", "OutDiscards"], KERNEL_MEMORY),
    ("snmp6", "", &["Ip6InDiscards", "Ip6OutDiscards"], KERNEL_MEMORY),
    (
        "snmp",
        "Ip",
        &["InHdrErrors", "InAddrErrors", "OutNoRoutes", "FragFails", "FragCreates", "ReasmFails"],
        INVALID,
    ),
    ("snmp6", "", &["Ip6InHdrErrors", "Ip6InAddrErrors", "Ip6OutNoRoutes"], INVALID),
    ("snmp6", "", &["Ip6FragFails", "Ip6FragCreates", "Ip6ReasmFails", "Udp6InCsumErrors"], INVALID),
    ("snmp", "Udp", &["RcvbufErrors"], RECEIVE),
    ("snmp", "Udp", &["SndbufErrors"], SEND),
    ("snmp", "Udp", &["MemErrors"], MEMORY),
    ("snmp6", "", &["Udp6RcvbufErrors"], RECEIVE),
    ("snmp6", "", &["Udp6SndbufErrors"], SEND),
    ("snmp6", "", &["Udp6MemErrors"], MEMORY),
    ("netstat", "TcpExt", &["ListenDrops", "TCPReqQFullDoCookies"], LISTEN),
    ("netstat", "TcpExt", &["TCPBacklogDrop", "TCPZeroWindowDrop"], ROOM),
    ("netstat", "TcpExt", &["TCPRcvQDrop", "TCPOFODrop", "OfoPruned", "RcvPruned"], ROOM),
    ("netstat", "TcpExt", &["TCPAbortOnMemory", "TCPMemoryPressures"], TCP_MEMORY),
    ("netstat", "TcpExt", &["PFMemallocDrop"], KERNEL_MEMORY),
    ("snmp", "Tcp", &["InCsumErrors"], INVALID),
    ("snmp", "Udp", &["InCsumErrors"], INVALID),
];

/// The losses in the namespace of the calling thread, on its way to and from `device`.
///
/// # Errors
/// If the counters cannot be read.
pub fn losses(device: &str) -> io::Result<Vec<Loss>> {
    let read = |file: &str| match fs::read_to_string(format!("/proc/thread-self/net/{file}")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()), // a kernel without IPv6
        text => text.map_err(|error| io::Error::new(error.kind(), format!("/proc/net/{file}: {error}"))),
    };
    let mut found = Vec::new();
    for (file, group, counters, remedy) in COUNTERS {
        found.extend(of_text(&read(file)?, file, group, device, counters, remedy));
    }
    Ok(found)
}

/// The counters of a file that are not zero. An old kernel may lack one.
fn of_text<'a>(
    text: &'a str,
    file: &'a str,
    group: &'a str,
    device: &'a str,
    counters: &'a [&str],
    remedy: &'static str,
) -> impl Iterator<Item = Loss> + 'a {
    counters.iter().filter_map(move |counter| {
        let packets = match file {
            "dev" => of_device(text, device, counter),
            "snmp6" => of_list(text, counter),
            _ => of_group(text, group, counter),
        };
        let within = if file == "dev" { device } else { group };
        let counter = [file, within, counter].into_iter().filter(|part| !part.is_empty());
        let counter = format!("/proc/net/{}", counter.collect::<Vec<_>>().join(" "));
        packets.filter(|&packets| packets > 0).map(|packets| Loss { counter, packets, remedy })
    })
}

/// From two lines that begin with the group: names, then numbers.
fn of_group(text: &str, group: &str, counter: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|name| name == counter)?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

/// From lines with a name and a number each.
fn of_list(text: &str, counter: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(counter)?.trim_start_matches([' ', '\t']).parse().ok())
}

/// From a line for each device: eight numbers of what it received, eight of what it transmitted.
fn of_device(text: &str, device: &str, counter: &str) -> Option<u64> {
    let place = if counter == "rx_dropped" { 3 } else { 11 };
    let numbers = text.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'))?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let snmp = "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\nUdp: 10 0 5 20 3 2\n\
                    UdpLite: InDatagrams RcvbufErrors\nUdpLite: 7 8\n";
        assert_eq!(of_group(snmp, "Udp", "RcvbufErrors"), Some(3));
        assert_eq!(of_group(snmp, "Udp", "SndbufErrors"), Some(2));
        assert_eq!(of_group(snmp, "Udp", "MemErrors"), None);
        let snmp6 = "Udp6InErrors                    \t9\nUdp6RcvbufErrors                \t4\nUdp6RcvbufErrorsX \t5\n";
        assert_eq!(of_list(snmp6, "Udp6RcvbufErrors"), Some(4));
        let dev = "Inter-|   Receive                     |  Transmit\n face |bytes packets\n\
                   aqmlab01: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\naqmlab0: 1 2 3 40 5 6 7 8 9 10 11 120 13 14 15 16\n";
        assert_eq!(of_device(dev, "aqmlab0", "rx_dropped"), Some(40));
        assert_eq!(of_device(dev, "aqmlab0", "tx_dropped"), Some(120));
    }

    #[test]
    fn this_kernel_has_the_counters() {
        let read = |file| fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        for (file, group, counters, _) in COUNTERS {
            for counter in counters {
                let there = match file {
                    "dev" => of_device(&read(file), "lo", counter).is_some(),
                    "snmp6" => read(file).is_empty() || of_list(&read(file), counter).is_some(),
                    _ => of_group(&read(file), group, counter).is_some(),
                };
                assert!(there, "{file} {group} {counter}");
            }
        }
        assert_eq!(losses("no such device").unwrap().iter().find(|loss| loss.counter.contains("dev")), None);
    }

    #[test]
    fn every_counter_that_is_not_zero_is_a_loss_with_its_remedy() {
        let text = "TcpExt: ListenDrops TCPRcvQDrop PruneCalled OfoPruned\nTcpExt: 0 2 5 1\n";
        let counters = ["ListenDrops", "TCPRcvQDrop", "OfoPruned"];
        let found: Vec<_> = of_text(text, "netstat", "TcpExt", "aqmlab0", &counters, ROOM).collect();
        let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                format!("/proc/net/netstat TcpExt TCPRcvQDrop = 2: {ROOM}"),
                format!("/proc/net/netstat TcpExt OfoPruned = 1: {ROOM}"),
            ]
        );
    }
}
