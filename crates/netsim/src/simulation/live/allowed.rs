//! The changes that a live run can follow.

use scenario::Scenario;
use scenario::model::{Change, Clock, Extent, Link, Stack, Traffic, TrafficKind, Udp, Video, Web};

/// The schedule of the rates of each link.
pub(in crate::simulation) fn schedules(scenario: &Scenario) -> Vec<Vec<Change>> {
    scenario.links.iter().map(|link| link.changes.clone()).collect()
}

/// Why a run of one scenario cannot follow another, if it cannot.
pub(in crate::simulation) fn may_follow(
    ours: &Scenario,
    schedules: &[Vec<Change>],
    theirs: &Scenario,
) -> Result<(), String> {
    if theirs.clock != Clock::Integer || ours.clock != Clock::Integer {
        return Err("clock: only a run on the integer clock can follow".to_owned());
    }
    let mut rest = theirs.clone();
    rest.discipline.clone_from(&ours.discipline);
    rest.general.title.clone_from(&ours.general.title);
    if rest.links.len() != ours.links.len() || rest.nodes != ours.nodes {
        return Err("the network has other links: that needs a new run".to_owned());
    }
    for ((theirs, ours), schedule) in rest.links.iter_mut().zip(&ours.links).zip(schedules) {
        let name = &ours.name;
        if theirs.aqm.is_some() != ours.aqm.is_some() {
            return Err(format!("link {name}: whether its queue is measured needs a new run"));
        }
        if theirs.changes != *schedule || !schedule.is_empty() && theirs.rate != ours.rate {
            return Err(format!(
                "link {name}: another rate beside a schedule, or another schedule, needs a new run"
            ));
        }
        if theirs.delay != ours.delay && ours.variation.is_some() {
            return Err(format!("link {name}: another delay beside one that varies needs a new run"));
        }
        if !ours.outages.is_empty() && theirs.rate != ours.rate {
            return Err(format!("link {name}: another rate beside outages needs a new run"));
        }
        *theirs = as_followed(theirs, ours);
        if theirs != ours {
            return Err(format!("link {name}: that needs a new run"));
        }
    }
    may_follow_traffic(&ours.traffic, &rest.traffic)?;
    rest.traffic.clone_from(&ours.traffic);
    if rest == *ours { Ok(()) } else { Err("that needs a new run".to_owned()) }
}

/// A link with the values of another where a run can follow.
fn as_followed(link: &Link, values: &Link) -> Link {
    // The usual packet is the largest of the entries with flows.
    let Link { rate, delay, loss, buffer, aqm, changes, packet, .. } = values.clone();
    Link { rate, delay, loss, buffer, aqm, changes, packet, ..link.clone() }
}

/// Why a run with some traffic cannot follow other traffic, if it cannot.
fn may_follow_traffic(ours: &[Traffic], theirs: &[Traffic]) -> Result<(), String> {
    if !ours.iter().map(|entry| &entry.name).eq(theirs.iter().map(|entry| &entry.name)) {
        return Err("traffic: other entries, or another order of them, need a new run".to_owned());
    }
    for (ours, theirs) in ours.iter().zip(theirs) {
        if let Some(key) = fixed_key(ours, theirs) {
            return Err(format!("traffic.{}.{key}: that needs a new run", ours.name));
        }
    }
    Ok(())
}

/// The first key whose value differs though it may not.
fn fixed_key(a: &Traffic, b: &Traffic) -> Option<&'static str> {
    let keys = [
        ("from", a.from != b.from),
        ("to", a.to != b.to),
        ("packet_size", a.packet_size != b.packet_size),
        ("send_jitter", a.send_jitter != b.send_jitter),
        ("class", a.class != b.class),
        ("dscp", a.dscp != b.dscp),
        ("active", a.begin != b.begin),
        ("start", a.start != b.start),
        ("stop", a.stop != b.stop),
    ];
    first(&keys).or_else(|| fixed_key_of_kind(&a.kind, &b.kind))
}

fn fixed_key_of_kind(a: &TrafficKind, b: &TrafficKind) -> Option<&'static str> {
    match (a, b) {
        (TrafficKind::Ftp(a), TrafficKind::Ftp(b)) => first(&[("tcp", a != b)]),
        (TrafficKind::Transfer(a, of_a), TrafficKind::Transfer(b, of_b)) => first(&[
            ("tcp", a != b),
            ("size", of_a.size != of_b.size),
            ("request", of_a.request != of_b.request),
        ]),
        (TrafficKind::Short(a, of_a), TrafficKind::Short(b, of_b)) => {
            let extent = match of_a.extent {
                Extent::Lifetime(_) => "lifetime",
                Extent::Size(_) => "size",
            };
            first(&[("tcp", a != b), (extent, of_a.extent != of_b.extent)])
        }
        (TrafficKind::Web(a, of_a), TrafficKind::Web(b, of_b)) => first(&[
            ("kind", of_a.video.is_some() != of_b.video.is_some()),
            ("tcp", a != b),
            ("connections", of_a.connections != of_b.connections),
            ("objects", of_a.objects != of_b.objects),
            ("request", of_a.request != of_b.request),
            ("think", of_a.think != of_b.think),
            ("bitrates", video(of_a, |video| &video.bitrates) != video(of_b, |video| &video.bitrates)),
            ("chunk", video(of_a, |video| &video.chunk) != video(of_b, |video| &video.chunk)),
            ("playback_buffer", video(of_a, |video| &video.buffer) != video(of_b, |video| &video.buffer)),
            ("size", of_a.size != of_b.size),
        ]),
        (TrafficKind::Udp(a, ecn), TrafficKind::Udp(b, other)) => {
            first(&[("kind", !are_of_one_kind(a, b)), ("ecn", ecn != other)])
                .or_else(|| fixed_key_of_udp(a, b))
        }
        _ => Some("kind"),
    }
}

/// A property of the video that a client plays, if it does.
fn video<T>(web: &Web, of: impl Fn(&Video) -> &T) -> Option<&T> {
    web.video.as_deref().map(of)
}

fn are_of_one_kind(a: &Udp, b: &Udp) -> bool {
    let voice = |udp: &Udp| matches!(udp, Udp::Frames { voice: Some(_), .. });
    std::mem::discriminant(a) == std::mem::discriminant(b) && voice(a) == voice(b)
}

fn fixed_key_of_udp(a: &Udp, b: &Udp) -> Option<&'static str> {
    match (a, b) {
        (Udp::Fgn { hurst, deviation, step, .. }, Udp::Fgn { hurst: h, deviation: d, step: s, .. }) => {
            first(&[("hurst", hurst != h), ("deviation", deviation != d), ("step", step != s)])
        }
        (Udp::Cbr { burst, .. }, Udp::Cbr { burst: other, .. }) => first(&[("pacing_burst", burst != other)]),
        (Udp::Trace(a), Udp::Trace(b)) => first(&[("file", a != b)]),
        (Udp::Stack(a), Udp::Stack(b)) => {
            let key = match (&a.stack, &b.stack) {
                (Stack::Library(a), Stack::Library(b)) if a.content == b.content => "options",
                (_, Stack::Library(_)) => "file",
                (_, Stack::Quinn(_)) => "congestion",
            };
            first(&[(key, a.stack != b.stack), ("size", a.size != b.size)])
        }
        (Udp::Tfrc(a), Udp::Tfrc(b)) => first(&[
            ("damping", a.damping != b.damping),
            ("history_discounting", a.discounting != b.discounting),
        ]),
        _ => None,
    }
}

/// The first of these keys whose values differ.
fn first(keys: &[(&'static str, bool)]) -> Option<&'static str> {
    keys.iter().find(|(_, differ)| *differ).map(|(key, _)| *key)
}
