//! The head end of a cable network: which minislots of an interval are whose.
//!
//! A MAP is made before each interval in which there is something to grant. Each modem is granted the bytes of its
//! requests, as far as the token buckets of its rates and the channel allow. If the channel does not suffice, modems
//! get equally many minislots, and none more than it can use. The grants of an interval are next to each other, from a
//! minislot on that is drawn; the modem that comes first changes from one to the next.
//!
//! ```text
//! bucket of a rate R and a burst B:  tokens <- min(B + R·interval, tokens + R·time), less what is granted
//! ```
//!
//! # Departures from the source
//! - What a modem may send is limited here alone; by RFC 8034 and docsis-ns3 it limits its requests, too.
//! - The buckets count Ethernet frames: the unused bytes of a grant and the MAC headers are given back when
//!   its burst is prepared. docsis-ns3 raises the rates by a twentieth instead.
//! - A request always succeeds: none collides and none is lost. Requests take no minislots, and segments no headers.
//! - A modem subtracts all grants to come from a request; docsis-ns3 subtracts the next one alone.
//!
//! # Sources
//! Those of [`scenario::model::cable`].

use crate::engine::rng::Stream;
use crate::network::modem::{self, Grant};
use aqm::Uniform as _;
use aqm::ring::Ring;
use aqm::unit::{Rate, Time};
use scenario::Scenario;
use scenario::model::Upstream as Rules;
use scenario::model::cable::ServiceFlow;

/// The tokens of a byte: bits, times ns.
const BYTE: i128 = 8_000_000_000;

/// A token bucket.
#[derive(Debug)]
struct Bucket {
    rate: Rate,
    most: i128,
    tokens: i128,
    since: Time,
}

impl Bucket {
    fn new(rate: Rate, burst: u64, rules: &Rules) -> Self {
        let most = i128::from(burst) * BYTE + tokens(rate, rules.interval().nanos());
        Self { rate, most, tokens: most, since: Time::ZERO }
    }

    /// The bytes in it at `now`.
    fn bytes(&mut self, now: Time) -> u64 {
        let new = tokens(self.rate, now.since(self.since).nanos());
        (self.tokens, self.since) = ((self.tokens + new).min(self.most), now);
        u64::try_from(self.tokens.div_euclid(BYTE)).unwrap_or(0)
    }
}

fn tokens(rate: Rate, ns: u64) -> i128 {
    i128::from(rate.whole_bits()) * i128::from(ns)
}

/// What the head end knows of a modem.
#[derive(Debug)]
struct Account {
    /// The bytes that it has requested and was not granted.
    requested: u64,
    /// The requests under way, in order.
    coming: Ring<(Time, u64)>,
    buckets: [Option<Bucket>; 2],
    /// The minislots that it could have in the present interval, and those that it gets.
    wants: u64,
    gets: u64,
}

impl Account {
    fn new(flow: &ServiceFlow, rules: &Rules) -> Self {
        let peak = flow.peak.map(|peak| Bucket::new(peak, LEAST_BURST, rules));
        let buckets = [Some(Bucket::new(flow.rate, flow.burst.0, rules)), peak];
        Self { requested: 0, coming: Ring::new(), buckets, wants: 0, gets: 0 }
    }

    /// The bytes that it may be granted at `now`.
    fn grantable(&mut self, now: Time) -> u64 {
        while let Some(&(at, bytes)) = self.coming.front()
            && at <= now
        {
            self.requested += bytes;
            self.coming.drop_front();
        }
        let buckets = self.buckets.iter_mut().flatten();
        buckets.map(|bucket| bucket.bytes(now)).fold(self.requested, u64::min)
    }

    /// Its buckets get bytes back, or lose them.
    fn charge(&mut self, bytes: i128) {
        self.buckets.iter_mut().flatten().for_each(|bucket| bucket.tokens -= bytes * BYTE);
    }
}

/// The burst of a peak rate: a packet.
const LEAST_BURST: u64 = 1522;

/// A head end.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) rules: Rules,
    /// The links from the modems.
    pub(crate) links: Vec<usize>,
    accounts: Vec<Account>,
    lots: Stream,
    /// The first interval without a MAP.
    unmapped: u64,
    /// When there is something to do next.
    pub(crate) next: Time,
    /// Its slot on the event list.
    pub(crate) event: usize,
}

/// The head ends of a scenario.
pub(crate) fn all(scenario: &Scenario, seed: u64) -> Vec<Upstream> {
    let of = |(cable, rules): (usize, &Rules)| {
        let links = scenario.links.iter().enumerate();
        let own = links.filter(|(_, link)| link.modem().is_some_and(|place| place.cable == cable));
        Upstream {
            rules: rules.clone(),
            links: own.map(|(number, _)| number).collect(),
            accounts: rules.flows.iter().map(|flow| Account::new(flow, rules)).collect(),
            lots: Stream::new(seed, &format!("cable.{}.maps", rules.name)),
            unmapped: 0,
            next: Time::MAX,
            event: crate::engine::event::NO_SLOT,
        }
    };
    scenario.upstreams.iter().enumerate().map(of).collect()
}

impl Upstream {
    /// There is something to do at `at`. Returns whether that is earlier than all else.
    pub(crate) fn wake(&mut self, at: Time) -> bool {
        let is_earlier = at < self.next;
        self.next = self.next.min(at);
        is_earlier
    }

    /// A modem sends a request at `now`.
    pub(crate) fn request(&mut self, now: Time, modem: usize, bytes: u64) {
        if bytes > 0 {
            self.accounts[modem].coming.push_back((now + self.rules.request(), bytes));
        }
    }

    /// Bytes that were granted to a modem do not count.
    pub(crate) fn give_back(&mut self, modem: usize, bytes: u64) {
        self.accounts[modem].charge(-i128::from(bytes));
    }

    /// When the next MAP is made from `now` on, and the number of its interval, if there is something to grant.
    pub(crate) fn next_map(&self, now: Time) -> Option<(u64, Time)> {
        let since = |account: &Account| match account.requested {
            0 => account.coming.front().map(|(at, _)| *at),
            _ => Some(now),
        };
        let known = self.accounts.iter().filter_map(since).min()?;
        Some(modem::answered(known.max(now), self.unmapped, &self.rules))
    }

    /// Makes the MAP of an interval at `now`: each modem's grant, if it gets one, and the bytes of requests that it
    /// answers.
    pub(crate) fn map(&mut self, now: Time, interval: u64, mut grant: impl FnMut(usize, Grant, u64, &Rules)) {
        self.unmapped = interval + 1;
        let Self { rules, accounts, lots, .. } = self;
        let free = if rules.free.is_some() { rules.free_slots(lots.uniform()) } else { rules.slots() };
        for account in accounts.iter_mut() {
            account.wants = account.grantable(now).div_ceil(rules.minislot);
            account.gets = 0;
        }
        let first = (interval % accounts.len() as u64) as usize;
        let given = share(accounts, first, free);
        let mut place = (lots.uniform() * (rules.slots() - given + 1) as f64) as u64;
        for modem in (first..accounts.len()).chain(0..first) {
            let account = &mut accounts[modem];
            if account.gets > 0 {
                let bytes = account.gets * rules.minislot;
                let answered = account.requested.min(bytes);
                account.requested -= answered;
                account.charge(i128::from(bytes));
                grant(modem, Grant { interval, first: place, slots: account.gets }, answered, rules);
                place += account.gets;
            }
        }
    }
}

/// Shares minislots equally among modems, none of which gets more than it wants; what cannot be divided goes to those
/// from `first` on. Returns how many are given.
fn share(accounts: &mut [Account], first: usize, free: u64) -> u64 {
    let mut left = free;
    loop {
        let wanting = accounts.iter().filter(|account| account.wants > account.gets).count() as u64;
        if left == 0 || wanting == 0 {
            return free - left;
        }
        let part = left / wanting;
        for modem in (first..accounts.len()).chain(0..first) {
            let account = &mut accounts[modem];
            let more = (account.wants - account.gets).min(part.max(1)).min(left);
            account.gets += more;
            left -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aqm::unit::{Bytes, Span};

    /// An interval of ten minislots of 48 bytes, every 2 ms.
    fn rules(flows: usize) -> Rules {
        let flow = ServiceFlow { rate: Rate::mbit_per_s(100), peak: None, burst: Bytes(3044) };
        Rules {
            name: String::new(),
            frame: Span::ms(1),
            frames: 2,
            minislots: 5,
            minislot: 48,
            lead: Span::ms(1),
            delay: Span::ZERO,
            free: None,
            variation: 0.0,
            pipelining: true,
            flows: vec![flow; flows],
        }
    }

    fn shared(wants: &[u64], first: usize, free: u64) -> Vec<u64> {
        let rules = rules(wants.len());
        let account = |wants: &u64| Account { wants: *wants, ..Account::new(&rules.flows[0], &rules) };
        let mut accounts: Vec<Account> = wants.iter().map(account).collect();
        let given = share(&mut accounts, first, free);
        let gets: Vec<u64> = accounts.iter().map(|account| account.gets).collect();
        assert_eq!(gets.iter().sum::<u64>(), given);
        gets
    }

    #[test]
    fn minislots_are_shared_equally_and_what_one_leaves_goes_to_the_others() {
        assert_eq!(shared(&[9, 9], 0, 10), [5, 5]);
        assert_eq!(shared(&[9, 2, 9], 0, 10), [4, 2, 4]);
        assert_eq!(shared(&[3, 3], 0, 10), [3, 3]);
        assert_eq!(shared(&[9, 9, 9], 1, 11), [3, 4, 4]);
        assert_eq!(shared(&[9, 9, 9], 2, 1), [0, 0, 1]);
    }

    #[test]
    fn a_bucket_has_its_burst_and_what_comes_in_an_interval_and_may_owe_a_minislot() {
        let mut bucket = Bucket::new(Rate::mbit_per_s(8), 3000, &rules(1));
        let ms = |ms: u64| Time::ZERO + Span::ms(ms);
        assert_eq!(bucket.bytes(ms(1)), 5000);
        bucket.tokens -= 5020 * BYTE;
        assert_eq!(bucket.bytes(ms(1)), 0);
        assert_eq!(bucket.bytes(ms(2)), 980);
        assert_eq!(bucket.bytes(ms(9)), 5000);
    }
}
