//! The medium of a wireless LAN, for which the access point and the stations contend by EDCA.
//!
//! When all has been silent for the gap AIFS, slots begin. At each boundary of a slot, the first of which is the end
//! of the gap, a contender whose count is 0 sends if it has a frame, and every other counts down by one, also at the
//! boundary at which another sends. Those that send at one boundary collide. After a transmission its sender draws a
//! new count from 0 to its window, whether it has more to send or not; the window doubles after a failure, and is the
//! smallest after a success and when a frame has failed as often as it may. A frame that comes while the medium is
//! silent, to a contender that has counted down, is sent at the next boundary; AIFS is a part of the silence.
//!
//! ```text
//! | AIFS | slot | slot | [RTS SIFS CTS SIFS] data  SIFS ACK | AIFS | …
//! ```
//!
//! # Departures from the source
//! - All hear each other at once, and no part of a collision is received.
//! - After a collision, and after data of which nothing arrived, all wait as long as an answer would take (EIFS, and
//!   the sender's time-out, which differ by some microseconds).
//! - A station's deficit counts at any time. mac80211 charges only stations that had a frame in the last 100 ms, and
//!   keeps one with a deficit in its list for as long.
//! - Frames leave the queue of a station, and its CoDel, as far as AQL allows, whatever the station's deficit; mac80211
//!   leaves them there until its turn.
//! - The smallest and the largest contention window are 802.11's of best effort, 15 and 1023 slots; hostapd gives an
//!   access point a largest window of 63.
//! - Answers are never lost.
//! - One access category; RTS and CTS precede the first data of a TXOP only.
//!
//! # Sources
//! IEEE 802.11-2020, clauses 10.3 and 10.23.2; Bianchi, "Performance analysis of the IEEE 802.11 distributed
//! coordination function", IEEE JSAC 18(3), 2000; for airtime and its deficits Høiland-Jørgensen and others, "Ending
//! the anomaly", USENIX ATC 2017, and mac80211 of Linux 6.12 (`ieee80211_next_txq`, `__ieee80211_schedule_txq`,
//! `ieee80211_txq_airtime_check`).

use crate::engine::rng::Stream;
use crate::network::radio::Aggregate;
use aqm::Uniform as _;
use aqm::unit::{Span, Time};
use scenario::Scenario;
use scenario::model::{Access as Rules, Air, Part, Scheduler, Wifi};
use std::collections::VecDeque;

/// What the deficit of a station grows by in its turn (mac80211's weight of a station).
const QUANTUM: i64 = 256_000;

/// mac80211's airtime queue limits: of a station, of one as long as all have less than the last.
const AQL: [Span; 3] = [Span::ms(5), Span::ms(12), Span::ms(24)];

/// The access point's place among the contenders; station s has s + 1.
pub(crate) const ACCESS_POINT: usize = 0;

/// The access point, or a station.
#[derive(Debug)]
struct Contender {
    rng: Stream,
    /// The slots that it still has to count since the last silence began.
    count: u64,
    window: u32,
    failures: u32,
    /// The stations to which, or itself from which, it has frames to send, in the order of their turn.
    turn: VecDeque<usize>,
}

impl Contender {
    /// Draws a new count.
    fn back_off(&mut self) {
        self.count = (self.rng.uniform() * (f64::from(self.window) + 1.0)) as u64;
    }
}

/// A transmission under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) contender: usize,
    pub(crate) station: usize,
    pub(crate) aggregate: Aggregate,
    /// How long its data take, and the answer to it.
    pub(crate) data: Span,
    pub(crate) answer: Span,
}

/// The media of a scenario's wireless LANs.
pub(crate) fn all(scenario: &Scenario, seed: u64) -> Vec<Medium> {
    let part =
        |lan: usize, part: Part| scenario.links.iter().position(|link| link.wifi == Some(Air { lan, part }));
    let of = |(lan, wifi): (usize, &Wifi)| {
        let links = (0..wifi.stations.len()).map(|station| {
            [Part::Down(station), Part::Up(station)]
                .map(|own| part(lan, own).expect("a checked scenario has the links of each station"))
        });
        Medium::new(scenario, wifi, links.collect(), part(lan, Part::Front), seed)
    };
    scenario.wifis.iter().enumerate().map(of).collect()
}

/// What happens next at a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// A queue that was paused has a frame.
    Resumes,
    /// A contender begins to send.
    Begins,
    /// The data are sent.
    Ends,
}

/// The medium.
#[derive(Debug)]
pub(crate) struct Medium {
    pub(crate) rules: Rules,
    scheduler: Scheduler,
    pub(crate) aql: bool,
    contenders: Vec<Contender>,
    /// The airtime that each station may still have in its turn, in ns.
    deficits: Vec<i64>,
    /// The links to each station, and back.
    pub(crate) links: Vec<[usize; 2]>,
    /// The link of the queue in front of the driver, the frames that the driver may hold, and those it holds.
    pub(crate) front: Option<usize>,
    pub(crate) driver: [u32; 2],
    /// The start of the silence: in the future until the present answers are over.
    silent: Time,
    /// Those who send, since when, and until when.
    pub(crate) sending: Vec<Sending>,
    began: Time,
    until: Time,
    /// Who has the medium without contention, and until when.
    holder: Option<(usize, Time)>,
    /// When the first of the paused queues has a frame.
    pub(crate) resumes: Time,
    /// The airtime of the frames that the access point has taken out of its queues.
    pub(crate) airtime: Span,
    pub(crate) slot: usize,
}

impl Medium {
    fn new(
        scenario: &Scenario,
        wifi: &Wifi,
        links: Vec<[usize; 2]>,
        front: Option<usize>,
        seed: u64,
    ) -> Self {
        let window = wifi.access.window[0];
        let contender = |who: &str, stations: usize| Contender {
            rng: Stream::new(seed, &format!("{who}.backoff")),
            count: 0,
            window,
            failures: 0,
            turn: VecDeque::with_capacity(stations),
        };
        let number = links.len();
        // A station has the name of its link.
        let up = links.iter().map(|&[_, up]| contender(&format!("link.{}", scenario.links[up].name), 1));
        let contenders: Vec<_> =
            std::iter::once(contender(&format!("wifi.{}", wifi.name), number)).chain(up).collect();
        Self {
            rules: wifi.access.clone(),
            scheduler: wifi.scheduler,
            aql: wifi.aql,
            contenders,
            deficits: vec![0; number],
            links,
            front,
            driver: [wifi.driver, 0],
            silent: Time::ZERO,
            sending: Vec::with_capacity(number + 1),
            began: Time::ZERO,
            until: Time::ZERO,
            holder: None,
            resumes: Time::MAX,
            airtime: Span::ZERO,
            slot: crate::engine::event::NO_SLOT,
        }
    }

    /// The link from the access point to a station, or back.
    pub(crate) fn link(&self, contender: usize, station: usize) -> usize {
        self.links[station][usize::from(contender != ACCESS_POINT)]
    }

    /// Whether a link that holds frames for `own` airtime, of `all` of its sender, may take another out of its queue.
    pub(crate) fn may_take(&self, own: Span, all: Span) -> bool {
        self.aql && (own < AQL[0] || own < AQL[1] && all < AQL[2])
    }

    /// Whether the driver holds as many frames as it may.
    pub(crate) const fn driver_is_full(&self) -> bool {
        self.driver[1] >= self.driver[0]
    }

    /// The first boundary after the silence began.
    fn first_boundary(&self) -> Time {
        self.silent + self.rules.aifs
    }

    /// What happens next, and when.
    pub(crate) fn next(&self) -> (Time, Next) {
        let step = if !self.sending.is_empty() {
            (self.until, Next::Ends)
        } else if self.holder.is_some() {
            (self.silent + self.rules.sifs, Next::Begins)
        } else {
            let contend = self.contenders.iter().filter(|contender| !contender.turn.is_empty());
            let count = contend.map(|contender| contender.count).min();
            (count.map_or(Time::MAX, |count| self.first_boundary() + self.rules.slot * count), Next::Begins)
        };
        if self.resumes < step.0 { (self.resumes, Next::Resumes) } else { step }
    }

    /// A contender has a frame for, or as, a station that had none.
    pub(crate) fn join(&mut self, now: Time, contender: usize, station: usize) {
        let first = self.first_boundary();
        let is_taken = !self.sending.is_empty() || self.holder.is_some() || now < self.silent;
        let passed = now.since(first).nanos().div_ceil(self.rules.slot.nanos());
        let airtime = self.scheduler == Scheduler::Airtime;
        let own = &mut self.contenders[contender];
        if own.turn.is_empty() {
            if !is_taken {
                own.count = own.count.max(passed);
            } else if own.count == 0 {
                own.back_off();
            }
        }
        // A station that has used its share goes to the back in its turn, as mac80211 has it.
        if airtime { own.turn.push_front(station) } else { own.turn.push_back(station) }
    }

    /// A contender has no more frames for, or as, a station.
    pub(crate) fn leave(&mut self, contender: usize, station: usize) {
        self.contenders[contender].turn.retain(|&other| other != station);
    }

    /// The stations for which, or as which, those send whose turn it is come to be in `sending`, without their data.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some((holder, _)) = self.holder {
            self.add(holder);
        } else {
            let boundary = (now - self.first_boundary()).nanos() / self.rules.slot.nanos();
            for contender in 0..self.contenders.len() {
                let own = &mut self.contenders[contender];
                if own.count == boundary && !own.turn.is_empty() {
                    self.add(contender);
                } else {
                    own.count = own.count.saturating_sub(boundary + 1);
                }
            }
        }
        self.began = now;
    }

    fn add(&mut self, contender: usize) {
        let station = self.choose(contender);
        let (data, answer) = (Span::ZERO, Span::ZERO);
        self.sending.push(Sending { contender, station, aggregate: Aggregate::default(), data, answer });
    }

    /// The station whose turn it is.
    fn choose(&mut self, contender: usize) -> usize {
        let turn = &mut self.contenders[contender].turn;
        loop {
            let station = *turn.front().expect("it has a frame to send");
            if contender != ACCESS_POINT
                || self.scheduler == Scheduler::RoundRobin
                || self.deficits[station] >= 0
            {
                return station;
            }
            self.deficits[station] += QUANTUM;
            turn.rotate_left(1);
        }
    }

    /// How long the data of a transmission that begins `now` may take, given its overhead.
    pub(crate) fn longest(&self, overhead: Span) -> Span {
        let txop = match self.holder {
            Some((_, until)) => until.since(self.began),
            None if self.rules.txop > Span::ZERO => self.rules.txop,
            None => return self.rules.longest,
        };
        Span::ns(txop.nanos().saturating_sub(overhead.nanos())).min(self.rules.longest)
    }

    /// The time before the data: RTS and CTS, if they precede them, which take `reservation`.
    pub(crate) fn before_data(&self, reservation: [Span; 2]) -> Span {
        let reserves = self.rules.rts && self.holder.is_none();
        if reserves { reservation[0] + reservation[1] + self.rules.sifs * 2 } else { Span::ZERO }
    }

    /// All data of this transmission are known. If several send, it lasts as long as the longest of their RTS or
    /// data.
    pub(crate) fn fix_end(&mut self, ends: Span) {
        self.until = self.began + ends;
    }

    /// The time that the medium was taken by a transmission with this answer.
    pub(crate) fn taken(&self, answer: Span) -> Span {
        (self.until - self.began) + self.rules.sifs + answer
    }

    /// Counts airtime against a station's share.
    pub(crate) fn charge(&mut self, station: usize, airtime: Span) {
        // No deficit is deeper than what a second's turns pay off.
        self.deficits[station] = (self.deficits[station] - airtime.nanos() as i64).max(-1_000_000_000);
    }

    /// The transmission is over, and the answer will be. `next` is how long the shortest transmission that its sender
    /// could add takes, if it has a frame left.
    pub(crate) fn end(&mut self, answer: Span, succeeded: bool, next: Option<Span>) {
        self.silent = self.until + self.rules.sifs + answer;
        let sender = self.sending[0].contender;
        let txop = self
            .holder
            .map(|(_, until)| until)
            .or_else(|| (self.rules.txop > Span::ZERO).then(|| self.began + self.rules.txop));
        let goes_on = |until: &Time| {
            next.is_some_and(|next| succeeded && self.silent + self.rules.sifs + next <= *until)
        };
        self.holder = txop.filter(goes_on).map(|until| (sender, until));
        for i in 0..self.sending.len() {
            let own = &mut self.contenders[self.sending[i].contender];
            let [least, most] = self.rules.window;
            let is_last = own.failures == self.rules.retries;
            (own.failures, own.window) = match succeeded || is_last {
                true => (0, least),
                false => (own.failures + 1, (2 * own.window + 1).min(most)),
            };
            own.back_off();
        }
        self.sending.clear();
    }

    /// The next station is as it was: the turn of one that has sent goes to the back, unless its share of airtime
    /// decides.
    pub(crate) fn turn(&mut self, contender: usize) {
        if self.scheduler == Scheduler::RoundRobin {
            self.contenders[contender].turn.rotate_left(1);
        }
    }

    /// The station that a contender would send to or as next, if any.
    pub(crate) fn peek(&mut self, contender: usize) -> Option<usize> {
        (!self.contenders[contender].turn.is_empty()).then(|| self.choose(contender))
    }
}
