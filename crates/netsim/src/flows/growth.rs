//! Flows and clients that a live run is given on the way, and takes away.

use crate::flows::endpoints::Endpoints;
use crate::flows::flow::{Added, Application, Flow, Snapshot};
use crate::network::route::Paths;

impl Endpoints {
    /// The slots of the persistent flows of a class, in the order of their numbers.
    pub(crate) fn slots_of(&self, class: u16) -> Vec<u32> {
        let of_class = self.lasting().filter(|&(slot, ..)| self.flows[slot].class == class);
        of_class.map(|(slot, ..)| slot as u32).collect()
    }

    /// The sources of a class, in the order of their numbers.
    pub(crate) fn sources_of(&self, class: u16) -> Vec<u32> {
        let sources = self.sources.iter().enumerate().filter(|(_, source)| source.class == class);
        sources.map(|(i, _)| i as u32).collect()
    }

    /// The clients of a class, in the order of their numbers.
    pub(crate) fn clients_of(&self, class: u16) -> Vec<u32> {
        let site = |of: u16| &self.sites[usize::from(of)];
        let clients = self.clients.iter().enumerate().filter(|(_, client)| site(client.site).class == class);
        clients.map(|(i, _)| i as u32).collect()
    }

    /// Whether the flow in a slot has begun to open its connection.
    pub(crate) fn has_begun(&self, slot: u32) -> bool {
        let i = slot as usize;
        self.senders[i].has_begun(&self.profiles[usize::from(self.flows[i].profile)])
    }

    /// Adds a persistent flow to a class, and returns its slot.
    pub(crate) fn add_persistent(
        &mut self,
        class: u16,
        number: u32,
        paths: Paths,
        application: Application,
    ) -> u32 {
        let profile = self.classes[usize::from(class)].profile;
        let slot = self.open(Flow::new(class, profile, paths), application);
        self.added.push(Added { slot, number, at_warmup: Snapshot::default() });
        slot
    }
}
