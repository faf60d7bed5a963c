//! What an end logs, as qlog.

use quinn_proto::{QlogConfig, QlogStream};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The text so far, for the stack that writes it and the end that has it read.
#[derive(Clone, Default, Debug)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Where the stack writes; its times count from `base`.
    pub(crate) fn stream(&self, base: Instant) -> Option<QlogStream> {
        let mut config = QlogConfig::default();
        config.writer(Box::new(self.clone())).start_time(base);
        config.into_stream()
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
