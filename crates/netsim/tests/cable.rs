//! Cable networks: modems that request grants upstream, and a head end that shares the channel among them.

use crate::checked::{run, scenario};
use netsim::{Checked, Simulation};
use run::Results;
use run::results::LinkMetrics;

/// A head end with modems `a`, `b` and `c`.
fn cable(cable: &str, traffic: &str) -> String {
    format!(
        "duration = \"12 s\"\nwarmup = \"2 s\"\n[[cable]]\nname = \"cable\"\ncmts = \"cmts\"\n\
         modems = [\"a\", \"b\", \"c\"]\n{cable}\n{traffic}"
    )
}

fn cbr(modem: &str, (size, mbit): (u32, f64), more: &str) -> String {
    format!(
        "[[traffic]]\nname = \"{modem}\"\nkind = \"cbr\"\nfrom = \"{modem}\"\nto = \"cmts\"\nrate = \"{mbit} Mbit/s\"\n\
         packet_size = \"{size} B\"\n{more}\n"
    )
}

fn flood(modem: &str) -> String {
    cbr(modem, (1500, 200.0), "")
}

fn up<'a>(results: &'a Results, modem: &str) -> &'a LinkMetrics {
    &results.links[&format!("cable-{modem}")]
}

#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, not {expected}");
}

/// The part of the bytes of a large packet that rates count.
const COUNTED: f64 = 1518.0 / 1528.0;

/// In ms, that of the defaults: a frame, an interval of 15, a request's way, and from a MAP to its interval.
const FRAME: f64 = 0.135;
const INTERVAL: f64 = 15.0 * FRAME;
const REQUEST: f64 = 3.0 * FRAME + 0.04;
const ADVANCE: f64 = 1.07 + 0.04;

/// From a request in a frame of an interval to the interval of its grant.
fn until_grant(frame: u32) -> f64 {
    let requested = f64::from(frame) * FRAME;
    ((requested + REQUEST + ADVANCE) / INTERVAL).ceil() * INTERVAL - requested
}

/// In ms, how long each packet took that `a` sends, one in this time from `start` on.
fn delays(text: &str, start: f64, every: f64) -> Vec<f64> {
    let scenario = scenario(text);
    let upstream = scenario.links.iter().position(|link| link.name == "cable-a").unwrap();
    let delay = scenario.links[upstream].delay.mean() * 1e3;
    let mut simulation: Simulation<Checked<()>> = Simulation::new(scenario, 1, Checked(None));
    simulation.tap();
    simulation.advance(simulation.end());
    let seen = simulation.seen(simulation.end()).into_iter().filter(|seen| seen.link == upstream);
    seen.enumerate().map(|(i, seen)| seen.at.secs() * 1e3 + delay - start - i as f64 * every).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MAX, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MIN, f64::max)
}

#[test]
fn an_idle_packet_waits_for_request_and_grant_as_long_as_computed() {
    // Every 50 ms, so that packets come at 81 times of an interval.
    let text = cable("", &cbr("a", (1500, 0.24), "")).replace("12 s", "2000 s");
    let found = delays(&text, 0.0, 50.0);
    let decoded = 2.0 * FRAME + 0.04;
    let frames: Vec<u32> = (0..15).collect();
    let each = |time: &dyn Fn(u32) -> f64| frames.iter().map(|frame| time(*frame)).collect::<Vec<f64>>();
    let shortest = least(&each(&until_grant)) + decoded;
    // It just misses the request of its interval, and the next is that.
    let longest = INTERVAL + most(&each(&|i| f64::from(i) * FRAME + until_grant(i))) + 14.0 * FRAME + decoded;
    near(shortest, 1.62 + 0.31, 1e-9);
    near(longest, 6.075 + 1.89 + 0.31, 1e-9);
    assert!((shortest..shortest + 0.1).contains(&least(&found)), "{}", least(&found));
    assert!((longest - 0.5..=longest).contains(&most(&found)), "{}", most(&found));
    // The mean over all times and lots, which the tests of the model compute in another way; of 40 000 packets.
    let idle = run(&text.replace("2000 s", "3 s")).classes["a"].delay_idle.unwrap() * 1e3;
    near(mean(&found), idle, 3e-3);
    // RFC 8034, section 4.2: request and grant take about 4 to 8 ms.
    assert!((4.0..8.0).contains(&idle), "{idle}");
}

#[test]
fn a_busy_modem_sends_at_its_sustained_rate() {
    for (rate, more) in [(50.0, ""), (50.0, "peak = \"60 Mbit/s\""), (1.0, "burst = \"1522 B\"")] {
        let results = run(&cable(&format!("rate = \"{rate} Mbit/s\"\n{more}"), &flood("a")));
        let of = up(&results, "a");
        near(of.traffic.throughput / 1e6, rate, 2e-3);
        near(of.utilisation, 1.0, 2e-3);
        near(results.metrics.flows.goodput, rate * 1e6 * 1472.0 / 1518.0, 3e-3);
        // What it has the minislots for, and what it leaves of them.
        let share = rate / COUNTED / (1.0 - of.grants_unused.unwrap()) / 668.444;
        near(of.channel_share.unwrap(), share, 3e-3);
        assert!(of.grants_unused.unwrap() < 1e-3, "{of:?}");
    }
}

#[test]
fn modems_share_the_channel_equally_and_take_what_others_leave() {
    // Seven minislots of 48 bytes in a frame.
    let channel = 7.0 * 48.0 * 8.0 / 135e-6 / 1e6;
    let text = |traffic: &str| cable("channel = \"20 Mbit/s\"", traffic);
    let all = run(&text(&(flood("a") + &flood("b") + &flood("c"))));
    for modem in ["a", "b", "c"] {
        near(up(&all, modem).traffic.throughput / 1e6, channel * COUNTED / 3.0, 2e-3);
        near(up(&all, modem).channel_share.unwrap(), 1.0 / 3.0, 2e-3);
    }
    let light = run(&text(&(flood("a") + &flood("b") + &cbr("c", (982, 2.0), ""))));
    near(up(&light, "c").traffic.throughput / 1e6, 2.0 * 1000.0 / 982.0, 2e-3);
    let light_share = up(&light, "c").channel_share.unwrap();
    for modem in ["a", "b"] {
        near(up(&light, modem).channel_share.unwrap(), (1.0 - light_share) / 2.0, 2e-3);
    }
    // Each has its own limit.
    let limits = "channel = \"20 Mbit/s\"\nrate = [\"3 Mbit/s\", \"50 Mbit/s\", \"50 Mbit/s\"]";
    let limited = run(&cable(limits, &(flood("a") + &flood("b") + &flood("c"))));
    near(up(&limited, "a").traffic.throughput, 3e6, 2e-3);
    near(up(&limited, "b").traffic.throughput / 1e6, (channel * COUNTED - 3.0) / 2.0, 4e-3);
}

#[test]
fn others_leave_a_part_of_the_channel() {
    // 2531 bytes in an interval are 53 minislots.
    let free = 53.0 * 48.0 * 8.0 / (INTERVAL * 1e3);
    let steady = run(&cable("free = \"10 Mbit/s\"", &flood("a")));
    near(up(&steady, "a").traffic.throughput / 1e6, free * COUNTED, 1e-3);
    // Free capacity that varies evenly has the same mean, but for rounding.
    let varies = run(&cable("free = \"10 Mbit/s\"\nvariation = 0.5", &flood("a")));
    near(up(&varies, "a").traffic.throughput / 1e6, 10.0 * COUNTED, 0.01);
}

#[test]
fn a_burst_and_a_peak_limit_what_comes_first() {
    let text = |more: &str, seconds: u32| {
        cable(&format!("rate = \"10 Mbit/s\"\nburst = \"1 MB\"\n{more}"), &flood("a"))
            .replace("12 s", &format!("{seconds} s"))
            .replace("warmup = \"2 s\"", "warmup = \"0 s\"")
    };
    let megabits = |more: &str, seconds: u32| {
        up(&run(&text(more, seconds)), "a").traffic.throughput / 1e6 * f64::from(seconds)
    };
    // Some milliseconds after the start, the first burst is there.
    near(megabits("", 2), 8.0 + 20.0, 5e-3);
    near(megabits("", 4), 8.0 + 40.0, 5e-3);
    near(megabits("peak = \"14 Mbit/s\"", 1), 14.0, 0.01);
    // After 2 s at 14 Mbit/s the burst is used up.
    near(megabits("peak = \"14 Mbit/s\"", 4), 48.0, 5e-3);
}

/// In frames of 2 ms, each a MAP interval, with no delays but those: a request takes three of them, a MAP comes one
/// before its interval, and a burst is decoded after two.
const COARSE: &str =
    "frame = \"2 ms\"\nmap = \"2 ms\"\nlead = \"2 ms\"\ndelay = \"0 s\"\nchannel = \"100 Mbit/s\"";

#[test]
fn requests_are_pipelined() {
    // A packet in each interval, 0.5 ms after its start.
    let stream = cbr("a", (1500, 6.0), "start = \"0.5 ms\"");
    let of = |more: &str| delays(&cable(&format!("{COARSE}\n{more}"), &stream), 0.5, 2.0);
    // 1.5 ms until the request, 6 until the head end has it, 2 until the interval, 4 until the burst is decoded.
    let found = of("");
    near(least(&found), 13.5, 1e-9);
    near(most(&found), 13.5, 1e-9);
    // Otherwise the next request is made as the burst of the last is prepared, three intervals later: of three packets
    // one waits 1.5 ms for it, one 3.5 and one 5.5.
    let found = of("pipelining = false");
    near(least(&found), 13.5, 1e-9);
    near(most(&found), 17.5, 1e-9);
    near(mean(&found), 15.5, 1e-3);
}

#[test]
fn a_packet_is_sent_in_parts_over_several_grants() {
    // Five minislots of 48 bytes are free in an interval: 1528 bytes take seven.
    let lone = cbr("a", (1500, 0.012), "");
    let free = "free = \"0.96 Mbit/s\"";
    let results = run(&cable(&format!("{COARSE}\n{free}"), &lone));
    let totals = &results.classes["a"].totals;
    // It comes at the start of an interval.
    near(totals.delay_mean.unwrap() * 1e3, 12.0 + 6.0 * 2.0, 1e-6);
    near(totals.delay_max.unwrap() * 1e3, 12.0 + 6.0 * 2.0, 1e-6);
    near(up(&results, "a").grants_unused.unwrap(), 1.0 - 1528.0 / (32.0 * 48.0), 1e-9);
}

#[test]
fn disciplines_work_on_the_queue_of_each_modem() {
    let more = "[[link]]\nfrom = \"cmts\"\nto = \"server\"\ndelay = \"10 ms\"\n[[traffic]]\nname = \"up\"\n\
                from = \"a\"\nto = \"server\"\ncount = 4\n";
    let delay = |aqm: &str| {
        let aqm = format!("rate = \"10 Mbit/s\"\naqm = {{ {aqm} }}");
        let results = run(&cable(&aqm, more).replace("12 s", "30 s"));
        assert!(up(&results, "a").utilisation > 0.9, "{aqm} {:?}", up(&results, "a"));
        up(&results, "a").traffic.queue_delay_mean.unwrap() * 1e3
    };
    let (droptail, pie) = (delay("name = \"droptail\""), delay("name = \"pie\", preset = \"docsis\""));
    assert!(droptail > 100.0 && (8.0..20.0).contains(&pie), "{droptail} {pie}");
    // CoDel's target must be more than the time of request and grant.
    let codel = delay("name = \"codel\", target = \"15 ms\"");
    assert!((10.0..25.0).contains(&codel), "{codel}");
}

#[test]
fn a_paused_queue_is_asked_again_when_a_packet_comes() {
    // One class waits for its rate, the other does not.
    let classes = "[cable.aqm]\nname = \"htb\"\n[cable.aqm.classes.slow]\nrate = \"20 kbit/s\"\ndscp = [\"LE\"]\n\
                   [cable.aqm.classes.fast]\nrate = \"10 Mbit/s\"\n";
    let slow = cbr("a", (1000, 0.1), "dscp = \"LE\"").replace("name = \"a\"", "name = \"slow\"");
    let fast = cbr("a", (200, 0.1), "").replace("name = \"a\"", "name = \"fast\"");
    let results = run(&cable(&format!("buffer = \"500 packets\"\n{classes}"), &(slow + &fast)));
    let delay = results.classes["fast"].totals.delay_max.unwrap();
    assert!(delay < 10e-3, "{delay}");
}

#[test]
fn modems_of_a_run_do_not_share_their_lots() {
    let of = |more: &str| {
        let results = run(&cable("", &(cbr("a", (1500, 0.2), "") + more)));
        results.classes["a"].totals.delay_mean
    };
    // The grants of `c` are placed by the lots of the head end, which `a` then has no more.
    assert_eq!(of(""), of(""));
    assert_ne!(of(""), of(&cbr("c", (1500, 0.2), "")));
}

#[test]
fn two_streams_close_to_the_sustained_rate_wait_little_as_in_docsis_ns3() {
    // docsis-link-test-suite.cc: two streams with a packet of 1000 bytes every 329 us, 49.5 of 50 Mbit/s, over 10 s; its
    // last packet takes less than 10 ms. There they have two queues.
    let stream =
        |name: &str| cbr("a", (1000, 8e3 / 329.0), "").replace("name = \"a\"", &format!("name = \"{name}\""));
    let limits = "peak = \"100 Mbit/s\"\nburst = \"625 kB\"";
    let results = run(&cable(limits, &(stream("one") + &stream("two"))));
    for name in ["one", "two"] {
        let totals = &results.classes[name].totals;
        assert!(totals.delay_max.unwrap() < 0.01, "{totals:?}");
    }
    near(up(&results, "a").traffic.throughput / 1e6, 2.0 * 1018.0 * 8.0 / 329.0, 1e-3);
}
