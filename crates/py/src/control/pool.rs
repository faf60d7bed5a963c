//! Threads that stay, and advance runs in turn with the thread that asks.
//!
//! An interval takes microseconds, in which no thread could be started. The thread that asks waits for no one who has not
//! begun: on a busy machine it does all the work itself.

use crate::own::caught;
use aqm::unit::Span;
use netsim::{Control, Interval};
use pyo3::PyErr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, spawn};

/// A run that is to advance by an interval.
pub(super) struct Job {
    pub(super) place: usize,
    pub(super) run: Box<Control>,
    pub(super) p: f64,
    pub(super) interval: Span,
}

/// The run after it, and what happened; or the exception of a discipline in Python.
pub(super) struct Done {
    pub(super) place: usize,
    pub(super) outcome: Result<(Box<Control>, Interval), PyErr>,
}

impl Job {
    fn perform(self) -> Done {
        let Self { place, mut run, p, interval } = self;
        let happened = caught(false, || run.step(p, interval));
        Done { place, outcome: happened.map(|happened| (run, happened)) }
    }
}

#[derive(Default)]
struct Work {
    jobs: Vec<Job>,
    done: Vec<std::thread::Result<Done>>,
    /// Jobs that a thread has taken and not yet done.
    running: usize,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    /// There are jobs, or the pool is closed.
    asked: Condvar,
    /// A job is done.
    answered: Condvar,
}

impl Shared {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job, if there is one, does it, and returns whether there was one.
    fn take_one(&self) -> bool {
        let mut work = self.work();
        let Some(job) = work.jobs.pop() else { return false };
        work.running += 1;
        drop(work);
        let done = catch_unwind(AssertUnwindSafe(|| job.perform()));
        let mut work = self.work();
        work.running -= 1;
        work.done.push(done);
        if work.running == 0 {
            self.answered.notify_one();
        }
        true
    }

    /// Waits for jobs; false once the pool is closed.
    fn wait(&self) -> bool {
        let idle = |work: &mut Work| work.jobs.is_empty() && !work.closed;
        let work = self.asked.wait_while(self.work(), idle).unwrap_or_else(PoisonError::into_inner);
        !work.closed
    }
}

/// The threads beside the one that asks.
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool in which `threads` threads work, of which one is the thread that asks.
    pub(super) fn new(threads: usize) -> Self {
        let shared = Arc::<Shared>::default();
        let serve = |shared: Arc<Shared>| {
            while shared.wait() {
                while shared.take_one() {}
            }
        };
        let start = |_| {
            let shared = Arc::clone(&shared);
            spawn(move || serve(shared))
        };
        let threads = (1..threads).map(start).collect();
        Self { shared, threads }
    }

    /// Does jobs, in any order.
    pub(super) fn perform(&self, jobs: Vec<Job>) -> Vec<Done> {
        self.shared.work().jobs = jobs;
        self.shared.asked.notify_all();
        while self.shared.take_one() {}
        let busy = |work: &mut Work| work.running > 0;
        let answered = &self.shared.answered;
        let mut work = answered.wait_while(self.shared.work(), busy).unwrap_or_else(PoisonError::into_inner);
        let done = std::mem::take(&mut work.done);
        drop(work);
        done.into_iter().map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.work().closed = true;
        self.shared.asked.notify_all();
        for thread in self.threads.drain(..) {
            // A thread does not panic: it hands a panic over with the job.
            let _ = thread.join();
        }
    }
}
