//! All integration tests in one binary: each binary compiles the generic engine again.

mod around;
mod classes;
mod contract;
#[path = "support/datagram.rs"]
mod datagram;
mod driver;
mod equivalence;
mod equivalence_codel;
mod equivalence_control;
mod equivalence_flows;
mod equivalence_jobs;
mod equivalence_redtail;
mod equivalence_several;
mod equivalence_shapers;
mod extremes;
mod finality;
mod kernel;
mod kernel_fixed;
mod kernel_jobs;
mod kernel_laws;
mod kernel_ranges;
mod kernel_redtail;
mod ns3;
mod ported;
mod qdisc;
mod raqm_target;
mod reference;
mod rest;
mod retune;
#[path = "support/sources.rs"]
mod sources;
mod support;
mod units;
#[path = "support/variations.rs"]
mod variations;
mod verdicts;
