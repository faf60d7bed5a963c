//! Slots for the flows that come and go: a connection that is over makes room for the next, so that memory
//! depends on the number of live connections and not on the length of the run.
//!
//! Persistent flows have the first slots for the whole run; transient flows share the others, some of which a live run gives
//! to persistent flows that are added. Every transient flow has a *generation*, which its packets carry, so that a packet which
//! is in flight when the slot changes hands is not taken for one of the next flow. Timer events need no generation, because
//! they belong to the slot and only check the deadline of the present flow; the next flow may even use an event that the
//! last one left.

use crate::flows::endpoints::Endpoints;
use crate::flows::flow::{Application, Flow, Role, Snapshot};
use crate::tcp::Receiver;
use aqm::unit::Time;

impl Endpoints {
    /// Opens a flow in a free slot, and returns the slot.
    pub(crate) fn open(&mut self, flow: Flow, application: Application) -> u32 {
        let Some(slot) = self.free.pop() else {
            self.push(flow, application);
            return (self.flows.len() - 1) as u32;
        };
        let i = slot as usize;
        self.senders[i] = self.sender(flow.profile, application.payload);
        self.receivers[i] = Receiver::new(&self.profiles[usize::from(flow.profile)]);
        let Flow { generation, timer, pace, ack_timer, .. } = self.flows[i];
        self.flows[i] = Flow { generation, timer, pace, ack_timer, ..flow };
        self.applications[i] = application;
        self.assign(i, application.role);
        slot
    }

    /// Frees the slot of a transient flow whose every segment was acknowledged.
    pub(crate) fn close(&mut self, slot: u32) {
        let i = slot as usize;
        debug_assert!(!self.applications[i].role.persists() && self.senders[i].is_through());
        debug_assert_eq!(self.senders[i].deadline(), Time::MAX);
        let counters = self.snapshot(i);
        // An ACK that still waits would go out as the next flow's.
        self.receivers[i] = Receiver::new(&self.profiles[usize::from(self.flows[i].profile)]);
        self.assign(i, Role::Free);
        let flow = &mut self.flows[i];
        flow.generation = flow.generation.wrapping_add(1);
        let class = &mut self.classes[usize::from(flow.class)];
        class.retired = class.retired + counters;
        self.free.push(slot);
    }

    /// The flows that have an acknowledgement of what has not arrived, one sentence each; none in a correct run.
    pub(crate) fn ahead_of_receivers(&self) -> impl Iterator<Item = String> {
        let ends = self.senders.iter().zip(&self.receivers).zip(&self.applications).enumerate();
        ends.filter(|(_, (_, application))| application.role != Role::Free).filter_map(
            |(flow, ((sender, receiver), _))| {
                let (una, next) = (sender.una(), receiver.next());
                (una > next).then(|| {
                    format!("TCP flow {flow}: segments below {una} are acknowledged, those below {next} have arrived")
                })
            },
        )
    }

    /// The counters of all transient flows of a class, past and present.
    pub(crate) fn transient(&self, class: u16) -> Snapshot {
        let is_transient = |role: Role| role != Role::Free && !role.persists();
        (self.persistent..self.flows.len())
            .filter(|&i| self.flows[i].class == class && is_transient(self.applications[i].role))
            .fold(self.classes[usize::from(class)].retired, |sum, i| sum + self.snapshot(i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rng::Stream;
    use crate::flows::flow::Class;
    use crate::network::route::Paths;
    use aqm::Bytes;
    use scenario::model::Tcp;

    const PATHS: Paths = Paths { forward: 0, reverse: 0 };

    #[test]
    fn a_slot_is_used_again_by_another_generation_and_its_counters_stay_with_the_class() {
        let mut endpoints = Endpoints::default();
        endpoints.classes.extend([Class::default(), Class::default()]);
        let tcp = Tcp { handshake: false, ..Tcp::default() };
        endpoints.add_profile(&tcp, Bytes(500), Stream::new(1, "tick"));
        let short = Application::new(Role::Short, 0, Time::ZERO);
        let transient = |class| Flow::new(class, 0, PATHS);
        let (first, second) = (endpoints.open(transient(0), short), endpoints.open(transient(1), short));
        assert_eq!((first, second), (0, 1));
        endpoints.flows[0].timer = 5;
        let segment = crate::tcp::Segment {
            seq: 1,
            content: crate::tcp::Content::Data,
            retransmission: false,
            cwr: false,
            ect: false,
            l4s: false,
            push: false,
            sent: Time::ZERO,
        };
        endpoints.receivers[0].on_segment(Time::ZERO, &endpoints.profiles[0], &segment, false, drop);
        endpoints.applications[0].payload = 460;
        assert_eq!(endpoints.transient(0).delivered, 460);
        endpoints.close(0);
        assert_eq!(endpoints.transient(0).delivered, 460, "not twice");
        assert_eq!(endpoints.open(transient(1), short), 0);
        let flow = &endpoints.flows[0];
        assert_eq!((flow.class, flow.generation, flow.timer), (1, 1, 5));
        assert_eq!((endpoints.transient(0).delivered, endpoints.transient(1).delivered), (460, 0));
        assert_eq!((endpoints.open(transient(0), short), endpoints.flows.len()), (2, 3));
    }

    #[test]
    fn no_acknowledgement_of_a_transient_flow_is_due_after_its_end() {
        let mut endpoints = Endpoints::default();
        endpoints.classes.push(Class::default());
        let tcp = Tcp { handshake: false, delayed_ack_of_repeat: true, ..Tcp::default() };
        endpoints.add_profile(&tcp, Bytes(500), Stream::new(1, "tick"));
        endpoints.open(Flow::new(0, 0, PATHS), Application::new(Role::Short, 0, Time::ZERO));
        let segment = crate::tcp::Segment {
            seq: 1,
            content: crate::tcp::Content::Data,
            retransmission: false,
            cwr: false,
            ect: false,
            l4s: false,
            push: false,
            sent: Time::ZERO,
        };
        endpoints.receivers[0].on_segment(Time::ZERO, &endpoints.profiles[0], &segment, false, drop);
        assert!(endpoints.receivers[0].deadline() < Time::MAX);
        endpoints.close(0);
        assert_eq!(endpoints.receivers[0].deadline(), Time::MAX);
    }
}
