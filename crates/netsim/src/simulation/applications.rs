//! What applications do with the network: they start and stop flows, and act on what arrives.

use crate::engine::event::Event;
use crate::engine::order::Order;
use crate::flows::flow::{Application, Flow, Role};
use crate::flows::web::Connection;
use crate::measure::probe::Probe;
use crate::network::route::Paths;
use crate::simulation::Simulation;
use crate::traffic::short::Amount;
use aqm::unit::{Span, Time};

impl<P: Probe> Simulation<P> {
    /// A flow opens its connection.
    pub(crate) fn start<C: Order>(&mut self, clock: C, flow: u32) {
        if self.endpoints.has_begun(flow) {
            return self.resume(clock, flow);
        }
        let Flow { class, forward, reverse, .. } = self.endpoints.flows[flow as usize];
        let class_of = &mut self.endpoints.classes[usize::from(class)];
        class_of.started += 1;
        let requests = class_of.requests;
        if self.endpoints.applications[flow as usize].role.persists() {
            self.begin_row(flow, |run| run.number_of(flow));
        }
        let Some(requests) = requests else {
            return self.open(clock, flow);
        };
        let asks = Application::new(Role::Request(flow), 0, Time::MAX);
        let paths = Paths { forward, reverse }.reversed();
        let request = self.endpoints.open(Flow::new(class, requests, paths), asks);
        self.open(clock, request);
        // The request waits for the handshake.
        self.supply(clock, request, 1);
    }

    /// A sender opens its connection.
    fn open<C: Order>(&mut self, clock: C, flow: u32) {
        self.with_sender(clock, flow, |sender, now, profile, out| sender.on_start(now, profile, out));
        self.close_after_data(clock, flow);
    }

    /// An application with an end to its data closes the connection as soon as it has handed them over.
    fn close_after_data<C: Order>(&mut self, clock: C, flow: u32) {
        if (1..u64::MAX).contains(&self.endpoints.applications[flow as usize].payload)
            && self.endpoints.senders[flow as usize].has_data()
        {
            self.with_sender(clock, flow, |sender, now, profile, out| sender.on_close(now, profile, out));
        }
    }

    /// A flow that was stopped goes on with its unsent data, on its connection.
    #[cold]
    fn resume<C: Order>(&mut self, clock: C, flow: u32) {
        let i = flow as usize;
        let payload = self.endpoints.applications[i].payload;
        let segments =
            self.endpoints.profiles[usize::from(self.endpoints.flows[i].profile)].segments(payload);
        let sender = &self.endpoints.senders[i];
        if sender.una() > segments {
            return; // a transfer that is complete
        }
        if sender.is_through() {
            self.begin_row(flow, |run| run.number_of(flow));
        }
        self.with_sender(clock, flow, |sender, now, profile, out| {
            sender.on_resume(now, profile, segments, out)
        });
        self.close_after_data(clock, flow);
    }

    /// A flow's application produces no more.
    pub(crate) fn stop(&mut self, flow: u32) {
        let sender = &mut self.endpoints.senders[flow as usize];
        sender.on_stop();
        if sender.is_through() {
            self.on_through(flow);
        }
    }

    /// A `short` flow arrives.
    pub(crate) fn on_arrival<C: Order>(&mut self, clock: C, entry: u32) {
        let now = self.now();
        let shorts = &mut self.endpoints.shorts[entry as usize];
        let Some(arrival) = shorts.arrivals.arrive(now) else {
            return;
        };
        let next = shorts.arrivals.after(now);
        let flow = Flow::new(shorts.class, shorts.profile, shorts.paths_of(arrival.number));
        self.network.events.push(next, Event::Short(entry));
        let payload = match arrival.amount {
            Amount::Lifetime(_) => u64::MAX,
            Amount::Size(payload) => payload,
        };
        let application = Application::new(Role::Short, payload, now);
        let slot = self.endpoints.open(flow, application);
        self.begin_row(slot, |_| arrival.number as u32);
        self.start(clock, slot);
        if let Amount::Lifetime(lifetime) = arrival.amount {
            // The flow cannot be over before its lifetime is, so that the event needs no generation.
            self.network.events.push(now + lifetime, Event::Stop(slot));
        }
    }

    /// All that a flow's application has handed over was acknowledged.
    pub(crate) fn on_through(&mut self, slot: u32) {
        let now = self.now();
        let flow = &self.endpoints.flows[slot as usize];
        let Application { role, start, payload, .. } = self.endpoints.applications[slot as usize];
        if role.persists() {
            // The next flow has a slot of its own.
            self.endpoints.senders[slot as usize].shrink();
        }
        match role {
            Role::Transfer => {
                let whole = self.endpoints.profiles[usize::from(flow.profile)].segments(payload);
                // Its application may have been stopped before.
                if self.endpoints.senders[slot as usize].una() > whole {
                    self.deliveries.on_completion(flow.class, now - start);
                    self.end_row(slot, Some(now - start));
                    self.endpoints.assign(slot as usize, Role::Persistent);
                } else {
                    self.end_row(slot, None);
                }
            }
            Role::Short => {
                self.deliveries.on_completion(flow.class, now - start);
                self.end_row(slot, Some(now - start));
                self.endpoints.close(slot);
            }
            Role::Closing => self.endpoints.close(slot),
            // Its application has been stopped.
            Role::Persistent => self.end_row(slot, None),
            Role::Request(_) | Role::Requests { .. } | Role::Objects { .. } | Role::Free => {}
        }
    }

    /// Data may have arrived in order at an application that listens.
    pub(crate) fn on_delivery<C: Order>(&mut self, clock: C, slot: u32) {
        let now = self.now();
        let arrived = self.endpoints.receivers[slot as usize].delivered();
        match self.endpoints.applications[slot as usize].role {
            Role::Request(transfer) if arrived > 0 => {
                self.endpoints.assign(slot as usize, Role::Closing);
                if self.endpoints.applications[transfer as usize].start > now {
                    // A live run has taken it away meanwhile.
                    self.end_row(transfer, None);
                } else if !self.endpoints.has_begun(transfer) {
                    self.accept(clock, slot, transfer);
                    self.open(clock, transfer);
                }
            }
            Role::Requests { client, connection } => {
                let connection =
                    &mut self.endpoints.clients[client as usize].connections[usize::from(connection)];
                let objects = connection.objects;
                let first = !connection.has_served();
                if let Some(object) = connection.serve(arrived) {
                    if first {
                        self.accept(clock, slot, objects);
                    }
                    let payload = &mut self.endpoints.applications[objects as usize].payload;
                    *payload = payload.saturating_add(object.size);
                    self.supply(clock, objects, object.segments);
                }
            }
            Role::Objects { client: number, connection } => {
                let client = &mut self.endpoints.clients[number as usize];
                let Some(arrived) = client.take(connection, arrived, now) else {
                    return;
                };
                let flow = &self.endpoints.flows[slot as usize];
                let full = self.endpoints.profiles[usize::from(flow.profile)].payload();
                let segments = u64::from(arrived.object.segments) * u64::from(full);
                let padding = &mut self.endpoints.applications[slot as usize].padding;
                *padding = padding.saturating_add(segments.saturating_sub(arrived.object.size));
                let class = flow.class;
                self.deliveries.on_completion(class, arrived.took);
                self.end_row(slot, Some(arrived.took));
                if let Some(took) = arrived.session {
                    self.deliveries.classes[usize::from(class)].sessions.record(took);
                    self.end_session(clock, number);
                } else if arrived.wait > Span::ZERO {
                    self.network.events.push(now + arrived.wait, Event::Session(number));
                } else {
                    self.ask(clock, number, connection);
                }
            }
            _ => {}
        }
    }

    /// A web client begins a session, for which it opens its connections, or goes on with it.
    pub(crate) fn begin_session<C: Order>(&mut self, clock: C, number: u32) {
        let now = self.now();
        let client = &self.endpoints.clients[number as usize];
        if client.plays() && !client.connections.is_empty() {
            return self.ask(clock, number, 0);
        }
        let client = &mut self.endpoints.clients[number as usize];
        let site = &self.endpoints.sites[usize::from(client.site)];
        if !site.is_active(now) {
            return;
        }
        client.begin(site, now);
        let (class, requests, objects) = (site.class, site.requests, site.objects);
        let paths = client.paths;
        for connection in 0..site.connections() {
            let asks = Application::new(Role::Requests { client: number, connection }, 0, Time::MAX);
            let requests = self.endpoints.open(Flow::new(class, requests, paths.reversed()), asks);
            let answers = Application::new(Role::Objects { client: number, connection }, 0, Time::MAX);
            let objects = self.endpoints.open(Flow::new(class, objects, paths), answers);
            let client = &mut self.endpoints.clients[number as usize];
            client.connections.push(Connection::new(requests, objects));
            self.open(clock, requests);
            // The request waits for the handshake.
            self.ask(clock, number, connection);
        }
    }

    /// A client asks for the next object over a connection that is free.
    fn ask<C: Order>(&mut self, clock: C, number: u32, connection: u16) {
        let now = self.now();
        let client = &mut self.endpoints.clients[number as usize];
        let site = &self.endpoints.sites[usize::from(client.site)];
        let profile = &self.endpoints.profiles[usize::from(site.objects)];
        // A page is fetched to its end, a video until its viewer turns it off.
        if client.plays() && !(client.active && site.is_active(now)) {
            return self.hang_up(clock, number);
        }
        if client.ask(site, profile, connection, now).is_some() {
            let Connection { requests, objects, .. } = client.connections[usize::from(connection)];
            self.endpoints.classes[usize::from(site.class)].started += 1;
            self.begin_row(objects, |run| run.endpoints.clients[number as usize].number);
            self.supply(clock, requests, 1);
        }
    }

    /// All objects of a session have arrived: the client closes its connections and thinks.
    fn end_session<C: Order>(&mut self, clock: C, number: u32) {
        let client = &mut self.endpoints.clients[number as usize];
        if client.active {
            let think = client.think(&self.endpoints.sites[usize::from(client.site)]);
            let next = self.network.events.now() + think;
            self.network.events.push(next, Event::Session(number));
        }
        self.hang_up(clock, number);
    }

    /// A client closes its connections.
    pub(super) fn hang_up<C: Order>(&mut self, clock: C, number: u32) {
        for i in 0..self.endpoints.clients[number as usize].connections.len() {
            let Connection { requests, objects, .. } = self.endpoints.clients[number as usize].connections[i];
            self.with_sender(clock, requests, |sender, now, profile, out| sender.on_close(now, profile, out));
            for slot in [requests, objects] {
                self.endpoints.assign(slot as usize, Role::Closing);
                if self.endpoints.senders[slot as usize].is_through() {
                    self.endpoints.close(slot);
                }
            }
        }
        self.endpoints.clients[number as usize].connections.clear();
    }

    /// The server has a connection's only or first request. It takes the client's measurement of the handshake for its own,
    /// because that went over the same paths.
    fn accept<C: Order>(&mut self, clock: C, requests: u32, objects: u32) {
        let client = &self.endpoints.senders[requests as usize];
        let flow = &self.endpoints.flows[requests as usize];
        let rtt = client.smoothed(&self.endpoints.profiles[usize::from(flow.profile)]);
        let distrusts = self.endpoints.receivers[requests as usize].distrusts();
        self.with_sender(clock, objects, |sender, now, profile, _| {
            sender.on_accept(now, profile, rtt, distrusts)
        });
    }

    /// The application of a flow has `segments` more segments to send.
    fn supply<C: Order>(&mut self, clock: C, slot: u32, segments: u32) {
        self.with_sender(clock, slot, |sender, now, profile, out| {
            sender.on_data(now, profile, segments, out)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Document;

    /// The slots that transient flows have used within `seconds`, and how many flows or requests there were.
    fn slots(seconds: u64, kind: &str) -> (usize, u64) {
        let text = format!(
            "duration = \"{seconds} s\"\n[dumbbell]\n[[traffic]]\nname = \"long\"\ncount = 3\ntcp = \"rfc5681\"\n\
             [[traffic]]\nname = \"x\"\nsize = \"3 kB\"\ntcp = \"rfc5681\"\n{kind}\n"
        );
        let mut run = Simulation::new(Document::parse(&text, "slots").unwrap().check().unwrap(), 1, ());
        run.advance(Time::ZERO + Span::s(seconds));
        assert_eq!(run.endpoints.persistent, 3);
        (run.endpoints.flows.len() - 3, run.endpoints.classes[1].started)
    }

    #[test]
    fn slots_depend_on_how_many_are_alive_and_not_on_how_long_it_takes() {
        let (few, many) = (
            slots(20, "kind = \"short\"\narrival_rate = \"20 /s\""),
            slots(400, "kind = \"short\"\narrival_rate = \"20 /s\""),
        );
        assert!(many.1 > 15 * few.1 && many.1 > 7000, "{few:?} {many:?}");
        assert!(many.0 < 3 * few.0 && many.0 < 100, "{few:?} {many:?}");
        // Two flows a connection, and those of the last session while they close.
        let web = "kind = \"web\"\ncount = 5\nconnections = 2\nobjects = 4\nthink = \"0 s\"";
        let (slots, requests) = slots(400, web);
        assert!(requests > 4000 && (20..=40).contains(&slots), "{slots} slots for {requests} requests");
    }
}
