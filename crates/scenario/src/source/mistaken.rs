//! Files of other tools that are given as a scenario: what they are, and what to do with them.

/// What a text of another form is, with the cure, by the lines that show it; `None` if it may be meant as TOML.
pub(crate) fn recognised(text: &str) -> Option<&'static str> {
    let lines = || text.lines().map(|line| line.trim().trim_start_matches("sudo ").trim_start());
    let begins = |words: &[&str]| lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    let is_json = text.trim_start().starts_with(['{', '[']) && text.contains("\":");
    let sqm = ["UPLINK=", "DOWNLINK=", "SCRIPT=", "QDISC=", "LLAM=", "sqm."];
    let numbers =
        lines().filter(|line| !line.is_empty()).all(|line| line.bytes().all(|c| c.is_ascii_digit()));
    Some(if is_json && text.contains("\"kind\":") && text.contains("\"handle\":") {
        TC_OUTPUT
    } else if is_json {
        "JSON: a scenario is TOML; `--beside FILE` reads measurements"
    } else if lines().any(is_tc) {
        "a tc script: `aqmlab import FILE --out link.toml` makes a scenario of it; tc's words run as they are on \
         Linux's own kernel with --engine linux --aqm \"kernel:cake bandwidth 10mbit\""
    } else if lines().any(|line| line.starts_with("qdisc ") && line.contains(": ")) {
        TC_OUTPUT
    } else if begins(&["config "]) && begins(&["option "]) || begins(&sqm) {
        SQM
    } else if ["new Simulator", "Queue/RED", "Agent/TCP"].iter().any(|mark| text.contains(mark)) {
        "a script of ns-2: `aqmlab import FILE --out link.toml` makes a scenario of its slowest link; or write its links \
         as [[link]], its queue as [aqm], which takes RED's variables by ns-2's names (thresh_, maxthresh_, linterm_), \
         and its agents as [[traffic]] with tcp = \"ns2.35\""
    } else if text.contains("ns3/") || text.contains("ns3::") || begins(&["import ns"]) {
        "a program of ns-3: `aqmlab import FILE --out link.toml` makes a scenario of its slowest link; or write its links \
         as [[link]], its queue as [aqm], which takes ns-3's attributes (MinTh, UseEcn), and its applications as \
         [[traffic]]"
    } else if begins(&["[General]", "sim-time-limit"]) {
        "a configuration of OMNeT++: write its links as [[link]], its queue as [aqm], its applications as [[traffic]]"
    } else if begins(&["#!", "mm-link", "mm-delay"]) {
        "a shell script: write the links that it makes as [[link]] or [dumbbell]"
    } else if numbers && !text.trim().is_empty() {
        "a packet-delivery trace of Mahimahi: a link follows it with rates = { file = \"FILE\" }"
    } else {
        return None;
    })
}

const TC_OUTPUT: &str =
    "what tc prints: `aqmlab import FILE --out link.toml` makes a scenario of one or of several files";
const SQM: &str = "a configuration of sqm: `aqmlab import FILE --out link.toml` makes a scenario of one or of several files";

/// Whether a line of a shell calls tc to set something.
fn is_tc(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let tc = words.next().is_some_and(|word| {
        let name = word.trim_matches(['"', '$', '{', '}']);
        name.rsplit('/').next() == Some("tc") || name == "TC"
    });
    tc && words.find(|word| !word.starts_with('-')).is_some_and(|object| {
        ["qdisc", "class", "filter"].iter().any(|full| object.len() > 1 && full.starts_with(object))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_tools_are_known_by_their_lines() {
        for (text, mark) in [
            ("#!/bin/sh\nTC=/sbin/tc\n$TC qdisc add dev $IF root handle 1: htb default 10\n", "a tc script"),
            ("  sudo tc qdisc replace dev eth0 root cake bandwidth 10mbit\n", "a tc script"),
            ("tc -s class show dev eth0", "a tc script"),
            (
                "qdisc cake 8002: dev eth0 root refcnt 2 bandwidth 10Mbit diffserv3\n Sent 0 bytes 0 pkt\n",
                "what tc prints",
            ),
            ("[{\"kind\":\"fq_codel\",\"handle\":\"8001:\",\"options\":{}}]\n", "what tc prints"),
            ("{\"start\": {}, \"intervals\": [], \"end\": {}}", "JSON"),
            ("config queue 'eth1'\n\toption enabled '1'\n\toption interface 'eth1'\n", "sqm"),
            ("UPLINK=2000\nDOWNLINK=20000\nSCRIPT=piece_of_cake.qos\n", "sqm"),
            ("sqm.@queue[0].qdisc='cake'\n", "sqm"),
            ("set ns [new Simulator]\nQueue/RED set thresh_ 5\n", "ns-2"),
            ("#include \"ns3/core-module.h\"\nint main() {}\n", "ns-3"),
            ("[General]\nnetwork = Dumbbell\nsim-time-limit = 10s\n", "OMNeT++"),
            ("#!/bin/bash\nip netns add a\n", "a shell script"),
            ("12\n13\n13\n40\n", "Mahimahi"),
        ] {
            assert!(
                recognised(text).is_some_and(|what| what.contains(mark)),
                "{text:?}: {:?}",
                recognised(text)
            );
        }
    }

    #[test]
    fn a_scenario_with_a_mistake_is_none_of_them() {
        for text in [
            "",
            "title = a tc script\n[dumbbell]\nrate = \"10 Mbit/s\"\n",
            "[aqm]\nname = cake\nframing = \"docsis\"\n",
            "# tc qdisc add dev eth0 root pie\n[aqm]\nname = pie\n",
            "[[traffic]]\nname = \"a\ncount = 2\n",
            "duration = \"10 s\n",
        ] {
            assert_eq!(recognised(text), None, "{text:?}");
        }
    }
}
