//! What persists between the calls from JavaScript.

use netsim::Run;
use run::Column;
use scenario::Library;
use serde::Serialize;
use std::cell::RefCell;

/// The buffers that both sides read, and what the calls are about.
#[derive(Debug, Default)]
pub struct Handles {
    /// The JSON that the next call reads.
    pub request: Vec<u8>,
    /// The JSON that the last call left.
    pub reply: Vec<u8>,
    /// The table that the last call left, column by column.
    pub numbers: Vec<f64>,
    /// The shipped scenarios.
    pub library: Library,
    runs: Vec<Option<Run>>,
}

thread_local! {
    static HANDLES: RefCell<Handles> = RefCell::default();
    /// Why the engine failed. It is not among the handles, which are in use when the engine fails.
    static FAILURE: RefCell<String> = RefCell::default();
}

/// Notes from now on why the engine fails: WebAssembly has nowhere to print it.
pub fn note_failures() {
    std::panic::set_hook(Box::new(|failure| FAILURE.set(failure.to_string())));
}

/// Reads why the engine failed.
pub fn with_failure<T>(read: impl FnOnce(&str) -> T) -> T {
    FAILURE.with_borrow(|failure| read(failure))
}

/// Does something with this thread's handles.
pub fn with_handles<T>(work: impl FnOnce(&mut Handles) -> T) -> T {
    HANDLES.with_borrow_mut(work)
}

impl Handles {
    /// Leaves a reply.
    pub fn answer(&mut self, reply: &impl Serialize) {
        self.reply.clear();
        serde_json::to_writer(&mut self.reply, reply).expect("its keys are texts, and memory has room");
    }

    /// Leaves a table, and the names of its columns as the reply.
    pub fn tabulate(&mut self, columns: Vec<Column>) {
        self.numbers.clear();
        columns.iter().for_each(|column| self.numbers.extend(&column.values));
        let names: Vec<String> = columns.into_iter().map(|column| column.name).collect();
        self.answer(&names);
    }

    /// The run with this number, if it is open.
    pub fn run(&mut self, number: usize) -> Option<&mut Run> {
        self.runs.get_mut(number)?.as_mut()
    }

    /// Keeps a run, and returns its number: the smallest that is free.
    pub fn keep(&mut self, run: Run) -> usize {
        let free = self.runs.iter().position(Option::is_none).unwrap_or(self.runs.len());
        if free == self.runs.len() {
            self.runs.push(None);
        }
        self.runs[free] = Some(run);
        free
    }

    /// Ends a run, if it is open.
    pub fn close(&mut self, number: usize) {
        if let Some(run) = self.runs.get_mut(number) {
            *run = None;
        }
    }
}
