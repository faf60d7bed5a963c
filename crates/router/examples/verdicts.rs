//! Sends the datagrams that the router received through the simulator, at the same nanoseconds, and compares what became
//! of each: `.` for sent, `M` for sent with CE, `x` for not sent.
//!
//! ```text
//! aqmlab run scenario.toml --engine linux --pcapng fates.pcapng
//! cargo run --package router --example verdicts -- scenario.toml fates.pcapng
//! ```
//!
//! Each traffic entry of the scenario is one flow of datagrams, and they begin in the order of the file, in which both
//! number them. The output is a line for each packet with another fate,
//! then the numbers of packets, of marks and of losses at the router, of packets at a nanosecond at which another flow's
//! came (the simulator gets them 1 ns later), and of packets with another fate.

use aqm::unit::{Span, Time};
use aqm::{AnyDiscipline, Outcome};
use netsim::probe::Owner;
use netsim::{Probe, Simulation};
use pcap_parser::pcapng::{Block, EnhancedPacketBlock};
use pcap_parser::traits::PcapReaderIterator as _;
use pcap_parser::{PcapBlockOwned, PcapError, PcapNGReader};
use router::hosts::class_of;
use router::wire::Seen;
use scenario::model::{Arrival, Distribution, TrafficKind, Udp};
use scenario::{Document, Scenario};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

const COMMENT: u16 = 1;
const FLAGS: u16 = 2;
const IDENTITY: u16 = 5;
/// In the flags: the packet enters the network.
const INBOUND: u32 = 1;

/// A packet that entered the network.
struct Entered {
    at: u64,
    class: usize,
    size: u16,
    /// What became of it, if that is known.
    fate: Option<u8>,
}

/// The fates at the observed link, one text for each class.
struct Fates {
    classes: Vec<Vec<u8>>,
    /// Of each arrival: its class, and its number there.
    arrivals: Vec<(usize, usize)>,
}

impl Probe for Fates {
    fn on_arrival(&mut self, queue: usize, _: Time, owner: Owner, _: Outcome, _: &AnyDiscipline) {
        if queue == 0 {
            let of_class = &mut self.classes[owner.class];
            self.arrivals.push((owner.class, of_class.len()));
            of_class.push(b'x');
        }
    }

    fn on_fate(&mut self, queue: usize, arrival: u64, marked: bool) {
        if queue == 0 {
            let (class, number) = self.arrivals[arrival as usize];
            self.classes[class][number] = if marked { b'M' } else { b'.' };
        }
    }
}

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(record)) = (arguments.next(), arguments.next()) else {
        return Err("usage: verdicts SCENARIO.toml FATES.pcapng".to_owned());
    };
    let document = Document::load(Path::new(&file)).map_err(|problems| problems.to_string())?;
    let scenario = document.check().map_err(|problems| problems.to_string())?;
    let mut entered = read(&record).map_err(|problem| format!("{record}: {problem}"))?;
    let first = |class| entered.iter().position(|packet| packet.class == class);
    if !(0..scenario.traffic.len()).is_sorted_by_key(first) {
        return Err("the flows do not begin in the order of the file".to_owned());
    }
    let late = separate(&mut entered);
    let ours = simulated(scenario, &entered)?;
    let mut numbers = vec![0; ours.len()];
    let (mut known, mut marks, mut losses, mut differ) = (0, 0, 0, 0);
    for Entered { at, class, fate, .. } in &entered {
        let number = numbers[*class];
        numbers[*class] += 1;
        let Some(theirs) = *fate else { continue };
        known += 1;
        marks += u32::from(theirs == b'M');
        losses += u32::from(theirs == b'x');
        let ours = ours[*class].get(number).copied();
        if ours != Some(theirs) {
            differ += 1;
            let [ours, theirs] = [ours.unwrap_or(b'?'), theirs].map(char::from);
            println!(
                "{:.9} s, flow {class}, packet {number}: router {theirs}, simulator {ours}",
                *at as f64 * 1e-9
            );
        }
    }
    println!("packets {known} marks {marks} losses {losses} together {late} differ {differ}");
    Ok(())
}

/// The packets of the file, in the order in which they entered.
fn read(file: &str) -> Result<Vec<Entered>, String> {
    let file = File::open(file).map_err(|error| error.to_string())?;
    let mut reader = PcapNGReader::new(65536, file).map_err(|error| error.to_string())?;
    let (mut entered, mut places) = (Vec::<Entered>::new(), HashMap::new());
    loop {
        let (length, block) = match reader.next() {
            Ok(found) => found,
            Err(PcapError::Eof) => return Ok(entered),
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|error| error.to_string())?;
                continue;
            }
            Err(error) => return Err(error.to_string()),
        };
        if let PcapBlockOwned::NG(Block::EnhancedPacket(packet)) = block {
            let identity = option(&packet, IDENTITY).ok_or("a packet has no number")?.to_vec();
            let flags = option(&packet, FLAGS).ok_or("a packet has no flags")?;
            if flags == INBOUND.to_le_bytes() {
                places.insert(identity, entered.len());
                entered.push(inbound(&packet)?);
            } else {
                let place: usize = *places.get(&identity).ok_or("a packet leaves that never entered")?;
                entered[place].fate = option(&packet, COMMENT).map(fate);
            }
        }
        reader.consume(length);
    }
}

fn inbound(packet: &EnhancedPacketBlock<'_>) -> Result<Entered, String> {
    let mut bytes = packet.data[..packet.caplen as usize].to_vec();
    // The file has only the first of them.
    bytes.resize(packet.origlen as usize, 0);
    let seen = Seen::of(&bytes).ok_or("a packet is neither TCP nor UDP")?;
    let class = class_of([seen.from.1, seen.to.1]).filter(|_| seen.kind == netsim::PacketKind::Datagram);
    let class = class.ok_or_else(|| format!("{seen} is no datagram of the scenario's traffic"))?;
    let at = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
    Ok(Entered { at, class: class.into(), size: packet.origlen as u16, fate: None })
}

fn option<'a>(packet: &'a EnhancedPacketBlock<'_>, code: u16) -> Option<&'a [u8]> {
    let found = packet.options.iter().find(|option| option.code.0 == code)?;
    Some(&found.value[..found.len.into()])
}

/// The fate that a comment has.
fn fate(comment: &[u8]) -> u8 {
    let has = |words: &[u8]| comment.windows(words.len()).any(|part| part == words);
    if has(b"lost at") {
        b'x'
    } else if has(b"marked CE") {
        b'M'
    } else {
        b'.'
    }
}

/// Sets the times of two flows apart, since the simulator has an order of its own for those of one time;
/// returns for how many.
fn separate(entered: &mut [Entered]) -> usize {
    let mut late = 0;
    for i in 1..entered.len() {
        let Entered { at, class, .. } = entered[i - 1];
        let own = &mut entered[i];
        if own.at < at || own.at == at && own.class != class {
            own.at = at + u64::from(own.class != class);
            late += 1;
        }
    }
    late
}

/// What the simulator does with the packets: the fates of each class.
fn simulated(mut scenario: Scenario, entered: &[Entered]) -> Result<Vec<Vec<u8>>, String> {
    for (class, entry) in scenario.traffic.iter_mut().enumerate() {
        let TrafficKind::Udp(udp, _) = &mut entry.kind else {
            return Err(format!("traffic.{}: only datagrams can be sent anew", entry.name));
        };
        let own: Vec<_> = entered.iter().filter(|packet| packet.class == class).collect();
        let first = own.first().map_or(0, |packet| packet.at);
        entry.begin = Span::ZERO;
        entry.start = Distribution::Fixed(Span::ns(first));
        entry.stop = None;
        let arrival = |packet: &&Entered| Arrival { at: Span::ns(packet.at - first), size: packet.size };
        *udp = Udp::Trace(own.iter().map(arrival).collect());
    }
    let (seed, end, count) =
        (scenario.general.seed, Time::ZERO + scenario.general.duration, scenario.traffic.len());
    let fates = Fates { classes: vec![Vec::new(); count], arrivals: Vec::new() };
    let mut run = Simulation::new(scenario, seed, fates);
    run.advance(end);
    Ok(std::mem::take(&mut run.probe_mut().classes))
}
