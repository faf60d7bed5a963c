//! Working ahead: a step that can be computed before its time needs no event.
//!
//! An event list orders steps that depend on each other. Many do not: a packet's passage is settled as soon as no later
//! event can interfere with it. So, when a packet enters
//!
//! * a *plain* link whose every packet comes from one link: the link takes the packet over when that one sends it
//!   ([`Plan::takes_over`]);
//! * a link with an AQM that decides finally on arrivals ([`aqm::Aqm::is_final`]): the packet's departure time is known
//!   when it enters, so it travels on at once ([`LinkAhead::enqueue`]);
//! * the last link to a host that no packet passes through, and where all receivers answer every segment at once: the
//!   packet is delivered now, with its time of arrival, and the acknowledgement sets out from that time ([`Early`]).
//!
//! # Invariants
//!
//! 1. **Every computation gets its own time.** Whatever is done before or after its time uses the time at which an
//!    event would have done it; `Events::now` is not read here.
//! 2. **Every step has its own rank among those of its time.** It is computed from that of its cause, as that of an event
//!    is ([`crate::engine::order`]). Where the times of two steps are equal, their ranks are compared.
//! 3. **A link sees its arrivals in the order of their times and ranks.** That is why packets are taken over only from one
//!    link: two would have to be merged.
//! 4. **A queue is up to date before it decides.** All that was due before an arrival (periods, departures, the end of the
//!    warm-up) is done before the arrival is offered. On the integer clock, at one time, the period comes first, then the
//!    departure, then the end of the warm-up.
//! 5. **No accepted packet is dropped or marked later**, and the link's rate does not change. Hence [`Due`] knows when
//!    the wire will be free of all accepted packets.
//! 6. **A queue that works ahead touches only its own link**, the probe, the ledger and the watch: [`LinkAhead`] holds no
//!    event list.
//! 7. **An early delivery changes only its own flow.** The receiver delays no ACK and collects no segments, no application
//!    acts on the data, no other flow starts or ends at the host, and no packet passes through it.
//! 8. **At the end of every piece of a run all queues are up to date**, so that results and series are complete;
//!    [`stride`] bounds the work that may accumulate until then.
//!
//! So the results are those of an event for everything; `tests/ahead.rs` compares the two. There is one exception, on the
//! integer clock, where ranks depend on the order of causes at the present. Packets that two links begin to send at the same
//! nanosecond, over paths of equal length, meet in the order of the links in the scenario where the engine knew of them
//! ahead, and in the order of what caused the sending where it did not. It takes, for example, acknowledgements of two hosts
//! at one distance, behind links slower than the bottleneck.

mod due;
mod plan;
mod queue;

pub(crate) use due::Due;
#[cfg(test)]
pub(crate) use plan::takes_over;
pub(crate) use plan::{Early, Lookahead, Plan, may_work_ahead};
pub(crate) use queue::{Journey, LinkAhead, after_all, stride};
