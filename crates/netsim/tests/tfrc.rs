//! TFRC in a network: the rate of the equation, beside TCP, after a step of the loss, with marks.

use aqm::unit::Time;
use netsim::{Simulation, tfrc};
use run::Results;
use scenario::Document;

/// The results of a run that is checked for conservation, as all runs of tests are.
fn results(text: &str, seed: u64) -> Results {
    let scenario = Document::parse(text, "tfrc").unwrap().check();
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let mut run = Simulation::new(scenario, seed, ());
    run.advance(Time::MAX);
    run.results()
}

/// Flows of TFRC and of TCP over a bottleneck with a random loss; the round trip is 60 ms without a queue.
fn beside(rate: &str, loss: f64, aqm: &str, flows: u32) -> String {
    format!(
        "duration = \"150 s\"\nwarmup = \"30 s\"\n[dumbbell]\nrate = \"{rate}\"\nbuffer = \"100 packets\"\n\
         delay = \"20 ms\"\nsender_delay = \"5 ms\"\nreceiver_delay = \"5 ms\"\naccess_rate = \"1 Gbit/s\"\nloss = {loss}\n\
         [aqm]\nname = \"{aqm}\"\n\
         [[traffic]]\nname = \"tfrc\"\nkind = \"tfrc\"\ncount = {flows}\npacket_size = \"1000 B\"\n\
         start = \"uniform(0 s, 1 s)\"\nsend_jitter = \"1 ms\"\n\
         [[traffic]]\nname = \"tcp\"\ncount = {flows}\npacket_size = \"1000 B\"\nstart = \"uniform(0 s, 1 s)\"\n\
         send_jitter = \"1 ms\"\ntcp = \"newreno\"\n"
    )
}

#[test]
fn on_a_link_that_loses_at_random_the_rate_is_that_of_the_equation() {
    for loss in [0.003, 0.01, 0.03, 0.1, 0.3] {
        let text = beside("1 Gbit/s", loss, "droptail", 5);
        let class = &results(&text, 1).classes["tfrc"];
        let (events, rtt) = (class.loss_event_rate.unwrap(), class.totals.rtt_mean.unwrap());
        // Losses within a round trip are one event, so there are at most as many.
        assert!((0.5 * loss..1.05 * loss).contains(&events), "{events} of {loss}");
        assert!((class.totals.path_loss_ratio.unwrap() / loss - 1.0).abs() < 0.1);
        assert!((rtt - class.rtt_idle.unwrap() - 0.001).abs() < 0.0005, "two waits of 0.5 ms: {rtt}");
        let sent = class.totals.goodput / 8.0 * 1000.0 / 972.0 / (1.0 - loss) / 5.0;
        let equation = tfrc::rate(1000.0, rtt, events);
        // The mean of the rates at varying estimates is not the rate at the mean of the estimates, at high losses above all.
        let most = if loss > 0.2 { 0.25 } else { 0.12 };
        assert!((sent / equation - 1.0).abs() < most, "loss {loss}: {sent} of {equation}");
    }
}

#[test]
fn beside_tcp_each_gets_half_to_twice_of_what_the_other_gets() {
    for (loss, aqm) in
        [(0.0, "droptail"), (0.0, "red"), (0.001, "red"), (0.01, "droptail"), (0.05, "droptail")]
    {
        let found = results(&beside("10 Mbit/s", loss, aqm, 4), 1);
        let [tfrc, tcp] = ["tfrc", "tcp"].map(|name| found.classes[name].totals.goodput);
        let ratio = tfrc / tcp * 960.0 / 972.0;
        assert!((0.5..2.0).contains(&ratio), "{aqm}, loss {loss}: {ratio}");
    }
}

#[test]
fn the_rate_follows_a_step_of_the_load_and_comes_back() {
    let goodput = |from: u64, to: u64| {
        let text = format!(
            "duration = \"{to} s\"\nwarmup = \"{from} s\"\n[dumbbell]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n\
             buffer = \"50 packets\"\n[aqm]\nname = \"red\"\n[[traffic]]\nname = \"tfrc\"\nkind = \"tfrc\"\n\
             [[traffic]]\nname = \"step\"\nkind = \"cbr\"\nrate = \"4 Mbit/s\"\nactive = [\"40 s\", \"80 s\"]\n"
        );
        results(&text, 1).classes["tfrc"].totals.goodput * 1e-6
    };
    let [before, during, after] = [(20, 41), (45, 80), (100, 120)].map(|(from, to)| goodput(from, to));
    assert!(before > 4.2 && (0.5..1.2).contains(&during) && after > 4.2, "{before} {during} {after}");
}

/// Megabits per second that one flow gets between two times on a path of 10 Mbit/s and a round trip of 106 ms.
fn alone(from: f64, to: f64, more: &str) -> f64 {
    let text = format!(
        "duration = \"{to} s\"\nwarmup = \"{from} s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"10 packets\"\n\
         delay = \"43 ms\"\nsender_delay = \"5 ms\"\nreceiver_delay = \"5 ms\"\n{more}[[traffic]]\nname = \"x\"\n\
         kind = \"tfrc\"\npacket_size = \"1000 B\"\n"
    );
    results(&text, 1).classes["x"].totals.goodput * 1e-6
}

#[test]
fn after_the_first_loss_it_has_half_of_what_it_sent() {
    // Slow start ends at twice the link; TCP would go on at the link's rate or half of it.
    let found = alone(3.0, 5.0, "");
    assert!((4.5..9.8).contains(&found), "{found}");
}

#[test]
fn when_reports_come_again_the_rate_doubles_each_round_trip() {
    let text = "duration = \"80 s\"\nwarmup = \"74 s\"\nobserve = \"out\"\n\
                [[link]]\nname = \"out\"\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\naqm = \"red\"\n\
                buffer = \"50 packets\"\n[[link]]\nname = \"back\"\nfrom = \"b\"\nto = \"a\"\nrate = \"2 Mbit/s\"\n\
                delay = \"20 ms\"\nbuffer = \"5 packets\"\n[[traffic]]\nname = \"x\"\nkind = \"tfrc\"\nfrom = \"a\"\n\
                to = \"b\"\npacket_size = \"1000 B\"\n[[traffic]]\nname = \"flood\"\nkind = \"cbr\"\nfrom = \"b\"\nto = \"a\"\n\
                rate = \"600 Mbit/s\"\nactive = [\"40 s\", \"70 s\"]\n";
    let found = results(text, 1).classes["x"].totals.goodput * 1e-6;
    assert!(found > 1.4, "{found}");
}

#[test]
fn marks_slow_it_down_as_losses_do() {
    let text = |ecn: &str| {
        format!(
            "duration = \"60 s\"\nwarmup = \"20 s\"\n[dumbbell]\nrate = \"5 Mbit/s\"\ndelay = \"20 ms\"\n\
             [aqm]\nname = \"red\"\necn = true\n[[traffic]]\nname = \"x\"\nkind = \"tfrc\"\ncount = 2\necn = \"{ecn}\"\n"
        )
    };
    let [dropped, marked] = ["none", "ect0"].map(|ecn| results(&text(ecn), 1));
    let (link, class) = (&marked.metrics.link, &marked.classes["x"]);
    assert_eq!((link.traffic.drops_early, link.traffic.drops_overflow), (0, 0));
    assert!(link.traffic.marks > 50 && link.queue_mean.unwrap() < 40.0, "{link:?}");
    let [of_drops, of_marks] = [&dropped, &marked].map(|found| found.classes["x"].loss_event_rate.unwrap());
    assert!((0.5..2.0).contains(&(of_marks / of_drops)), "{of_marks} {of_drops}");
    assert!(class.totals.path_loss_ratio == Some(0.0) && class.totals.goodput > 4e6, "{class:?}");
}

#[test]
fn an_application_that_has_less_to_send_keeps_its_rate_whatever_would_be_allowed() {
    let text = "duration = \"60 s\"\nwarmup = \"10 s\"\n[dumbbell]\nrate = \"10 Mbit/s\"\n[[traffic]]\nname = \"x\"\n\
                kind = \"tfrc\"\npacket_size = \"200 B\"\nmax_rate = \"80 kbit/s\"\n[[traffic]]\nname = \"probe\"\n\
                kind = \"ping\"\n";
    let found = results(text, 1);
    let class = &found.classes["x"];
    assert!((class.totals.goodput / (80e3 * 172.0 / 200.0) - 1.0).abs() < 0.003, "{}", class.totals.goodput);
    assert_eq!(class.loss_event_rate, Some(0.0));
    // 50 packets a second, and a report per round trip of some 26 ms at most.
    assert!((2495..2505).contains(&class.traffic.arrivals), "{}", class.traffic.arrivals);
}

#[test]
fn a_lost_report_is_no_lost_datagram_and_costs_half_of_the_rate_at_most() {
    // Losses on the way back only.
    let text = "duration = \"100 s\"\nwarmup = \"20 s\"\nobserve = \"out\"\n\
                [[link]]\nname = \"out\"\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\n\
                aqm = \"red\"\nbuffer = \"50 packets\"\n\
                [[link]]\nname = \"back\"\nfrom = \"b\"\nto = \"a\"\nrate = \"2 Mbit/s\"\ndelay = \"20 ms\"\nLOSS\
                [[traffic]]\nname = \"x\"\nkind = \"tfrc\"\nfrom = \"a\"\nto = \"b\"\n";
    let [all, half] = ["", "loss = 0.5\n"].map(|loss| results(&text.replace("LOSS", loss), 1));
    let [all, half] = [&all, &half].map(|found| &found.classes["x"]);
    let [lost, dropped] = [half.totals.path_loss_ratio, half.traffic.loss_ratio].map(Option::unwrap);
    assert!(dropped > 0.001 && (lost / dropped - 1.0).abs() < 0.01, "{lost} {dropped}");
    let part = half.totals.goodput / all.totals.goodput;
    assert!((0.5..1.02).contains(&part), "{part}");
}
