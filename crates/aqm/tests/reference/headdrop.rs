//! Linux's sch_fifo.c, pfifo_head_drop.

use crate::driver::Reference;
use aqm::{Backlog, Packet, Verdict};

pub(crate) struct HeadDrop {
    pub(crate) limit: u32,
}

impl Reference for HeadDrop {
    fn make_room(&mut self, _: Packet, queue: &Backlog) -> Option<u32> {
        if queue.packets < self.limit { None } else { Some(0) }
    }

    fn arrival(&mut self, _: f64, _: Packet, queue: &Backlog, _: &mut dyn FnMut() -> f64) -> Verdict {
        assert!(queue.packets < self.limit, "the head has made room");
        Verdict::Pass
    }

    fn signal(&self) -> f64 {
        0.0
    }
}
