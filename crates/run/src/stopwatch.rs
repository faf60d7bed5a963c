//! The processor time that an engine takes.

use std::time::Duration;

/// Measures the processor time of the current thread. WebAssembly has no such clock: there it stands still.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    started: cpu_time::ThreadTime,
}

impl Stopwatch {
    /// Starts one.
    #[must_use]
    pub fn start() -> Self {
        Self {
            #[cfg(not(target_family = "wasm"))]
            started: cpu_time::ThreadTime::now(),
        }
    }

    /// The processor time since the start.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        #[cfg(not(target_family = "wasm"))]
        return self.started.elapsed();
        #[cfg(target_family = "wasm")]
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_while_the_thread_works() {
        let watch = Stopwatch::start();
        let (mut sum, mut n) = (0_u64, 0_u64);
        while watch.elapsed() == Duration::ZERO {
            n += 1;
            sum = std::hint::black_box(sum.wrapping_add(n));
        }
        assert!(watch.elapsed() > Duration::ZERO);
    }
}
