//! Every algorithm with its parameters at the ends of their ranges, two at a time, on a very slow and a very fast
//! link, with very small and very large buffers: nothing panics, and all signals are numbers. Then any parameters,
//! ports, packets and times at all: each packet is handed back once, and CE is set only where it may be.

use crate::datagram::Datagram;
use crate::support::{PORT, Random};
use aqm::aqm::{NAMES, VARIANTS};
use aqm::params::{ParamKind, Spec, Value};
use aqm::{Ack, AnyParams, Bytes, Ecn, Header, Limit, Packet, Port, Qdisc, Queue, Rate, Span, Time};
use proptest::prelude::*;
use std::panic::AssertUnwindSafe;

/// These parameters cost memory only.
const MEMORY: [&str; 3] = ["bins", "levels", "zombies"];

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
pub(crate) fn ends(spec: &Spec) -> Vec<Value> {
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
    let specs = defaults.specs().iter().filter(|spec| !MEMORY.contains(&spec.name));
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

/// A value of this parameter: mostly within its range.
fn any_value(spec: &Spec, random: &mut Random) -> Option<Value> {
    let pick = |names: &[&str], bits: u64| names[bits as usize % names.len()].replace('N', "40");
    let bits = random.bits();
    Some(match spec.kind {
        ParamKind::Number | ParamKind::Count | ParamKind::Quantity(_) => {
            let (low, high) = (spec.range.low.max(1e-12), spec.range.high.min(1e15));
            // As many small values as large ones.
            let x = low * (high / low).max(1.0).powf((bits >> 11) as f64 / (1_u64 << 53) as f64);
            written(spec, if bits.is_multiple_of(8) { spec.range.low } else { x })
        }
        ParamKind::Switch => Value::Bool(bits & 1 == 0),
        ParamKind::Choice(names) | ParamKind::Words(names) => Value::Text(pick(names, bits)),
        ParamKind::Algorithm { several: true } => Value::Text(pick(NAMES, bits)),
        ParamKind::Algorithm { several: false } => {
            Value::Text(pick(&["codel", "pie", "red", "sfb", "pi"], bits))
        }
        ParamKind::Text | ParamKind::Table(_) | ParamKind::Named(_) => return None,
    })
}

/// An algorithm with values of some of its parameters that fit together.
fn any_algorithm(random: &mut Random) -> AnyParams {
    let names: Vec<&str> = NAMES.iter().copied().chain(VARIANTS.iter().map(|(name, ..)| *name)).collect();
    let mut params = AnyParams::of(names[random.bits() as usize % names.len()]).expect("a listed algorithm");
    for spec in params.specs().iter().filter(|spec| !MEMORY.contains(&spec.name)) {
        let mut changed = params.clone();
        if random.bits().is_multiple_of(3)
            && any_value(spec, random).is_some_and(|value| changed.set(spec.name, &value).is_ok())
            && changed.check().is_ok()
        {
            params = changed;
        }
    }
    params
}

fn any_port(random: &mut Random) -> Port {
    let mut power = |most: u64| 1_u64 << (random.bits() % most);
    let (rate, size) = (power(64), power(40));
    let limits = [
        Limit::Packets(power(32) as u32 - 1),
        Limit::Bytes(power(64) - 1),
        Limit::BytesBefore(power(64) - 1),
    ];
    Port {
        rate: Rate::bit_per_s(rate),
        delay: Span::ns(power(64)),
        limit: limits[size as usize % 3],
        packet: Bytes(size),
        header: Bytes(power(20) - 1),
    }
}

fn any_header(bits: u64, random: &mut Random) -> Header {
    let size = match bits % 16 {
        0 => 0,
        1 => u32::MAX,
        2 => random.bits() as u32,
        _ => 1 + (bits >> 8) as u32 % 1500,
    };
    let more = random.bits();
    let [next, left, right] = [0, 1, 2].map(|_| random.bits() as u32);
    let ack = Ack { next, blocks: [(left, right), (next, left), (right, right)], ecn: more as u8 };
    Header {
        ecn: Ecn::of((bits >> 4) as u8),
        dscp: (more >> 8) as u8,
        flow: if more & 1 == 0 { more >> 61 } else { random.bits() },
        source: (more >> 16) as u32 % 4,
        destination: random.bits() as u32,
        udp: more & 2 == 0,
        class: (more >> 24) as u8,
        ack: (more & 12 == 0).then_some(ack),
        ..Header::new(size)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, max_global_rejects: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_comes_back_once_whatever_is_set_sent_and_when(
        seed in any::<u64>(),
        steps in prop::collection::vec((any::<u8>(), any::<u64>()), 0..150),
    ) {
        let mut random = Random(seed);
        let params = any_algorithm(&mut random);
        let made = Qdisc::new(&params, &any_port(&mut random), seed);
        prop_assume!(made.is_ok());
        let (mut queue, mut now) = (made.unwrap(), random.bits() >> 1);
        let (mut sent, mut returned) = (Vec::new(), Vec::new());
        for (kind, bits) in steps {
            let gap = (bits >> 6) & ((1 << (bits & 63)) - 1);
            now = match kind % 16 {
                0 => bits,
                1 => now.saturating_sub(gap),
                2..6 => now.saturating_add(gap),
                _ => now.saturating_add(gap & 0xff_ffff),
            };
            let time = Time::from_nanos(now);
            if kind < 160 {
                let header = any_header(bits, &mut random);
                queue.enqueue(time, header, sent.len());
                sent.push(header.ecn);
            } else if let Some((packet, ecn)) = queue.dequeue(time) {
                prop_assert!(ecn == sent[packet] || ecn == Ecn::Ce && sent[packet] != Ecn::NotEct);
                returned.push(packet);
            }
            returned.extend(queue.dropped().map(|(packet, _)| packet));
            prop_assert_eq!(sent.len() - returned.len(), queue.len(), "{:?}", params);
        }
        returned.extend(queue.into_packets());
        returned.sort_unstable();
        prop_assert!(returned.into_iter().eq(0..sent.len()), "{:?}", params);
    }
}
