//! Traffic that a user changes: more flows and fewer, at other rates.

use crate::engine::clock::{Clock, Double, Integer};
use crate::engine::event::Event;
use crate::engine::rng::Stream;
use crate::flows::flow::{Application, Role};
use crate::flows::web::Client;
use crate::measure::probe::Probe;
use crate::network::route::Paths;
use crate::simulation::Simulation;
use crate::traffic::pages::reader;
use crate::traffic::plan;
use crate::traffic::source::{Setting, Source};
use crate::traffic::stretched;
use aqm::unit::{Bytes, Time};
use scenario::Distribution;
use scenario::model::{Ecn, Traffic, TrafficKind, Udp, Web};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

impl<P: Probe> Simulation<P> {
    /// Follows the traffic of a scenario that it may follow.
    pub(super) fn follow_traffic(&mut self, theirs: &[Traffic]) {
        let Some(mut following) = self.following.take() else {
            return;
        };
        self.open_paths(theirs);
        for (class, entry) in theirs.iter().enumerate() {
            if entry.kind != self.scenario.traffic[class].kind {
                self.follow_law(class as u16, &entry.kind);
            }
            let ours = &mut self.scenario.traffic[class];
            ours.kind.clone_from(&entry.kind);
            ours.count = ours.count.max(entry.count);
            let count = entry.count as usize;
            let before = std::mem::replace(&mut following.counts[class], entry.count) as usize;
            if count < before {
                self.take_away(class as u16, count..before);
            } else if count > before {
                self.add(class as u16, before..count, &mut following.draws[class]);
            }
        }
        self.following = Some(following);
    }

    /// Opens the paths of the flows that are added; those of `short` flows are open.
    fn open_paths(&mut self, traffic: &[Traffic]) {
        let persistent = traffic.iter().filter(|entry| !matches!(entry.kind, TrafficKind::Short(..)));
        let ends = persistent.flat_map(|entry| {
            let (from, to) = (&entry.from, &entry.to);
            (0..entry.pairs().min(entry.count as usize))
                .map(move |i| (from[i % from.len()], to[i % to.len()]))
        });
        self.network.open_paths(&self.scenario, ends);
    }

    fn paths_of(&self, entry: &Traffic, number: usize) -> Paths {
        Paths::of(entry, number, |from, to| self.network.path(from, to).expect("it has been opened"))
    }

    /// Takes the pending events of these subjects off the list.
    fn withdraw(&mut self, subjects: &[u32], event: fn(u32) -> Event) -> HashMap<Event, Time> {
        let events: HashSet<Event> = subjects.iter().map(|&subject| event(subject)).collect();
        self.network.events.withdraw(&events).into_iter().map(|(at, event)| (event, at)).collect()
    }

    /// The next arrivals of a `short` entry, which are taken off the list.
    fn withdraw_arrivals(&mut self, entry: u32) -> Vec<(Time, Event)> {
        self.network.events.withdraw(&HashSet::from([Event::Short(entry)]))
    }

    fn short_entry(&self, class: u16) -> u32 {
        let of_class = self.endpoints.shorts.iter().position(|shorts| shorts.class == class);
        of_class.expect("each `short` entry has its arrivals") as u32
    }

    /// The datagrams or the arrivals of a class follow another law.
    fn follow_law(&mut self, class: u16, kind: &TrafficKind) {
        let now = self.now();
        match kind {
            TrafficKind::Udp(udp, _) => {
                let sources = self.endpoints.sources_of(class);
                // The events of TFRC and QUIC stay: what is due at the next is seen then.
                let due = match udp {
                    Udp::Tfrc(_) | Udp::Stack(_) => HashMap::new(),
                    _ => self.withdraw(&sources, Event::Datagram),
                };
                for i in sources {
                    let event = Event::Datagram(i);
                    let due = due.get(&event).copied();
                    if let Some(next) = self.endpoints.sources[i as usize].follow(udp, now, due) {
                        self.network.events.push(next, event);
                    }
                }
            }
            TrafficKind::Short(_, law) => {
                let entry = self.short_entry(class);
                let pending = self.withdraw_arrivals(entry);
                let shorts = &mut self.endpoints.shorts[entry as usize];
                let factor = shorts.arrivals.follow(law);
                // What has not begun begins at its time.
                let all_have_begun = shorts.begun_by <= now;
                for (at, event) in pending {
                    let next = if all_have_begun { now + stretched(at - now, factor) } else { at };
                    self.network.events.push(next, event);
                }
            }
            TrafficKind::Ftp(_)
            | TrafficKind::Transfer(..)
            | TrafficKind::Web(..)
            | TrafficKind::Program(_) => {}
        }
    }

    /// The flows, arrival processes or clients of a class with these numbers stop.
    fn take_away(&mut self, class: u16, numbers: Range<usize>) {
        let now = self.now();
        match self.scenario.traffic[usize::from(class)].kind {
            TrafficKind::Ftp(_) | TrafficKind::Transfer(..) => {
                let slots = &self.endpoints.slots_of(class)[numbers];
                self.withdraw(slots, Event::Start);
                for &slot in slots {
                    let begun = self.endpoints.has_begun(slot);
                    let application = &mut self.endpoints.applications[slot as usize];
                    if !begun || application.role == Role::Persistent {
                        application.start = Time::MAX;
                    }
                    if begun {
                        self.stop(slot);
                    }
                }
            }
            TrafficKind::Udp(..) => {
                let sources = &self.endpoints.sources_of(class)[numbers];
                self.withdraw(sources, Event::Datagram);
                for &i in sources {
                    if self.endpoints.sources[i as usize].since > now {
                        self.drop_row_of_source(i);
                    }
                    self.endpoints.sources[i as usize].rest(now);
                }
            }
            TrafficKind::Web(..) => {
                let clients = &self.endpoints.clients_of(class)[numbers];
                let waiting = self.withdraw(clients, Event::Session);
                for &i in clients {
                    let client = &mut self.endpoints.clients[i as usize];
                    client.active = false;
                    // Only a client that plays a video waits with a connection.
                    if waiting.contains_key(&Event::Session(i)) && !client.connections.is_empty() {
                        match self.scenario.clock {
                            Clock::Integer => self.hang_up(Integer, i),
                            Clock::Double => self.hang_up(Double, i),
                        }
                    }
                }
            }
            TrafficKind::Program(_) => {}
            TrafficKind::Short(..) => {
                // They are all alike: those end whose next flows would come last.
                let pending = self.withdraw_arrivals(self.short_entry(class));
                let stay = pending.len().saturating_sub(numbers.len());
                for (at, event) in pending.into_iter().take(stay) {
                    self.network.events.push(at, event);
                }
            }
        }
    }

    /// Flows, arrival processes or clients of a class with these numbers start, for the first time or again.
    fn add(&mut self, class: u16, numbers: Range<usize>, rng: &mut Stream) {
        let entry = self.scenario.traffic[usize::from(class)].clone();
        let from = self.now().max(Time::ZERO + entry.begin);
        match &entry.kind {
            TrafficKind::Ftp(_) => self.add_flows(class, &entry, None, numbers, from, rng),
            TrafficKind::Transfer(_, transfer) => {
                self.add_flows(class, &entry, Some(&transfer.size), numbers, from, rng);
            }
            TrafficKind::Udp(udp, ecn) => self.add_sources(class, &entry, (udp, *ecn), numbers, from, rng),
            TrafficKind::Web(_, web) => self.add_clients(class, &entry, web, numbers, from, rng),
            TrafficKind::Program(_) => {}
            TrafficKind::Short(..) => {
                let index = self.short_entry(class);
                let shorts = &mut self.endpoints.shorts[index as usize];
                for _ in numbers {
                    let start = from + rng.draw(&entry.start);
                    shorts.begun_by = shorts.begun_by.max(start);
                    self.network.events.push(shorts.arrivals.after(start), Event::Short(index));
                }
            }
        }
    }

    fn add_flows(
        &mut self,
        class: u16,
        entry: &Traffic,
        sizes: Option<&Distribution<Bytes>>,
        numbers: Range<usize>,
        from: Time,
        rng: &mut Stream,
    ) {
        let (slots, stop) = (self.endpoints.slots_of(class), plan::stop(entry));
        for number in numbers {
            let start = from + rng.draw(&entry.start);
            let slot = slots.get(number).copied().unwrap_or_else(|| {
                let role = if sizes.is_some() { Role::Transfer } else { Role::Persistent };
                let payload = sizes.map_or(u64::MAX, |sizes| rng.draw_payload(sizes));
                let application = Application::new(role, payload, Time::MAX);
                let paths = self.paths_of(entry, number);
                let slot = self.endpoints.add_persistent(class, number as u32, paths, application);
                if (from..Time::MAX).contains(&stop) {
                    self.network.events.push(stop, Event::Stop(slot));
                }
                slot
            });
            if start >= stop {
                continue;
            }
            let begun = self.endpoints.has_begun(slot);
            let application = &mut self.endpoints.applications[slot as usize];
            if !begun || application.role == Role::Persistent {
                application.start = start;
            }
            self.network.events.push(start, Event::Start(slot));
        }
    }

    fn add_sources(
        &mut self,
        class: u16,
        entry: &Traffic,
        (udp, ecn): (&Udp, Ecn),
        numbers: Range<usize>,
        from: Time,
        rng: &mut Stream,
    ) {
        let sources = self.endpoints.sources_of(class);
        for number in numbers {
            let start = from + rng.draw(&entry.start);
            let i = if let Some(&i) = sources.get(number) {
                self.end_row_of_source(i);
                self.endpoints.sources[i as usize].wake(start, plan::stop(entry));
                i
            } else {
                let Paths { forward, reverse } = self.paths_of(entry, number);
                let setting = Setting { class, forward, reverse, ecn, start, end: self.end };
                let watch = &mut self.network.watch;
                let Some(source) = Source::new(setting, entry, udp, number, self.seed, watch) else {
                    return;
                };
                self.endpoints.sources.push(source);
                (self.endpoints.sources.len() - 1) as u32
            };
            self.begin_row_of_source(i, number as u32);
            let first = self.endpoints.sources[i as usize].since;
            if first < Time::MAX {
                self.network.events.push(first, Event::Datagram(i));
            }
        }
    }

    fn add_clients(
        &mut self,
        class: u16,
        entry: &Traffic,
        web: &Web,
        numbers: Range<usize>,
        from: Time,
        rng: &mut Stream,
    ) {
        let clients = self.endpoints.clients_of(class);
        let site = self.endpoints.sites.iter().position(|site| site.class == class).unwrap_or_default();
        for number in numbers {
            let start = from + rng.draw(&entry.start);
            let i = clients.get(number).copied().unwrap_or_else(|| {
                let paths = self.paths_of(entry, number);
                let reader = reader(entry, web, self.seed, number);
                self.endpoints.clients.push(Client::new(site as u16, number as u32, paths, reader));
                (self.endpoints.clients.len() - 1) as u32
            });
            let client = &mut self.endpoints.clients[i as usize];
            client.active = true;
            // Else it is still in a session, with which it goes on.
            if client.connections.is_empty() {
                let first = start + client.think(&self.endpoints.sites[site]);
                self.network.events.push(first, Event::Session(i));
            }
        }
    }
}

#[cfg(test)]
mod tests;
