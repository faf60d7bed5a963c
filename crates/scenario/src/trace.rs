//! Recordings of traffic: CSV, pcap and pcapng files as times and sizes.

mod capture;

use crate::model::Arrival;
use aqm::unit::Span;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

/// No longer file is read: in pcap 40 000 whole packets of 1500 B, or 800 000 without their payload.
const LONGEST: u64 = 64 << 20;
/// No packet comes later after the first, in s: no run lasts as long.
const LATEST: u64 = 10_000_000;

/// The packets of the file at `path`.
pub(crate) fn read(path: &Path) -> Result<Arc<[Arrival]>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("no such file: {}", path.display()),
        _ => format!("cannot be read: {error}"),
    })?;
    if bytes.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        return Err(format!("more than {most} MiB: cut off the payload (editcap -s 64), or make it CSV"));
    }
    let arrivals = arrivals(&bytes)?;
    if arrivals.is_empty() { Err("no packets in it".to_owned()) } else { Ok(arrivals.into()) }
}

/// The packets in a file, whose first bytes say what it is.
fn arrivals(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    if capture::is_pcap(bytes) {
        capture::pcap(bytes)
    } else if capture::is_pcapng(bytes) {
        capture::pcapng(bytes)
    } else {
        csv(bytes)
    }
}

/// The packets in a table with a header; other columns than `time` and `size` do not matter.
fn csv(bytes: &[u8]) -> Result<Vec<Arrival>, String> {
    let head = "line 1: must be a header with \"time\" (s) and \"size\" (bytes), like time,size; or the file a pcap";
    let text = str::from_utf8(bytes).map_err(|_| head.to_owned())?;
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let column = |name| header.iter().position(|column| *column == name).ok_or_else(|| head.to_owned());
    let (time, size) = (column("time")?, column("size")?);
    let mut recording = Recording::default();
    let mut first = None;
    for (i, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = i + 2;
        let field = |column| line.split(',').nth(column).unwrap_or_default().trim();
        let seconds: f64 = field(time).parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
            format!("line {number}: time = {:?}: must be a number of seconds", field(time))
        })?;
        let bytes = field(size).parse().map_err(|_| {
            format!("line {number}: size = {:?}: must be a whole number of bytes", field(size))
        })?;
        // The first is taken off before the rounding: seconds since 1970 leave few digits for the fraction.
        let since = seconds - *first.get_or_insert(seconds);
        let nanos = if since < 0.0 { i128::MIN } else { (since * 1e9).round() as i128 };
        recording.add(nanos, bytes).map_err(|problem| format!("line {number}: {problem}"))?;
    }
    Ok(recording.arrivals)
}

/// The packets so far; refuses what is no traffic.
#[derive(Default)]
struct Recording {
    arrivals: Vec<Arrival>,
    /// When the first came, by the recording's clock.
    first: Option<i128>,
}

impl Recording {
    /// Adds a packet of `size` bytes that came at `nanos` by the recording's clock.
    fn add(&mut self, nanos: i128, size: u64) -> Result<(), String> {
        let since = nanos.saturating_sub(*self.first.get_or_insert(nanos));
        let last = self.arrivals.last().map_or(Span::ZERO, |last| last.at);
        let at = u64::try_from(since).ok().map(Span::ns).filter(|&at| at >= last);
        let at = at.ok_or("earlier than the packet before: sort the packets by time")?;
        if at > Span::s(LATEST) {
            return Err(format!("more than {LATEST} s after the first packet"));
        }
        match u16::try_from(size) {
            Ok(size) if size > 0 => self.arrivals.push(Arrival { at, size }),
            _ => return Err(format!("size = {size}: must be in [1, 65535], bytes")),
        }
        Ok(())
    }
}
