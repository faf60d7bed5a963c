//! The queue for other programs.

use crate::support::Random;
use aqm::aqm::NAMES;
use aqm::aqm::codel::{self, Codel};
use aqm::{AnyParams, Ecn, Header, Limit, One, Outcome, Port, Qdisc, Rate, Span, Time, Uniform};

const PORT: Port = Port::new(Rate::mbit_per_s(10), Limit::Packets(200));

fn at(us: u64) -> Time {
    Time::from_nanos(7_000_000_000_000 + 1000 * us)
}

#[test]
fn a_queue_by_name_is_five_lines() {
    let mut queue = Qdisc::new(&"fq_codel:aqm={name=codel,target=5 ms}".parse().unwrap(), &PORT, 1).unwrap();
    let header = Header { flow: 7, ecn: Ecn::Ect0, ..Header::new(1500) };
    assert_eq!(queue.enqueue(at(0), header, "a packet".to_owned()), Outcome::Queued);
    assert_eq!(queue.dequeue(at(1000)), Some(("a packet".to_owned(), Ecn::Ect0)));
    assert_eq!(queue.dequeue(at(2000)), None);
}

/// Twice what the link can send, for ten seconds: the number, fate and mark of each packet.
fn overload<D: aqm::Algorithm, R: Uniform>(mut queue: Qdisc<u32, D, R>) -> Vec<(u32, Option<Ecn>)> {
    let mut fates = Vec::new();
    for number in 0..16_000 {
        let now = at(u64::from(number) * 600);
        queue.enqueue(now, Header { ecn: Ecn::of(number as u8), ..Header::new(1500) }, number);
        fates.extend(queue.dropped().map(|(packet, _)| (packet, None)));
        if number % 2 == 0 {
            fates.extend(queue.dequeue(now).map(|(packet, ecn)| (packet, Some(ecn))));
            fates.extend(queue.dropped().map(|(packet, _)| (packet, None)));
        }
    }
    fates
}

#[test]
fn an_algorithm_alone_is_the_one_of_the_list() {
    let params = codel::Params { target: Span::ms(10), ecn: true, ..codel::Params::default() };
    let alone = overload(Qdisc::<_, One<Codel>>::alone(&params, &PORT, 1).unwrap());
    let named: AnyParams = "codel:target=10ms,ecn=true".parse().unwrap();
    assert_eq!(named, AnyParams::Codel(params));
    assert_eq!(overload(Qdisc::new(&named, &PORT, 2).unwrap()), alone, "CoDel draws no random numbers");
    let marks = alone.iter().filter(|(number, ecn)| number % 4 != 3 && *ecn == Some(Ecn::Ce)).count();
    let drops = alone.iter().filter(|(_, ecn)| ecn.is_none()).count();
    assert!(marks > 20 && drops > 20, "{marks} marks, {drops} drops");
}

#[test]
fn the_seed_or_the_callers_numbers_decide() {
    let queue = |seed| Qdisc::new(&"red:min_th=5,max_th=15".parse().unwrap(), &PORT, seed).unwrap();
    assert_eq!(overload(queue(3)), overload(queue(3)));
    assert_ne!(overload(queue(3)), overload(queue(4)));
    assert_eq!(overload(queue(3)), overload(queue(4).with_random(Random(3))));
}

#[test]
fn the_packets_are_those_that_wait_and_those_that_were_dropped_last() {
    let mut queue =
        Qdisc::new(&"droptail".parse().unwrap(), &Port { limit: Limit::Packets(3), ..PORT }, 1).unwrap();
    for number in 0..5 {
        queue.enqueue(at(0), Header::new(1500), number);
    }
    let held = |queue: &Qdisc<u32>| {
        let mut held: Vec<_> = queue.packets().copied().collect();
        held.sort_unstable();
        held
    };
    assert_eq!(held(&queue), [0, 1, 2, 4]);
    assert_eq!(queue.dequeue(at(1)), Some((0, Ecn::NotEct)));
    assert_eq!(held(&queue), [1, 2]);
}

/// A source that always draws the same number.
struct Always(f64);

impl Uniform for Always {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

#[test]
fn random_numbers_out_of_range_are_confined_to_it() {
    let greatest = 1.0_f64.next_down();
    for name in NAMES {
        let fates = |number| {
            let queue = Qdisc::new(&AnyParams::of(name).unwrap(), &PORT, 1).unwrap();
            overload(queue.with_random(Always(number)))
        };
        assert_eq!(fates(1.0), fates(greatest), "{name}");
        let least = fates(0.0);
        assert!(fates(-1.0) == least && fates(f64::NAN) == least, "{name}");
    }
}

#[test]
fn updates_happen_by_themselves_and_end_in_a_long_silence() {
    let mut queue = Qdisc::new(&"pie".parse().unwrap(), &PORT, 1).unwrap();
    let p = |queue: &Qdisc<u32>| {
        let mut p = 0.0;
        queue.algorithm().signals(|i, value| p = if i == 0 { value } else { p });
        p
    };
    for number in 0..2000_u32 {
        queue.enqueue(at(u64::from(number) * 600), Header::new(1500), number);
        if number % 2 == 0 {
            queue.dequeue(at(u64::from(number) * 600));
        }
    }
    assert!(p(&queue) > 0.001, "{}", p(&queue));
    while queue.dequeue(at(2_000_000)).is_some() {}
    assert_eq!(queue.dequeue(at(u64::MAX >> 20)), None);
    assert!(p(&queue) < 1e-6, "{}", p(&queue));
}

#[test]
fn a_shaper_says_when_to_ask_again() {
    let mut queue = Qdisc::new(&"tbf:rate=1 Mbit/s,burst=1500 B".parse().unwrap(), &PORT, 1).unwrap();
    for number in 0..2 {
        queue.enqueue(at(0), Header::new(1500), number);
    }
    assert_eq!(queue.dequeue(at(0)), Some((0, Ecn::NotEct)));
    assert_eq!(queue.dequeue(at(0)), None);
    let until = queue.paused_until().unwrap();
    assert!((at(11_900)..at(12_100)).contains(&until), "{until:?}");
    assert_eq!(queue.dequeue(until), Some((1, Ecn::NotEct)));
    assert_eq!(queue.paused_until(), None);
}

#[test]
fn what_cannot_be_has_a_reason() {
    let parse = |text: &str| text.parse::<AnyParams>().map(|_| ()).unwrap_err().to_string();
    assert!(parse("cödel").starts_with("aqm = cödel: must be one of droptail, red,"), "{}", parse("cödel"));
    assert_eq!(parse("codel:target"), "codel = target: must be settings like key=value");
    assert_eq!(parse("codel:targe=5ms"), "targe: no such parameter");
    assert_eq!(parse("red:preset=x").split(',').next(), Some("preset = \"x\": must be one of floyd1993"));
    let new = |text: &str, port: &Port| {
        Qdisc::<()>::new(&text.parse().unwrap(), port, 1).map(|_| ()).unwrap_err().to_string()
    };
    let stopped = Port::new(Rate::bit_per_s(0), Limit::Packets(1));
    assert_eq!(new("codel", &stopped), "rate = 0 bit/s: must be more than 0 bit/s");
    for name in ["red", "ared", "nlred", "choke:form=linux", "nlred:form=linux", "feng"] {
        let thresholds = |text| format!("{name}{}{text}", if name.contains(':') { ',' } else { ':' });
        let refused = new(&thresholds("min_th=11,max_bytes=15 kB"), &PORT);
        assert_eq!(refused, "min_th = 11: must be at most max_th, 10 packets of 1500 bytes", "{name}");
        let refused = new(&thresholds("min_bytes=16 kB,max_th=10"), &PORT);
        assert_eq!(refused, "min_bytes = 16000 bytes: must be at most max_th, 10 packets of 1500 bytes");
        assert!(
            Qdisc::<()>::new(&thresholds("min_th=10,max_bytes=15 kB").parse().unwrap(), &PORT, 1).is_ok()
        );
    }
    let params = AnyParams::Codel(codel::Params { interval: Span::ZERO, ..codel::Params::default() });
    let refused = Qdisc::<()>::new(&params, &PORT, 1).map(|_| ()).unwrap_err().to_string();
    assert!(refused.starts_with("interval = "), "{refused}");
}
