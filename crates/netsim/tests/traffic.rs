//! Traffic in a network: what arrives does not depend on what happens to it, and queues as theory says.

use aqm::unit::{Span, Time};
use aqm::{AnyDiscipline, Outcome};
use netsim::probe::Owner;
use netsim::{Probe, Simulation};
use run::Results;
use scenario::{Document, Scenario};
use std::path::Path;

/// When packets arrived at each measured queue.
#[derive(Default)]
struct Arrivals(Vec<Vec<Time>>);

impl Probe for Arrivals {
    fn on_arrival(&mut self, queue: usize, now: Time, _: Owner, _: Outcome, _: &AnyDiscipline) {
        self.0.resize(self.0.len().max(queue + 1), Vec::new());
        self.0[queue].push(now);
    }
}

const UDP: [(&str, &str); 9] = [
    ("cbr", ""),
    ("on-off", "on = \"exponential(200 ms)\"\noff = \"pareto(200 ms, 1.5)\"\n"),
    ("poisson", ""),
    ("fgn", "deviation = 0.5\n"),
    ("trace", "file = FILE\n"),
    ("voip", ""),
    ("video", ""),
    ("game", ""),
    ("ping", "interval = \"5 ms\"\n"),
];
const TCP: [(&str, &str); 2] = [("ftp", ""), ("transfer", "size = \"30 kB\"\n")];

fn check(text: &str) -> Scenario {
    Document::parse(text, "test").unwrap().check().unwrap()
}

/// Every kind on a fast link of its own in front of a bottleneck with this AQM.
fn every_kind(aqm: &str, others: &str) -> Scenario {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("every-kind.csv");
    std::fs::write(&file, "time,size\n0,100\n0.001,1500\n0.001,40\n2.5,700\n").unwrap();
    let mut text = format!("duration = \"10 s\"\nobserve = \"neck\"\n{others}");
    for (kind, keys) in UDP.into_iter().chain(TCP) {
        let keys = keys.replace("FILE", &format!("{file:?}"));
        text += &format!(
            "[[link]]\nname = \"{kind}\"\nfrom = \"{kind}\"\nto = \"a\"\nrate = \"1 Gbit/s\"\naqm = \"droptail\"\n\
             [[traffic]]\nname = \"{kind}\"\nkind = \"{kind}\"\n{keys}count = 3\nfrom = \"{kind}\"\nto = \"z\"\n\
             start = \"uniform(0 s, 1 s)\"\n"
        );
    }
    text += &format!(
        "[[link]]\nname = \"neck\"\nfrom = \"a\"\nto = \"z\"\nrate = \"2 Mbit/s\"\nbuffer = \"40 packets\"\naqm = \"{aqm}\"\n"
    );
    check(&text)
}

/// When packets of each kind arrived, of TCP only the first: the others depend on what happens to it.
fn arrivals(scenario: Scenario, seed: u64) -> Vec<Vec<Time>> {
    let mut run = Simulation::new(scenario, seed, Arrivals::default());
    run.advance(Time::MAX);
    let mut arrivals = run.probe().0.clone();
    arrivals.truncate(UDP.len() + TCP.len());
    arrivals[UDP.len()..].iter_mut().for_each(|tcp| tcp.truncate(1));
    arrivals
}

#[test]
fn the_same_seed_gives_the_same_arrivals_whatever_the_aqm_and_the_other_traffic() {
    let expected = arrivals(every_kind("droptail", ""), 1);
    assert_eq!(expected.len(), UDP.len() + TCP.len());
    for (queue, (kind, _)) in expected.iter().zip(UDP) {
        assert!(queue.len() >= 12, "{kind}: {} packets", queue.len());
    }
    for aqm in aqm::aqm::NAMES {
        assert_eq!(arrivals(every_kind(aqm, ""), 1), expected, "{aqm}");
    }
    let others = "[[traffic]]\nname = \"first\"\nkind = \"poisson\"\ncount = 5\nfrom = \"ftp\"\nto = \"z\"\nactive = [\"5 s\", \"6 s\"]\n";
    assert_eq!(arrivals(every_kind("lred", others), 1), expected, "another entry");
    let other = arrivals(every_kind("droptail", ""), 2);
    for (i, (kind, _)) in UDP.into_iter().chain(TCP).enumerate() {
        assert_ne!(other[i], expected[i], "{kind}: another seed is another run");
    }
}

#[test]
fn nothing_is_sent_before_an_entry_is_active_nor_after() {
    let mut scenario = every_kind("droptail", "");
    for entry in &mut scenario.traffic {
        (entry.begin, entry.stop) = (Span::s(2), Some(Span::ms(4200)));
    }
    for (queue, (kind, _)) in arrivals(scenario, 3).iter().zip(UDP.into_iter().chain(TCP)) {
        let active = Time::ZERO + Span::s(2)..Time::ZERO + Span::ms(4200);
        assert!(queue.iter().all(|at| active.contains(at)), "{kind}: {queue:?}");
        assert!(!queue.is_empty(), "{kind}");
    }
}

#[test]
fn every_flow_of_a_kind_has_its_own_arrivals() {
    let alone = |count: u32| {
        let keys = "rate = \"50 kbit/s\"\nfrom = \"a\"\nto = \"z\"\n";
        let text = format!(
            "duration = \"20 s\"\n[[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"z\"\naqm = \"droptail\"\n\
             [[traffic]]\nname = \"x\"\nkind = \"poisson\"\n{keys}count = {count}\n"
        );
        let mut run = Simulation::new(check(&text), 1, Arrivals::default());
        run.advance(Time::MAX);
        run.probe().0[0].clone()
    };
    let (one, two) = (alone(1), alone(2));
    assert!(one.iter().all(|at| two.contains(at)), "a second flow moves no packet of the first");
    let second: Vec<_> = two.iter().filter(|at| !one.contains(at)).collect();
    assert!(second.len() > 50 && second.len() + one.len() == two.len(), "nor sends together with it");
}

/// Poisson traffic of these rates in Mbit/s and sizes in bytes into a link of 100 Mbit/s.
fn single_queue(poisson: &[(u32, u32)], duration: &str) -> Results {
    let mut text = format!(
        "duration = \"{duration}\"\nwarmup = \"10 s\"\n\
         [[link]]\nname = \"l\"\nfrom = \"a\"\nto = \"z\"\nrate = \"100 Mbit/s\"\nbuffer = \"100000 packets\"\naqm = \"droptail\"\n"
    );
    for (rate, size) in poisson {
        text += &format!(
            "[[traffic]]\nkind = \"poisson\"\nrate = \"{rate} Mbit/s\"\npacket_size = \"{size} B\"\nfrom = \"a\"\nto = \"z\"\n"
        );
    }
    let mut run = Simulation::new(check(&text), 1, ());
    run.advance(Time::MAX);
    run.results()
}

#[test]
fn poisson_packets_wait_as_pollaczek_and_khinchine_say() {
    // Waiting packets without the one in service: L = lambda^2 E(S^2) / (2 (1 - rho)). Of one size this is M/D/1. The
    // runs are so long that the standard error is a third of the tolerance.
    for (poisson, duration) in
        [(&[(50, 1250)][..], "600 s"), (&[(70, 1250)], "900 s"), (&[(20, 250), (45, 1500)], "900 s")]
    {
        let (mut lambda, mut second, mut load) = (0.0, 0.0, 0.0);
        for &(rate, size) in poisson {
            let packets = f64::from(rate) * 1e6 / (8.0 * f64::from(size));
            let service = 8.0 * f64::from(size) / 100e6;
            lambda += packets;
            second += packets * service * service;
            load += packets * service;
        }
        let expected = lambda * second / (2.0 * (1.0 - load));
        let link = single_queue(poisson, duration).metrics.link;
        let found = link.queue_mean.unwrap();
        assert!((found / expected - 1.0).abs() < 0.01, "{poisson:?}: {found} packets, not {expected}");
        assert!((link.utilisation - load).abs() < 0.003, "{poisson:?}: {}", link.utilisation);
        let wait = link.traffic.queue_delay_mean.unwrap();
        assert!((wait * lambda / expected - 1.0).abs() < 0.01, "{poisson:?}: a wait of {wait} s");
        assert_eq!(link.traffic.loss_ratio, Some(0.0));
    }
}

#[test]
fn datagrams_that_may_be_marked_are_marked_where_others_are_dropped() {
    let entry = |name: &str, ecn: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"poisson\"\nrate = \"6 Mbit/s\"\npacket_size = \"500 B\"\necn = \"{ecn}\"\n"
        )
    };
    let run = |ecn: &str| {
        let text = format!(
            "duration = \"60 s\"\nwarmup = \"10 s\"\naqm = \"red:ecn=true,min_th=5,max_th=205,max_p=1.0\"\n\
             [dumbbell]\nrate = \"10 Mbit/s\"\n{}{}",
            entry("plain", "none"),
            entry("capable", ecn),
        );
        let mut run = Simulation::new(check(&text), 1, ());
        run.advance(Time::MAX);
        run.results()
    };
    for ecn in ["ect0", "ect1"] {
        let results = run(ecn);
        let [plain, capable] = ["plain", "capable"].map(|name| &results.classes[name].traffic);
        assert_eq!((plain.marks, capable.drops_early + capable.drops_overflow), (0, 0), "{ecn}");
        assert_eq!(results.metrics.link.traffic.marks, capable.marks);
        // A third of the plain ones has to go, and what the others see is the same.
        let (dropped, marked) = (plain.loss_ratio.unwrap(), capable.mark_ratio.unwrap());
        assert!((dropped - 1.0 / 3.0).abs() < 0.02 && (marked - dropped).abs() < 0.02, "{dropped} {marked}");
    }
    let results = run("none");
    let both = ["plain", "capable"].map(|name| results.classes[name].traffic.loss_ratio.unwrap());
    assert!(both.iter().all(|loss| (loss - 1.0 / 6.0).abs() < 0.02), "{both:?}");
    assert_eq!(results.metrics.link.traffic.marks, 0);
}

#[test]
fn only_a_source_that_sends_has_started() {
    // Half of them would start after the stop.
    let text = "duration = \"100 s\"\n[dumbbell]\n[[traffic]]\nname = \"x\"\nkind = \"cbr\"\nrate = \"1 kbit/s\"\n\
                count = 1000\nstart = \"uniform(0 s, 100 s)\"\nstop = \"50 s\"\n";
    let mut simulation = Simulation::new(check(text), 1, ());
    simulation.advance(simulation.end());
    let class = &simulation.results().classes["x"];
    assert!(class.started.unwrap().abs_diff(500) < 80, "{}", class.started.unwrap());
    assert!(class.traffic.arrivals >= class.started.unwrap(), "each has sent at once");
}

/// What departed: which arrival each was, and whether it was marked.
#[derive(Default)]
struct Departed(Vec<(u64, bool)>);

impl Probe for Departed {
    fn on_fate(&mut self, _: usize, arrival: u64, marked: bool) {
        self.0.push((arrival, marked));
    }
}

#[test]
fn a_fate_names_the_arrival_and_says_whether_it_is_marked() {
    let scenario = check(
        "duration = \"20 s\"\n[dumbbell]\nrate = \"5 Mbit/s\"\nbuffer = \"20 packets\"\n\
         [aqm]\nname = \"red\"\nmin_th = 5.0\necn = true\n\
         [[traffic]]\nname = \"ect\"\ncount = 4\ntcp = \"linux:ecn=true\"\n\
         [[traffic]]\nname = \"other\"\nkind = \"poisson\"\nrate = \"2 Mbit/s\"\n",
    );
    let mut run = Simulation::new(scenario, 1, Departed::default());
    run.advance(Time::MAX);
    let (fates, results) = (run.probe().0.clone(), run.results());
    assert!(fates.windows(2).all(|pair| pair[0].0 < pair[1].0), "a queue of one keeps the order of arrival");
    let queue = &results.metrics.link.traffic;
    let lost = queue.drops_early + queue.drops_overflow;
    let waiting = queue.arrivals - lost - fates.len() as u64;
    assert!(lost > 0 && waiting <= 20, "{lost} lost, {waiting} waiting");
    let marked = fates.iter().filter(|(_, marked)| *marked).count() as u64;
    assert!(marked > 0 && marked.abs_diff(queue.marks) <= waiting, "{marked} of {} marks", queue.marks);
}
