//! What a link has to do with a medium that it shares: the frames that have left its queue and are not sent yet, and
//! the counts of those that are, or were given up.

use crate::measure::probe::Owner;
use crate::network::bearer::Bearer;
use crate::network::modem::Modem;
use crate::network::radio::Radio;
use crate::network::station::Station;
use crate::packet::Packet;
use aqm::unit::Span;

/// A frame that a link has to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// With the number of its next hop.
    pub(crate) packet: Packet,
    /// Whose it is, and its bytes in the queue.
    pub(crate) owner: (Owner, u32),
    /// How long it waited in the queue.
    pub(crate) waited: Span,
    /// Its bytes on the medium: with preamble and gap of Ethernet, or as a part of an aggregate.
    pub(crate) length: u32,
}

/// A link's end of a medium that it shares.
#[derive(Debug)]
pub(crate) enum Access {
    /// Of half-duplex Ethernet.
    Ethernet(Station),
    /// Of a wireless LAN.
    Wifi(Radio),
    /// Of a cell.
    Cell(Bearer),
    /// Of a cable network, upstream.
    Modem(Modem),
    /// The queue in front of the driver of an access point, in this wireless LAN: the driver takes its packets as
    /// soon as it has room.
    Driver(usize),
}

/// The packets that are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    All,
    Class(usize),
    Lane(usize),
}

impl Whose {
    pub(crate) fn includes(self, owner: Owner) -> bool {
        match self {
            Self::All => true,
            Self::Class(class) => owner.class == class,
            Self::Lane(lane) => owner.lane == lane,
        }
    }
}

/// What a link on such a medium has sent and given up.
#[derive(Debug)]
pub(crate) struct Tally {
    /// Transmissions that collided.
    pub(crate) collisions: u64,
    /// The frames that were given up, and their bytes.
    pub(crate) lost: u64,
    lost_bytes: u64,
    /// Since the warm-up: how long its frames were on the medium, with what belongs to them.
    pub(crate) carried: Span,
    /// Since the warm-up: the transmissions that took place, and their frames.
    pub(crate) transmissions: [u64; 2],
    /// Since the warm-up: the blocks of a cell that were decoded or given up, and how often they were sent.
    blocks: (u64, u64),
    /// Since the warm-up: the packets of a cell that were passed on, and how long they waited for those before them.
    waits: (u64, Span),
    /// Since the warm-up: the bytes that a modem was granted, and those of them that it did not use.
    pub(crate) grants: [u64; 2],
    /// Since the warm-up: the bytes sent, by class and by lane.
    classes: Vec<u64>,
    lanes: Vec<u64>,
}

impl Tally {
    pub(crate) fn new(classes: usize, lanes: usize) -> Self {
        Self {
            collisions: 0,
            lost: 0,
            lost_bytes: 0,
            carried: Span::ZERO,
            transmissions: [0; 2],
            blocks: (0, 0),
            waits: (0, Span::ZERO),
            grants: [0; 2],
            classes: vec![0; classes],
            lanes: vec![0; lanes],
        }
    }

    fn end_warmup(&mut self) {
        self.carried = Span::ZERO;
        (self.transmissions, self.blocks, self.waits) = ([0; 2], (0, 0), (0, Span::ZERO));
        self.grants = [0; 2];
        self.classes.fill(0);
        self.lanes.fill(0);
    }

    /// A frame has been sent.
    pub(crate) fn note_sent(&mut self, (owner, bytes): (Owner, u32)) {
        self.classes[owner.class] += u64::from(bytes);
        // Of an algorithm that has replaced another the lanes are not counted.
        self.lanes.get_mut(owner.lane).into_iter().for_each(|lane| *lane += u64::from(bytes));
    }

    /// A block was decoded or given up, and had been sent so often.
    pub(crate) fn note_block(&mut self, rounds: u32) {
        self.blocks = (self.blocks.0 + 1, self.blocks.1 + u64::from(rounds));
    }

    /// How often such a block was sent on average.
    pub(crate) fn rounds(&self) -> Option<f64> {
        let (blocks, sum) = self.blocks;
        (blocks > 0).then(|| sum as f64 / blocks as f64)
    }

    /// A packet was passed on that had waited so long for those before it.
    pub(crate) fn note_wait(&mut self, waited: Span) {
        self.waits = (self.waits.0 + 1, self.waits.1 + waited);
    }

    /// The mean of these waits in s.
    pub(crate) fn wait(&self) -> Option<f64> {
        let (packets, sum) = self.waits;
        (packets > 0).then(|| sum.secs() / packets as f64)
    }

    /// A frame has been given up.
    pub(crate) fn note_lost(&mut self, (_, bytes): (Owner, u32)) {
        self.lost += 1;
        self.lost_bytes += u64::from(bytes);
    }

    /// Bits sent since the warm-up.
    pub(crate) fn bits(&self, whose: Whose) -> f64 {
        let bytes = match whose {
            Whose::All => self.classes.iter().sum(),
            Whose::Class(class) => self.classes[class],
            Whose::Lane(lane) => self.lanes.get(lane).copied().unwrap_or(0),
        };
        8.0 * bytes as f64
    }
}

impl Access {
    /// The counts of its frames, if its medium holds them.
    pub(crate) const fn tally(&self) -> Option<&Tally> {
        match self {
            Self::Ethernet(station) => Some(&station.tally),
            Self::Wifi(radio) => Some(&radio.tally),
            Self::Cell(bearer) => Some(&bearer.tally),
            Self::Modem(modem) => Some(&modem.tally),
            Self::Driver(_) => None,
        }
    }

    pub(crate) const fn tally_mut(&mut self) -> Option<&mut Tally> {
        match self {
            Self::Ethernet(station) => Some(&mut station.tally),
            Self::Wifi(radio) => Some(&mut radio.tally),
            Self::Cell(bearer) => Some(&mut bearer.tally),
            Self::Modem(modem) => Some(&mut modem.tally),
            Self::Driver(_) => None,
        }
    }

    /// The frames that have left the queue and are neither sent nor given up.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        let (mut one, mut radio, mut bearer, mut modem) = (None, None, None, None);
        match self {
            Self::Ethernet(station) => one = station.frame.as_ref(),
            Self::Wifi(own) => radio = Some(own),
            Self::Cell(own) => bearer = Some(own),
            Self::Modem(own) => modem = Some(own),
            Self::Driver(_) => {}
        }
        let many = radio.into_iter().flat_map(Radio::frames);
        let many = many.chain(bearer.into_iter().flat_map(Bearer::frames));
        one.into_iter().chain(many).chain(modem.into_iter().flat_map(Modem::frames))
    }

    /// The bytes that have left the queue and were not sent: given up, or not yet.
    pub(crate) fn unsent(&self) -> u64 {
        let held: u64 = self.frames().map(|frame| u64::from(frame.owner.1)).sum();
        held + self.tally().map_or(0, |tally| tally.lost_bytes)
    }

    /// The warm-up is over.
    pub(crate) fn end_warmup(&mut self) {
        self.tally_mut().into_iter().for_each(Tally::end_warmup);
    }
}
