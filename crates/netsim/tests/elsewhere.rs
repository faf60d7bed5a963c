//! A run names the link that was the bottleneck if the queue under study was not at it.

use netsim::Simulation;
use run::results::{Elsewhere, Results};
use scenario::Document;

fn run(text: &str) -> Results {
    let scenario = Document::parse(text, "x.toml").unwrap().check().unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(scenario, 1, ());
    simulation.advance(simulation.end());
    simulation.results()
}

fn elsewhere(text: &str) -> Option<(String, f64)> {
    run(text).elsewhere.map(|Elsewhere { link, utilisation }| (link, utilisation))
}

/// Four flows for 10 s over a bottleneck with these lines.
fn dumbbell(lines: &str) -> String {
    format!(
        "duration = \"10 s\"\nwarmup = \"3 s\"\n[dumbbell]\nrate = \"100 Mbit/s\"\nbuffer = \"1 BDP\"\n{lines}\n\
         [[traffic]]\ncount = 4\n"
    )
}

#[test]
fn access_links_that_are_too_slow_are_named() {
    for rate in ["100 Mbit/s", "40 Mbit/s"] {
        for clock in ["integer", "double"] {
            let text = format!("clock = \"{clock}\"\n{}", dumbbell(&format!("access_rate = \"{rate}\"")));
            let (link, utilisation) = elsewhere(&text).unwrap_or_else(|| panic!("{rate}, {clock}: nothing"));
            assert_eq!(link, "sender1", "{rate}, {clock}");
            assert!((0.95..=1.0).contains(&utilisation), "{rate}, {clock}: {utilisation}");
        }
    }
}

#[test]
fn a_half_duplex_link_is_as_busy_as_its_directions_together() {
    // Flows both ways share the senders' Ethernet, so that each direction alone is far from full.
    let back = "[[traffic]]\nname = \"back\"\ncount = 4\nfrom = \"receivers\"\nto = \"senders\"\n";
    let text = dumbbell("access_rate = \"10 Mbit/s\"\naccess_half_duplex = \"0.5 us\"") + back;
    let results = run(&text);
    let links = ["sender1", "sender1:reverse"].map(|name| results.links[name].utilisation);
    assert!(links.iter().all(|&used| used < 0.8), "{links:?}");
    let Elsewhere { link, utilisation } = results.elsewhere.unwrap();
    assert!(link.starts_with("sender1") || link.starts_with("receiver1"), "{link}");
    assert!(utilisation > 0.9, "{utilisation}");
}

#[test]
fn by_default_the_bottleneck_is_the_bottleneck() {
    for lines in ["", "access_rate = \"100 Mbit/s\"\nhosts = 4"] {
        let results = run(&dumbbell(lines));
        assert_eq!(results.elsewhere, None, "{lines}");
        assert!(results.metrics.link.utilisation > 0.9, "{lines}");
    }
}

#[test]
fn acknowledgements_may_be_what_fills_the_link_that_limits() {
    let (link, _) = elsewhere(&dumbbell("reverse_rate = \"500 kbit/s\"")).unwrap();
    assert_eq!(link, "bottleneck:reverse");
}

#[test]
fn of_light_traffic_and_of_links_on_other_paths_nothing_is_said() {
    let beside = "[[link]]\nname = \"beside\"\nfrom = \"p\"\nto = \"q\"\nrate = \"1 Mbit/s\"\n\
                  [[traffic]]\nname = \"other\"\nfrom = \"p\"\nto = \"q\"\n";
    let light = "kind = \"cbr\"\nrate = \"1 Mbit/s\"\n";
    assert_eq!(elsewhere(&format!("{}{light}{beside}", dumbbell(""))), None);
}

#[test]
fn the_utilisation_of_a_plain_link_counts_its_framing_and_the_window_alone() {
    // 962 and 38 bytes every 2 ms are 4 Mbit/s, from the second 5 on; the window is that from 4 to 10 s.
    for clock in ["integer", "double"] {
        let text = format!(
            "clock = \"{clock}\"\nduration = \"10 s\"\nwarmup = \"4 s\"\n\
             [[link]]\nname = \"plain\"\nfrom = \"a\"\nto = \"b\"\nrate = \"3.5 Mbit/s\"\noverhead = \"38 B\"\ndelay = \"100 ms\"\n\
             [[link]]\nname = \"neck\"\nfrom = \"b\"\nto = \"c\"\nrate = \"50 Mbit/s\"\naqm = \"droptail\"\n\
             [[traffic]]\nkind = \"cbr\"\nfrom = \"a\"\nto = \"c\"\nrate = \"3.848 Mbit/s\"\npacket_size = \"962 B\"\n\
             active = [\"1 s\", \"9.5 s\"]\n"
        );
        // It is always busy from 4 s on: 4 Mbit/s for 8.5 s take 9.7 s.
        let (link, utilisation) = elsewhere(&text).unwrap();
        assert_eq!(link, "plain");
        assert!((utilisation - 1.0).abs() < 1e-3, "{clock}: {utilisation}");
        let slower = text.replace("3.5 Mbit/s", "4.2 Mbit/s").replace("9.5 s", "10 s");
        let (_, utilisation) = elsewhere(&slower).unwrap();
        assert!((utilisation - 4.0 / 4.2).abs() < 2e-3, "{clock}: {utilisation}");
        // Before the window, it does not count.
        assert_eq!(elsewhere(&slower.replace("10 s\"]", "5 s\"]")), None);
    }
}
