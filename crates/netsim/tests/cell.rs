//! Cells: base stations and users that share their slots.

use crate::checked::{run, scenario};
use aqm::unit::{Span, Time};
use netsim::{Checked, Simulation};
use run::Results;
use run::results::LinkMetrics;

/// A server behind a base station with two users, whose blocks have no errors unless `cell` says so.
fn cell(cqi: &str, cell: &str, traffic: &str) -> String {
    let error = if cell.contains("error") { "" } else { "error = 0.0\n" };
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[[link]]\nname = \"wan\"\nfrom = \"server\"\nto = \"base\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[[cell]]\nname = \"cell\"\nbase = \"base\"\nusers = [\"a\", \"b\"]\n\
         cqi = {cqi}\n{error}{cell}\n{traffic}"
    )
}

fn cbr(name: &str, (from, to): (&str, &str), (size, mbit): (u32, f64), more: &str) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nkind = \"cbr\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{mbit} Mbit/s\"\n\
         packet_size = \"{size} B\"\n{more}\n"
    )
}

/// More than a user can get, there or back.
fn flood(user: &str, is_down: bool) -> String {
    let ends = if is_down { ("server", user) } else { (user, "server") };
    cbr(&format!("to-or-from-{user}"), ends, (1500, 100.0), "")
}

fn link<'a>(results: &'a Results, name: &str) -> &'a LinkMetrics {
    &results.links[&format!("cell-{name}")]
}

/// The part of a cell's bytes that are a packet's of 1500.
const PACKETS: f64 = 1500.0 / 1510.0;

/// Mbit/s of 20 MHz in slots of 1 ms with this efficiency, of which this part is usable.
fn mbit(efficiency: f64, usable: f64) -> f64 {
    106.0 * 168.0 * usable * efficiency / 1000.0
}

const CQI_7: f64 = 4.0 * 378.0 / 1024.0;
const CQI_15: f64 = 6.0 * 948.0 / 1024.0;

#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, not {expected}");
}

#[test]
fn users_share_slots_equally_and_each_at_its_own_rate() {
    for scheduler in ["round-robin", "proportional-fair"] {
        for (cqi, b) in [("7", CQI_7), ("[7, 15]", CQI_15)] {
            for (is_down, usable) in [(true, 0.86), (false, 0.92)] {
                let scheduler = format!("scheduler = \"{scheduler}\"");
                let results = run(&cell(cqi, &scheduler, &(flood("a", is_down) + &flood("b", is_down))));
                for (user, efficiency) in [("a", CQI_7), ("b", b)] {
                    let of = link(&results, &format!("{user}{}", if is_down { "" } else { ":reverse" }));
                    near(of.traffic.throughput / 1e6, PACKETS * mbit(efficiency, usable) / 2.0, 3e-3);
                    near(of.utilisation, 0.5, 2e-3);
                    assert_eq!(of.harq_rounds_mean, Some(1.0));
                    assert_eq!(of.in_order_wait_mean, Some(0.0));
                }
            }
        }
    }
}

#[test]
fn what_one_user_leaves_of_a_slot_goes_to_the_next() {
    let light = cbr("light", ("server", "b"), (500, 0.4), "");
    for scheduler in ["round-robin", "proportional-fair"] {
        let scheduler = format!("scheduler = \"{scheduler}\"");
        let results = run(&cell("7", &scheduler, &(flood("a", true) + &light)));
        near(link(&results, "b").traffic.throughput, 400e3, 1e-3);
        // 510 bytes take 20 resource blocks, in every tenth slot.
        near(link(&results, "b").utilisation, 0.1 * 20.0 / 106.0, 1e-3);
        near(link(&results, "a").utilisation, 1.0 - 0.1 * 20.0 / 106.0, 1e-3);
    }
}

#[test]
fn a_packet_leaves_when_its_last_byte_has_come() {
    // It comes to the base station 1.012 ms after a boundary, at 2 ms the next slot begins. At CQI 3 a slot has 721
    // bytes, so that 1510 take three.
    for (cqi, milliseconds) in [("7", 3.0), ("3", 5.0)] {
        let results = run(&cell(cqi, "", &cbr("lone", ("server", "a"), (1500, 0.1), "")));
        let class = &results.classes["lone"];
        near(class.totals.delay_mean.unwrap(), milliseconds * 1e-3, 1e-6);
        near(class.totals.delay_max.unwrap(), milliseconds * 1e-3, 1e-6);
        // On average half a slot is waited.
        near(class.delay_idle.unwrap(), (1.012 + 0.5 + milliseconds - 2.0) * 1e-3, 1e-6);
    }
}

#[test]
fn a_block_is_sent_at_most_so_often_and_the_last_time_so_late() {
    let lone = cbr("lone", ("server", "a"), (1500, 0.5), "");
    let text = |more: &str| cell("7", &format!("error = 0.5\nrounds = 3\n{more}"), &lone);
    // It is decoded after 3, 11 or 19 ms, with probabilities 1/2, 1/4 and 1/8, or lost.
    let results = run(&text("acknowledged = false"));
    let class = &results.classes["lone"].totals;
    near(class.delay_max.unwrap(), 19e-3, 1e-6);
    let lost = link(&results, "a").collision_drops.unwrap() as f64 / 500.0;
    // Of 500 packets, with a standard deviation of 0.015.
    assert!((lost - 0.125).abs() < 0.05, "{lost}");
    let (mean, expected) = (class.delay_mean.unwrap(), (3.0 * 4.0 + 11.0 * 2.0 + 19.0) / 7.0 * 1e-3);
    near(mean, expected, 0.08);
    near(link(&results, "a").harq_rounds_mean.unwrap(), 1.75, 0.06);
    // Decoded after 17 ms of three rounds, it is sent again 40 ms later.
    let results = run(&text(""));
    assert_eq!(link(&results, "a").collision_drops, Some(0));
    let latest = results.classes["lone"].totals.delay_max.unwrap();
    let since = (latest * 1e3 - 3.0) % 57.0;
    assert!(latest > 0.05 && [0.0, 8.0, 16.0].iter().any(|at| (since - at).abs() < 1e-6), "{latest}");
    near(link(&results, "a").harq_rounds_mean.unwrap(), 2.0, 0.08);
}

#[test]
fn a_lone_packet_of_many_blocks_waits_for_no_other() {
    let lone = cbr("lone", ("server", "a"), (1500, 0.024), "");
    let results = run(&cell("1", "width = 5\nerror = 0.3", &lone));
    let of = link(&results, "a");
    assert_eq!(of.in_order_wait_mean, Some(0.0));
    assert!(results.classes["lone"].totals.delay_max.unwrap() > 0.025, "some blocks come again");
}

#[test]
fn a_cell_is_in_use_although_nothing_arrives() {
    let text = cell("7", "error = 0.9\nacknowledged = false\nrounds = 1", &flood("a", true));
    let results = run(&text.replace("packet_size = \"1500 B\"", "packet_size = \"60000 B\""));
    let of = link(&results, "a");
    // A packet has 22 blocks, all of which have to be decoded.
    assert_eq!(of.traffic.throughput, 0.0);
    near(of.utilisation, 1.0, 2e-3);
    assert_eq!(of.harq_rounds_mean, Some(1.0));
}

#[test]
fn who_needs_less_than_it_could_have_takes_no_more_than_a_share() {
    // 15 of 22.6 Mbit/s in small packets, and more than all; whoever begins first.
    for start in ["0 s", "1.01 s"] {
        let some = cbr("some", ("server", "a"), (200, 15.0), "");
        let much = flood("b", true).replace("packet_size", &format!("start = \"{start}\"\npacket_size"));
        let results = run(&cell("7", "scheduler = \"round-robin\"", &(some + &much)));
        for user in ["a", "b"] {
            near(link(&results, user).utilisation, 0.5, 0.01);
        }
    }
}

#[test]
fn packets_arrive_in_order_and_wait_for_a_block_that_failed() {
    let window = "tcp = { max_window = 100 }\n";
    let tcp = format!("[[traffic]]\nname = \"down\"\nfrom = \"server\"\nto = \"a\"\n{window}");
    let results = run(&cell("15", "error = 0.1", &tcp));
    let of = link(&results, "a");
    assert_eq!((results.classes["down"].totals.retransmits, of.collision_drops), (Some(0), Some(0)));
    near(of.harq_rounds_mean.unwrap(), 1.0 / 0.9, 0.02);
    assert!(of.in_order_wait_mean.unwrap() > 1e-3, "{of:?}");
    assert!(results.metrics.flows.goodput > 20e6, "{}", results.metrics.flows.goodput);
}

#[test]
fn a_lone_packet_up_waits_for_its_grant_and_the_rest_of_it_for_the_next() {
    let lone = |size: u32, start: &str| {
        let mbit = f64::from(size) * 8.0 / 1e5;
        let text = cell("7", "", &cbr("up", ("a", "server"), (size, mbit), &format!("start = \"{start}\"")));
        let results = run(&text);
        let totals = &results.classes["up"].totals;
        assert_eq!(totals.delay_max, totals.delay_mean, "all alike");
        totals.delay_mean.unwrap() * 1e3
    };
    // Behind the cell, 1 ms and the transmission.
    let wan = |size: u32| 1.0 + f64::from(size) * 8e-6;
    // A request at 10 ms, a slot 8 ms later.
    near(lone(90, "3 ms"), 7.0 + 8.0 + 1.0 + wan(90), 1e-6);
    near(lone(90, "0 s"), 8.0 + 1.0 + wan(90), 1e-6);
    // The first grant has 100 of 1510 bytes, and its block reports the rest.
    near(lone(1500, "3 ms"), 7.0 + 8.0 + 8.0 + 1.0 + wan(1500), 1e-6);
    near(lone(91, "3 ms"), 7.0 + 8.0 + 8.0 + 1.0 + wan(91), 1e-6);
}

#[test]
fn quality_wanders_equally_often_to_each_of_its_values() {
    let wandering = |more: &str, traffic: &str| {
        let text = cell("12", &format!("spread = 3\nstep = \"5 ms\"\n{more}"), traffic);
        run(&text.replace("12 s", "100 s"))
    };
    let efficiency =
        [616.0 * 4.0, 466.0 * 6.0, 567.0 * 6.0, 666.0 * 6.0, 772.0 * 6.0, 873.0 * 6.0, 948.0 * 6.0];
    let rates = efficiency.map(|bits| PACKETS * mbit(bits / 1024.0, 0.86));
    let mean = rates.iter().sum::<f64>() / 7.0;
    let alone = wandering("", &flood("a", true));
    near(link(&alone, "a").traffic.throughput / 1e6, mean, 0.03);
    // In turn, two users have half of that each; the better of the two at each moment is more.
    let both = flood("a", true) + &flood("b", true);
    let sum = |scheduler: &str| {
        let results = wandering(&format!("window = \"2 s\"\nscheduler = \"{scheduler}\""), &both);
        let [a, b] = ["a", "b"].map(|user| link(&results, user).traffic.throughput / 1e6);
        near(a, b, 0.1);
        a + b
    };
    near(sum("round-robin"), mean, 0.03);
    let best = rates.iter().flat_map(|a| rates.iter().map(|b| a.max(*b))).sum::<f64>() / 49.0;
    near(sum("proportional-fair"), best, 0.03);
}

#[test]
fn slots_of_tdd_carry_one_direction() {
    // Three slots of five down, one up.
    for (is_down, share, usable) in [(true, 0.6, 0.86), (false, 0.2, 0.92)] {
        let results = run(&cell("7", "tdd = \"DDDSU\"", &flood("a", is_down)));
        let of = link(&results, if is_down { "a" } else { "a:reverse" });
        near(of.traffic.throughput / 1e6, PACKETS * share * mbit(CQI_7, usable), 3e-3);
        near(of.utilisation, 1.0, 2e-3);
    }
}

#[test]
fn disciplines_work_on_the_queue_of_each_user() {
    let aqm =
        |aqm: &str| run(&cell("7", &format!("aqm = \"{aqm}\"\nbuffer = \"500 packets\""), &flood("a", true)));
    assert!(link(&aqm("codel"), "a").traffic.drops_early > 1000);
    // One that pauses the link is asked again when its pause is over,
    near(link(&aqm("cake:bandwidth=5 Mbit/s"), "a").traffic.throughput, 5e6, 0.01);
    // or when a packet comes: one class waits for its rate, and another does not.
    let classes = "[cell.aqm]\nname = \"htb\"\n[cell.aqm.classes.slow]\nrate = \"20 kbit/s\"\ndscp = [\"LE\"]\n\
                   [cell.aqm.classes.fast]\nrate = \"10 Mbit/s\"\n";
    let slow = cbr("slow", ("server", "a"), (1000, 0.1), "dscp = \"LE\"");
    let fast = cbr("fast", ("server", "a"), (200, 1.0), "");
    let results = run(&cell("7", &format!("buffer = \"500 packets\"\n{classes}"), &(slow + &fast)));
    let delay = results.classes["fast"].totals.delay_max.unwrap();
    assert!(delay < 6e-3, "{delay}");
}

/// The parts of the gaps between milliseconds in which something arrives at a flooded user that last at most so many
/// milliseconds, if this part of the blocks fails.
fn gaps(error: f64) -> impl Fn(u64) -> f64 {
    let poisson =
        |user: &str, mbit: f64| cbr(user, ("server", user), (1500, mbit), "").replace("cbr", "poisson");
    let others = poisson("b", 2.0) + &poisson("c", 2.0);
    let text = cell("6", &format!("width = 10\nerror = {error}"), &(poisson("a", 30.0) + &others));
    let text = text.replace("[\"a\", \"b\"]", "[\"a\", \"b\", \"c\"]").replace("12 s", "60 s");
    let scenario = scenario(&text);
    let observed = scenario.observed;
    let mut simulation: Simulation<Checked<()>> = Simulation::new(scenario, 1, Checked(None));
    simulation.tap();
    simulation.advance(simulation.end());
    let seen = simulation.seen(simulation.end());
    let arrived = seen.iter().filter(|seen| seen.link == observed && seen.lost.is_none());
    let mut at: Vec<u64> = arrived.map(|seen| seen.at.nanos() / 1_000_000).filter(|ms| *ms > 2000).collect();
    at.dedup();
    let gaps: Vec<u64> = at.windows(2).map(|two| two[1] - two[0]).collect();
    move |most| gaps.iter().filter(|gap| **gap <= most).count() as f64 / gaps.len() as f64
}

#[test]
fn gaps_between_arrivals_are_those_of_recorded_lte() {
    // Of Verizon-LTE-short.down (Winstein and others, NSDI 2013) and ATT-LTE-driving-2016.down, which mahimahi has.
    let recorded: [(u64, [f64; 2]); 11] = [
        (1, [0.375, 0.392]),
        (2, [0.622, 0.623]),
        (3, [0.750, 0.752]),
        (4, [0.820, 0.821]),
        (5, [0.859, 0.856]),
        (6, [0.884, 0.873]),
        (8, [0.913, 0.895]),
        (10, [0.945, 0.945]),
        (12, [0.966, 0.968]),
        (16, [0.981, 0.980]),
        (20, [0.989, 0.986]),
    ];
    let ours = gaps(0.05);
    for (most, both) in recorded {
        for part in both {
            assert!((ours(most) - part).abs() < 0.05, "{most} ms: {}, not {part}", ours(most));
        }
    }
    // Some wait for a block that is sent again 8 ms later: 5.4 and 7.3 % of the recorded gaps. Without errors few are
    // so long.
    let round = |part: &dyn Fn(u64) -> f64| part(12) - part(8);
    assert!(round(&ours) > 0.05 && round(&gaps(0.0)) < 0.03, "{} {}", round(&ours), round(&gaps(0.0)));
}

#[test]
fn slots_are_the_same_on_both_clocks() {
    let traffic = flood("a", true) + &flood("b", false) + &cbr("lone", ("server", "b"), (1500, 0.1), "");
    for more in ["slot = \"0.5 ms\"\nwidth = 20", "error = 0.1", "tdd = \"DDU\""] {
        let [integer, double] = ["integer", "double"]
            .map(|clock| run(&format!("clock = \"{clock}\"\n{}", cell("[7, 3]", more, &traffic))));
        for name in ["a", "b", "b:reverse"] {
            let [one, other] = [&integer, &double].map(|results| link(results, name));
            near(one.traffic.throughput, other.traffic.throughput, 1e-3);
            near(one.utilisation, other.utilisation, 1e-3);
            near(one.harq_rounds_mean.unwrap(), other.harq_rounds_mean.unwrap(), 1e-3);
        }
        let [one, other] = [&integer, &double].map(|results| &results.classes["lone"].totals);
        near(one.delay_mean.unwrap(), other.delay_mean.unwrap(), 1e-6);
        near(one.delay_max.unwrap(), other.delay_max.unwrap(), 1e-6);
    }
}

#[test]
fn a_live_run_follows_qualities_and_buffers_but_no_other_rules() {
    let traffic = flood("a", true) + &flood("b", true);
    let text = |cqi: &str, more: &str| cell(cqi, &format!("{more}\nscheduler = \"round-robin\""), &traffic);
    let (first, small) = ("buffer = \"100 packets\"", "buffer = \"20 packets\"");
    let mut live =
        Simulation::live(scenario(&text("7", first)), 1, Checked::<()>(None), Default::default()).unwrap();
    let other = scenario(&text("7", &format!("{first}\nrounds = 3")));
    assert_eq!(live.follow(&other).unwrap_err(), "that needs a new run");
    live.advance(Time::ZERO + Span::s(7));
    live.follow(&scenario(&text("[15, 7]", small))).unwrap();
    live.advance(Time::ZERO + Span::s(12));
    assert_eq!(live.violations(), Vec::<String>::new());
    let results = live.results();
    // Half of the time measured each.
    near(
        link(&results, "a").traffic.throughput / 1e6,
        PACKETS * mbit((CQI_7 + CQI_15) / 2.0, 0.86) / 2.0,
        3e-3,
    );
    near(link(&results, "b").traffic.throughput / 1e6, PACKETS * mbit(CQI_7, 0.86) / 2.0, 3e-3);
    let queue = link(&results, "b").queue_mean;
    near(queue.unwrap(), 60.0, 0.02);
}
