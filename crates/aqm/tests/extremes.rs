//! Every algorithm with its parameters at the ends of their ranges, two at a time, on a very slow and a very fast
//! link, with very small and very large buffers: nothing panics, and all signals are numbers.

use crate::datagram::Datagram;
use crate::support::{PORT, Random};
use aqm::aqm::NAMES;
use aqm::params::{ParamKind, Spec, Value};
use aqm::{AnyParams, Limit, Packet, Port, Queue, Rate, Span, Time};
use std::panic::AssertUnwindSafe;

/// A number of this parameter's kind.
fn written(spec: &Spec, x: f64) -> Value {
    match spec.kind {
        ParamKind::Number => Value::Float(x),
        ParamKind::Count => Value::Integer(x.ceil().clamp(0.0, f64::from(u32::MAX)) as i64),
        _ if ["bytes", "bit/s"].contains(&spec.unit) => Value::Text(format!("{} {}", x.ceil(), spec.unit)),
        _ => Value::Text(format!("{x} {}", spec.unit)),
    }
}

/// The smallest and the largest value of a parameter, or all values if they are few.
fn ends(spec: &Spec) -> Vec<Value> {
    match spec.kind {
        ParamKind::Number | ParamKind::Count | ParamKind::Quantity(_) => {
            let least = if spec.range.low_included { spec.range.low } else { spec.range.low + 1e-9 };
            [least, spec.range.high].map(|x| written(spec, x)).into()
        }
        ParamKind::Switch => [false, true].map(Value::Bool).into(),
        ParamKind::Choice(names) | ParamKind::Words(names) => {
            names.iter().map(|name| Value::Text(name.replace('N', "40"))).collect()
        }
        ParamKind::Text | ParamKind::Algorithm { .. } | ParamKind::Table(_) | ParamKind::Named(_) => vec![],
    }
}

/// An algorithm with two parameters at an end each and, if it has an average, a weight with which that follows at
/// once, since few packets arrive.
fn variations(name: &str) -> Vec<AnyParams> {
    let defaults = AnyParams::of(name).expect("a listed algorithm");
    // These parameters cost memory only.
    let specs = defaults.specs().iter().filter(|spec| !["bins", "levels", "zombies"].contains(&spec.name));
    let settings: Vec<_> =
        specs.flat_map(|spec| ends(spec).into_iter().map(|value| (spec.name, value))).collect();
    let mut found = vec![defaults.clone()];
    for (i, one) in settings.iter().enumerate() {
        for other in &settings[i..] {
            let mut params = defaults.clone();
            for (name, value) in [one, other] {
                params.set(name, value).unwrap_or_else(|e| panic!("{}: {e}", params.name()));
            }
            let mut swift = params.clone();
            if [one.0, other.0].iter().all(|name| *name != "w_q")
                && swift.set("w_q", &Value::Float(1.0)).is_ok()
            {
                found.push(swift);
            }
            found.push(params);
        }
    }
    found.retain(|params| params.check().is_ok());
    found
}

fn ports() -> impl Iterator<Item = Port> {
    let rates = [1_000, 100_000_000_000].map(Rate::bit_per_s);
    let limits = [Limit::Packets(1), Limit::Packets(60), Limit::Bytes(1 << 60)];
    rates.into_iter().flat_map(move |rate| limits.map(|limit| Port { rate, limit, ..PORT }))
}

/// Lets packets of one byte to four gigabytes arrive and leave, first at one instant, then ever more slowly.
fn overload(params: &AnyParams, port: &Port) {
    let mut queue = Queue::new(params.build(port), port, &[1, 2, 3, 4]);
    let mut random = Random(1);
    let mut now = Time::ZERO;
    for step in 0..120_u64 {
        if step > 40 {
            now += Span::ns(1 << (step % 40));
        }
        if step % 7 == 0 && queue.period().is_some() {
            queue.on_period(now);
        }
        for _ in 0..step % 5 {
            let bits = random.bits();
            let size = if bits.is_multiple_of(50) { u32::MAX } else { 1 + (bits % 1500) as u32 };
            let packet = Packet { flow: bits >> 60, ..Packet::new(size, bits & 64 == 0) };
            queue.enqueue(now, Datagram { packet, row: (packet.flow % 4) as usize }, &mut random);
        }
        for _ in 0..step % 3 {
            queue.dequeue(now, &mut random);
        }
        queue.algorithm().signals(|i, value| {
            let name = params.signals()[i].name;
            assert!(value.is_finite(), "{name} is {value}");
            assert!(name != "p" || (0.0..=1.0).contains(&value), "p is {value}");
        });
    }
}

#[test]
fn nothing_breaks_at_the_ends_of_the_ranges() {
    for name in NAMES {
        for params in variations(name) {
            for port in ports() {
                let broken = std::panic::catch_unwind(AssertUnwindSafe(|| overload(&params, &port))).is_err();
                assert!(!broken, "{params:?} on {port:?}");
            }
        }
    }
}
