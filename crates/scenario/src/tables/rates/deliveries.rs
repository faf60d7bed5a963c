//! Packet-delivery traces of Mahimahi (mm-link): a line for each chance to send a packet, its time in ms. The trace starts
//! over at its last time.

use super::super::recording::{is_comment, lines};
use super::{LATEST, Rates, Recorded};
use aqm::unit::Span;

/// What may pass at each time: Mahimahi's packet with the four bytes that its device puts in front.
const BITS: f64 = 8.0 * 1504.0;

/// The rates of a trace. The chances after one multiple of the bin, and until the next, make up a rate; those at 0 belong
/// to the first. The last bin ends with the trace.
pub(super) fn rates(text: &str, said: &Recorded) -> Result<Rates, String> {
    let bin = said.bin.nanos();
    // A trace may pause for long: bins without a chance are left out.
    let mut counts: Vec<(u64, u64)> = Vec::new();
    let mut last = 0;
    for (number, line) in lines(text).filter(|(_, line)| !is_comment(line)) {
        let line = line.trim();
        let digits = line.bytes().all(|c| c.is_ascii_digit());
        let ms: Option<u64> = line.parse().ok().filter(|_| digits);
        let ms =
            ms.ok_or_else(|| format!("line {number}: {line:?}: must be a whole number of milliseconds"))?;
        if ms < last {
            let fix = "sort the lines, or remove a torn one";
            return Err(format!("line {number}: {ms}: earlier than the line before, {last}: {fix}"));
        }
        if ms > 1000 * LATEST {
            return Err(format!("line {number}: {ms}: must be at most {LATEST} s after the start"));
        }
        let place = Span::ms(ms).nanos().div_ceil(bin).saturating_sub(1);
        match counts.last_mut() {
            Some((known, count)) if *known == place => *count += 1,
            _ => counts.push((place, 1)),
        }
        last = ms;
    }
    if last == 0 {
        return Err("its last time is 0 ms: it must be later, for the recording starts over then".to_owned());
    }
    let period = Span::ms(last).nanos();
    let mut done = 0;
    let intervals = counts.into_iter().flat_map(|(place, count)| {
        let (begin, end) = (bin * place, (bin * (place + 1)).min(period));
        let pause = (0.0, Span::ns(begin - done));
        done = end;
        let duration = Span::ns(end - begin);
        [pause, (count as f64 * BITS / duration.secs(), duration)]
    });
    Ok(Rates::joined(intervals.filter(|(_, duration)| *duration > Span::ZERO)))
}
