//! The jitter of hosts: packets wait in the host that sends them, each for a random time.

use crate::engine::rng::Stream;
use crate::packet::Packet;
use aqm::Uniform as _;
use aqm::unit::{Span, Time};
use scenario::model::Traffic;

/// The packets that wait in hosts, and how long the others will.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// For each traffic entry, the longest wait, and the stream from which it is drawn.
    jitters: Vec<(Span, Stream)>,
    /// By kind of packet, then by the flow's number: when its last packet leaves.
    last: [Vec<Time>; 5],
    /// The packets that wait, and the places there that are free.
    waiting: Vec<Packet>,
    free: Vec<u32>,
}

impl Hosts {
    pub(crate) fn new(traffic: &[Traffic], seed: u64) -> Self {
        let stream = |entry: &Traffic| Stream::new(seed, &format!("traffic.{}.send_jitter", entry.name));
        Self {
            jitters: traffic.iter().map(|entry| (entry.send_jitter, stream(entry))).collect(),
            last: Default::default(),
            waiting: Vec::new(),
            free: Vec::new(),
        }
    }

    /// When a packet that is ready now leaves its host: after all packets of its flow that were ready earlier.
    pub(crate) fn release_time(&mut self, now: Time, packet: &Packet) -> Time {
        let (longest, rng) = &mut self.jitters[packet.class()];
        if *longest == Span::ZERO {
            return now;
        }
        let wait = Span::from_secs(longest.secs() * rng.uniform());
        let (lasts, flow) = (&mut self.last[packet.kind as usize], packet.flow as usize);
        if flow >= lasts.len() {
            lasts.resize(flow + 1, Time::ZERO);
        }
        // Two packets of a flow never leave at one time, because the event of the later one might come first then.
        lasts[flow] = (lasts[flow] + Span::ns(1)).max(now + wait);
        lasts[flow]
    }

    /// Keeps a packet, and returns its place.
    pub(crate) fn hold(&mut self, packet: &Packet) -> u32 {
        let packet = packet.at_hop(packet.hop + 1, false);
        let place = self.free.pop().unwrap_or(self.waiting.len() as u32);
        match self.waiting.get_mut(place as usize) {
            Some(free) => *free = packet,
            None => self.waiting.push(packet),
        }
        place
    }

    /// The packet at a place, which is free from now on.
    pub(crate) fn release(&mut self, place: u32) -> Packet {
        self.free.push(place);
        self.waiting[place as usize]
    }

    /// The packets that wait.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let is_free: std::collections::HashSet<u32> = self.free.iter().copied().collect();
        self.waiting
            .iter()
            .zip(0..)
            .filter(move |(_, place)| !is_free.contains(place))
            .map(|(packet, _)| packet)
    }
}
