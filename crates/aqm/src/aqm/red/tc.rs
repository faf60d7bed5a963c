//! RED's values as tc computes them from its words, and what tc and the kernel refuse (iproute2: tc_red.c, q_red.c,
//! q_choke.c; Linux: red.h).

use super::params::{Effective, Form, Params, Rules, weight_for_burst};
use crate::contract::Port;
use crate::float::{floor, round};
use crate::params::{Field, ParamError};
use crate::unit::Bytes;
use alloc::string::ToString;

/// The value of 1 for max_p.
pub(super) const ONE: f64 = 4_294_967_296.0;

/// The bytes, or the packets where the queue is counted in packets, that are one packet here.
pub(super) fn unit(params: &Params, mean: Bytes) -> f64 {
    if params.bytes { mean.0 as f64 } else { 1.0 }
}

/// The thresholds in packets, of which tc computes those that are omitted in whole units of its own.
pub(super) fn thresholds(
    params: &Params,
    port: &Port,
    mean: Bytes,
    (min_th, max_th): (Option<f64>, Option<f64>),
) -> (f64, f64) {
    let unit = unit(params, mean);
    let whole = |packets: f64| round(packets * unit) as u64;
    let limit = (port.limit.packets(mean) * unit) as u64;
    let min = min_th.map(whole);
    let max = max_th.map(whole).unwrap_or_else(|| match min {
        // CHOKe, which counts packets, looks at the limit alone.
        Some(min) if params.bytes => min.saturating_mul(3),
        _ => (limit / 4).max(1),
    });
    let min = min.unwrap_or(max / 3);
    (min as f64 / unit, max as f64 / unit)
}

/// The burst that tc takes if none is given.
pub(super) fn burst(params: &Params, mean: Bytes, min_th: f64, max_th: f64) -> u32 {
    let unit = unit(params, mean);
    let [min, max] = [min_th, max_th].map(|packets| round(packets * unit) as u64);
    (min.saturating_mul(2).saturating_add(max) / (3 * unit as u64).max(1)) as u32
}

/// The place of the first bit in which p doubles above 1 over the distance of the thresholds in bytes; `None` if tc finds
/// none (`tc_red_eval_P`).
fn plog(distance: f64, p: f64) -> Option<u32> {
    if distance == 0.0 {
        return Some(0);
    }
    let mut part = p / distance;
    (0..32).find(|_| {
        let found = part > 1.0;
        part *= 2.0;
        found
    })
}

/// `max_p` in units of 2^-32, for thresholds that are this far apart in the kernel's unit, which is `unit` bytes. At 1 the
/// number overflows on its way, and the kernel takes `Plog` in its place: between a half and 1 for RED, and for CHOKe,
/// whose `Plog` is of bytes and whose thresholds are in packets, less than a thousandth.
pub(super) fn max_p(p: f64, distance: u64, unit: f64) -> u32 {
    let exact = p * ONE;
    if exact < ONE {
        return exact as u32;
    }
    let plog = plog(distance as f64 * unit, p).unwrap_or(0);
    (u32::MAX >> plog).wrapping_mul(distance.max(1) as u32)
}

/// Checks what tc and the kernel check, on a port: omitted values follow from its buffer.
pub(super) fn check(params: &Params, port: &Port) -> Result<(), ParamError> {
    if params.form != Form::Linux || params.rules != Rules::Linux {
        return Ok(());
    }
    let Effective { min_th, max_th, max_p, w_q, mean, .. } = Effective::new(params, port);
    let unit = unit(params, mean);
    let [min, max] = [min_th, max_th].map(|packets| round(packets * unit));
    let lower =
        threshold(["min_th", "min_bytes"], [params.min_th.is_some(), params.min_bytes.is_some()], params);
    let upper =
        threshold(["max_th", "max_bytes"], [params.max_th.is_some(), params.max_bytes.is_some()], params);
    let said = |given: bool, value: f64| match (given, params.bytes) {
        (true, _) => format!("{value}"),
        (false, true) => format!("{value} bytes (automatic)"),
        (false, false) => format!("{value} packets (automatic)"),
    };
    if !params.bytes && min >= max || min > max {
        let than = if params.bytes { "at most" } else { "less than" };
        let allowed = format!("{than} {} = {max}, as tc demands", upper.0);
        return Err(ParamError::invalid(lower.0, said(lower.1, min), allowed));
    }
    let limit = floor(port.limit.packets(mean) * unit);
    if !params.bytes && max > limit {
        let allowed = format!("at most the buffer, {limit} packets, as tc demands");
        return Err(ParamError::invalid(upper.0, said(upper.1, max), allowed));
    }
    if params.w_q.is_none() {
        let burst = params.burst.unwrap_or_else(|| self::burst(params, mean, min_th, max_th));
        if weight_for_burst(min_th, burst).is_none() {
            let found = match params.burst {
                Some(burst) => burst.to_string(),
                None => format!("{burst} (automatic, by the thresholds)"),
            };
            let allowed = format!("at least {}, for tc to find a weight", 1 + min_th as u64);
            return Err(ParamError::invalid("burst", found, allowed));
        }
    }
    let distance = (max_th - min_th) * mean.0 as f64;
    if plog(distance, max_p).is_none() {
        let least = distance / ONE * 2.0;
        let allowed = format!("above {least:.2e} with these thresholds, for tc to find its logarithm");
        return Err(ParamError::invalid("max_p", max_p.value(), allowed));
    }
    let wlog = round(-libm::log2(w_q)) as u32;
    let bits = |value: f64| 64 - (value as u64).leading_zeros();
    for ((name, given), value) in [(lower, min), (upper, max)] {
        if bits(value) + wlog >= 32 {
            let most = (1_u64 << 31_u32.saturating_sub(wlog)) - 1;
            let allowed = format!(
                "at most {most} with a weight of 2^-{wlog}, for the kernel to accept it; a smaller burst has a larger weight"
            );
            return Err(ParamError::invalid(name, said(given, value), allowed));
        }
    }
    Ok(())
}

/// The key of a threshold, in packets or in bytes, that was given or that could be, and whether it was given.
const fn threshold(keys: [&'static str; 2], given: [bool; 2], params: &Params) -> (&'static str, bool) {
    let in_bytes = params.bytes && !given[0];
    (keys[in_bytes as usize], given[0] || given[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_of_1_is_what_the_kernel_prints_of_it() {
        let printed = |p, distance, unit| f64::from(max_p(p, distance, unit)) / ONE;
        let close = |found: f64, printed: f64| assert!((found - printed).abs() < 1e-6, "{found}");
        close(printed(0.3, 60_000, 1.0), 0.3);
        close(printed(1.0, 60_000, 1.0), 0.915_513);
        close(printed(1.0, 16_667, 1.0), 0.508_633);
        close(printed(1.0, 40, 1500.0), 0.000_610_342);
    }
}
