//! What the runs of all engines share: the form of their results, and the watch that can stop them.
//!
//! | module | holds |
//! |---|---|
//! | `metrics` | each metric and distribution, declared once with its name, type, unit and definition |
//! | [`results`] | the summary of a run, of which JSON and Python have the same form |
//! | `elsewhere` | whether another link kept the queue under study from filling |
//! | `violations` | the checks of a summary that hold for every run |
//! | `glance` | the observed link of a run under way |
//! | [`quality`] | how users see a network: calls, responsiveness, outcome |
//! | `playback` | how videos were played |
//! | `column` | a named column of a series |
//! | `settling` | the search for the response time |
//! | `stopwatch` | the processor time that an engine takes |
//! | `watch` | the question whether to continue, asked at intervals of work |

mod column;
mod elsewhere;
mod glance;
mod metrics;
mod playback;
pub mod quality;
pub mod results;
mod settling;
mod stopwatch;
mod violations;
mod watch;

pub use column::Column;
pub use glance::Glance;
pub use metrics::{Metric, distributions, metrics};
pub use playback::Playback;
pub use results::Results;
pub use settling::Settling;
pub use stopwatch::Stopwatch;
pub use watch::Watch;
