//! Checks that values which are each allowed also fit together, and that the run is feasible.

mod handover;

use crate::keys::{ALGORITHMS, BOTTLENECK, RECORDED, below};
use crate::model::estimate::{Estimate, periods};
use crate::model::{
    Buffer, Change, Clock, Distribution, Feedback, Flavour, Jitter, Link, Outage, Part, Scenario, Tcp,
    TrafficKind, Udp, Variation,
};
use crate::reader::Reader;
use crate::source::error::Problem;
use crate::tables::traffic::has;
use crate::tables::variation::OUTAGES;
use crate::tables::{
    BUFFERS, CableEntry, CellEntry, KindName, LinkEntry, Rates, Tables, TrafficEntry, WifiEntry,
};
use aqm::params::{Field, ParamError};
use aqm::unit::{Bytes, Limit, Rate, Span};
use std::collections::HashMap;

/// Most packets or updates in a run: half an hour or more, and segments are numbered with 32 bits.
const MOST_WORK: f64 = 4e9;

/// Beyond this, the floating-point clock does not resolve nanoseconds.
const LONGEST_DOUBLE: Span = Span::s(1_000_000);

/// Most bins of a series.
const MOST_BINS: u64 = 100_000_000;

/// Most rate changes of a link.
const MOST_CHANGES: u64 = 10_000_000;

/// Most clock ticks that a `rack` sender can count; it also counts microseconds.
const MOST_TICKS: u64 = 1 << 31;
const LEAST_TICK: Span = Span::us(1);

/// Most rates of a flow, which are drawn at once and take about 50 bytes each.
const MOST_RATES: u64 = 1 << 22;

/// Largest packet on any link, in bytes: that of IP.
const LARGEST: u64 = 65535;

/// The bytes of a half-duplex Ethernet that pass while a signal goes from one end to the other, at most: half a slot.
const FURTHEST: u32 = 32;

/// The highest rate of half-duplex Ethernet: at 1 Gbit/s it has other rules, and beyond it none.
const FASTEST: Rate = Rate::mbit_per_s(100);

/// A value as messages print it.
fn shown(value: &impl Field) -> String {
    value.value().to_string()
}

/// Records values that do not fit together.
pub(crate) fn scenario(tables: &Tables, scenario: &Scenario, reader: &mut Reader<'_>) {
    let general = &tables.general;
    if general.warmup >= general.duration && reader.fine(&["warmup", "duration"]) {
        let message = format!("must be less than duration = {}", shown(&general.duration));
        reader.refuse("warmup", Some(shown(&general.warmup)), message);
    }
    if scenario.clock == Clock::Double
        && general.duration > LONGEST_DOUBLE
        && reader.fine(&["duration", "clock"])
    {
        let message = format!(
            "must be at most {} with clock = \"double\", which ns-2's TCPs bring along: later it is too coarse; \
             say clock = \"integer\"",
            shown(&LONGEST_DOUBLE)
        );
        reader.refuse("duration", Some(shown(&general.duration)), message);
    }
    let steps = [
        ("response.bin", Some(tables.response.bin)),
        ("record.step", tables.record.step),
        ("record.cwnd", tables.record.cwnd),
    ];
    for (path, step) in steps {
        let Some(step) = step.filter(|_| reader.fine(&[path, "duration"])) else { continue };
        let least = general.duration.nanos().div_ceil(MOST_BINS);
        if step.nanos() < least {
            let message = format!("must be at least {} for this duration", shown(&Span::ns(least)));
            reader.refuse(path, Some(shown(&step)), message);
        }
    }
    if reader.fine(&["traffic"]) && tables.traffic.iter().all(|entry| entry.table.count == 0) {
        let (path, message) = match tables.traffic.len() {
            0 => ("", "no [[traffic]]: nothing to simulate"),
            _ => ("traffic", "no flows, every count is 0: nothing to simulate"),
        };
        reader.refuse(path, None, message);
    }
    for entry in &tables.traffic {
        times(entry, general.duration, reader);
        rates(entry, general.duration, reader);
        timers(&below(&entry.path, "tcp"), &entry.tcp, reader);
        ticks(entry, general.duration, reader);
        marks(&below(&entry.path, "tcp"), &entry.tcp, reader);
    }
    if let Some(dumbbell) = &tables.dumbbell {
        changes("dumbbell", dumbbell.changes.as_deref(), dumbbell.changes_period, general.duration, reader);
        outages("dumbbell", dumbbell.all_outages(), dumbbell.changes_period, general.duration, reader);
        let least = handover::least(&dumbbell.delay, dumbbell.handover.as_ref());
        varied("dumbbell", &tables.variations, least, general.duration, reader);
        handover::check(
            "dumbbell",
            dumbbell.handover.as_ref(),
            (&dumbbell.scheduled(), &tables.losses),
            general.duration,
            reader,
        );
        recorded("dumbbell", &tables.recorded, general.duration, reader);
        let is_own = |name: &str| tables.links.iter().any(|entry| entry.table.name == name);
        let shared = scenario.links.iter().step_by(2).filter(|link| link.half_duplex.is_some());
        let hosts = shared.filter(|link| !is_own(&link.name));
        let least = hosts.map(|link| link.delay.least()).min().unwrap_or_default();
        let rate = dumbbell.access_rate(&tables.recorded);
        shares(
            ("dumbbell.access_half_duplex", "access_rate"),
            dumbbell.access_half_duplex,
            (rate, least),
            reader,
        );
    }
    for LinkEntry { path, table, losses, recorded: rates, variations, .. } in &tables.links {
        changes(path, table.changes.as_deref(), table.changes_period, general.duration, reader);
        outages(path, table.all_outages(), table.changes_period, general.duration, reader);
        let least = handover::least(&table.delay, table.handover.as_ref());
        varied(path, variations, least, general.duration, reader);
        handover::check(
            path,
            table.handover.as_ref(),
            (&table.scheduled(), losses),
            general.duration,
            reader,
        );
        recorded(path, rates, general.duration, reader);
        let at = below(path, "half_duplex");
        shares((&at, "rate"), table.half_duplex, (table.rate, table.delay.least()), reader);
        let others = [
            ("changes", table.changes.is_some()),
            ("rates", table.rates.is_some()),
            ("reverse_rates", table.reverse_rates.is_some()),
            // A recording fills in its mean.
            (
                "reverse_rate",
                table.reverse_rates.is_none() && table.reverse_rate.is_some_and(|rate| rate != table.rate),
            ),
            ("framing", table.framing.is_some()),
            ("handover", table.handover.is_some()),
            ("outages", table.outages.is_some()),
            ("reverse_outages", table.reverse_outages.is_some()),
        ];
        for (key, _) in others.iter().filter(|(_, given)| *given && table.half_duplex.is_some()) {
            let message =
                "`half_duplex` is Ethernet, of one rate in both directions: remove one of the two keys";
            reader.refuse(&below(path, key), None, message);
        }
        for WifiEntry { path, wifi, .. } in &tables.wifis {
            let first = wifi.iter().flat_map(|(_, rates)| rates.iter().flatten()).next().cloned();
            recorded(path, &[first, None], general.duration, reader);
        }
        for CellEntry { path, cell, .. } in &tables.cells {
            // The recording of all users is one.
            for rates in cell.iter().flat_map(|(_, rates)| rates.first()) {
                let rates = rates.each_ref().map(|rate| rate.recorded.clone());
                recorded(path, &rates, general.duration, reader);
            }
        }
    }
    buffers(tables, scenario, reader);
}

/// Checks that a link does not change its rate too often.
fn changes(
    path: &str,
    changes: Option<&[Change]>,
    period: Option<Span>,
    duration: Span,
    reader: &mut Reader<'_>,
) {
    let at = below(path, "changes_period");
    let Some(period) = period.filter(|_| reader.fine(&[&at, "duration"])) else { return };
    // `rate` adds one change to each round.
    let most = MOST_CHANGES / (changes.unwrap_or_default().len() as u64 + 1);
    let least = duration.nanos().div_ceil(most.max(1));
    if period.nanos() < least {
        let message = format!("must be at least {} for this duration", shown(&Span::ns(least)));
        reader.refuse(&at, Some(shown(&period)), message);
    }
}

/// Checks that outages begin within the run, and not too often.
fn outages(
    path: &str,
    outages: [&[Outage]; 2],
    period: Option<Span>,
    duration: Span,
    reader: &mut Reader<'_>,
) {
    let back = Some(outages[1]).filter(|back| *back != outages[0]).unwrap_or_default();
    for (key, outages) in OUTAGES.into_iter().zip([outages[0], back]) {
        let at = below(path, key);
        if !reader.fine(&[&at, "duration"]) {
            continue;
        }
        if let Some(late) = outages.iter().find(|outage| outage.until > duration) {
            let message = format!("must end before the run does, duration = {}", shown(&duration));
            reader.refuse(&at, Some(shown(late)), message);
        }
        let rounds = period.map_or(1.0, |period| duration.secs() / period.secs());
        if rounds * outages.len() as f64 > MOST_CHANGES as f64 {
            let message = format!("more than {MOST_CHANGES:e} in this duration: raise changes_period");
            reader.refuse(&at, None, message);
        }
    }
}

/// Checks that what varies in the delays of a link fits it and the run; the least of the link's own delays is `own`.
fn varied(path: &str, variations: &[Variation; 2], own: Span, duration: Span, reader: &mut Reader<'_>) {
    for (i, variation) in variations.iter().enumerate() {
        let key = |name: &str| below(path, &format!("{}{name}", ["", "reverse_"][i]));
        let delays = key("delays");
        if let Some(late) = variation.delays.iter().find(|point| point.since >= duration)
            && reader.fine(&[&delays, "duration"])
            && (i == 0 || variation.delays != variations[0].delays)
        {
            let message = format!("must begin before the run ends, duration = {}", shown(&duration));
            reader.refuse(&delays, Some(shown(late)), message);
        }
        let least = variation.least(own);
        let (jitter, reorder) = (below(&key("jitter"), "deviation"), key("reorder"));
        if let Some(Jitter { deviation, .. }) = &variation.jitter
            && *deviation > least
            && reader.fine(&[&jitter, &delays, &below(path, "delay")])
        {
            let message = format!(
                "must be at most the link's least delay, {}: lower it, or raise `delay`",
                shown(&least)
            );
            reader.refuse(&jitter, Some(shown(deviation)), message);
        }
        if variation.reorder.is_some() && least == Span::ZERO && reader.fine(&[&reorder, &delays]) {
            let message = "needs a `delay` above 0, which the packets skip that overtake others";
            reader.refuse(&reorder, None, message);
        }
    }
}

/// Checks that a medium that both directions of a link share is slow and short enough: its ends must notice that they collide
/// while they send the shortest frame, and no packet arrives before its signal. `key` is that of the rate.
fn shares(
    (path, key): (&str, &str),
    signal: Option<Span>,
    (rate, delay): (Rate, Span),
    reader: &mut Reader<'_>,
) {
    let Some(signal) = signal.filter(|_| reader.fine(&[path])) else { return };
    let most = rate.transmission(FURTHEST);
    if rate > FASTEST {
        let message =
            format!("needs a rate of at most {}, not {}: set `{key}`", shown(&FASTEST), shown(&rate));
        reader.refuse(path, Some(shown(&signal)), message);
    } else if signal > most {
        let message =
            format!("must be at most {}, half of Ethernet's slot, at {}", shown(&most), shown(&rate));
        reader.refuse(path, Some(shown(&signal)), message);
    } else if signal > delay {
        let message = format!("must be at most the link's delay, {}, of which it is a part", shown(&delay));
        reader.refuse(path, Some(shown(&signal)), message);
    }
}

/// Checks that recorded rates do not change too often.
fn recorded(path: &str, recorded: &[Option<Rates>; 2], duration: Span, reader: &mut Reader<'_>) {
    for (key, rates) in RECORDED.into_iter().zip(recorded) {
        let Some(rates) = rates.as_ref().filter(|_| reader.fine(&["duration"])) else { continue };
        let changes = duration.secs() / rates.period.secs() * rates.changes.len() as f64;
        if changes > MOST_CHANGES as f64 {
            let message = format!(
                "{changes:.1e} changes in this duration, at most {MOST_CHANGES:e}: raise its `bin`, leave out lines, or \
                 lower the duration"
            );
            reader.refuse(&below(path, key), None, message);
        }
    }
}

/// Checks that the bounds of the retransmission time-out fit together.
fn timers(path: &str, tcp: &Tcp, reader: &mut Reader<'_>) {
    let [min, max] = ["min_rto", "max_rto"].map(|key| below(path, key));
    if tcp.max_rto < tcp.min_rto && reader.fine(&[&min, &max]) {
        let message = format!("must be at least min_rto = {}", shown(&tcp.min_rto));
        reader.refuse(&max, Some(shown(&tcp.max_rto)), message);
    }
}

/// Checks that a `rack` sender can count the ticks of the run, and of its timers.
fn ticks(entry: &TrafficEntry, duration: Span, reader: &mut Reader<'_>) {
    let tcp = &entry.tcp;
    let [tick, max] = ["tcp.tick", "tcp.max_rto"].map(|key| below(&entry.path, key));
    let counts = tcp.flavour == Flavour::Rack && has(entry.table.kind, "tcp");
    if !counts || !reader.fine(&[&tick, &max, "duration"]) {
        return;
    }
    let longest = Span::ns((duration + tcp.max_rto * 2).nanos().div_ceil(MOST_TICKS));
    let least = longest.max(LEAST_TICK);
    if tcp.tick < least {
        let message = format!("must be at least {} for flavour = \"rack\" and this duration", shown(&least));
        reader.refuse(&tick, Some(shown(&tcp.tick)), message);
    }
}

/// Checks that the congestion control gets the marks that it requires.
fn marks(path: &str, tcp: &Tcp, reader: &mut Reader<'_>) {
    let [ecn, congestion, feedback] = ["ecn", "congestion", "ecn_feedback"].map(|key| below(path, key));
    let classic = tcp.ecn_feedback == Feedback::Classic;
    if tcp.congestion.needs_marks() && !tcp.ecn && reader.fine(&[&ecn, &congestion]) {
        let message = format!("must be true for congestion = {}, which counts marks", shown(&tcp.congestion));
        reader.refuse(&ecn, Some(shown(&tcp.ecn)), message);
    } else if tcp.l4s && !tcp.ecn && reader.fine(&[&ecn, &below(path, "l4s")]) {
        reader.refuse(&ecn, Some(shown(&tcp.ecn)), "must be true for l4s = true, which is an ECN codepoint");
    } else if tcp.congestion.counts_marks() && classic && reader.fine(&[&feedback, &congestion]) {
        let message = format!("must not be \"classic\" for congestion = {}", shown(&tcp.congestion));
        reader.refuse(&feedback, Some(shown(&tcp.ecn_feedback)), message);
    } else if !classic && !tcp.ecn && reader.fine(&[&ecn, &feedback]) {
        let message = format!("must be true for ecn_feedback = {}", shown(&tcp.ecn_feedback));
        reader.refuse(&ecn, Some(shown(&tcp.ecn)), message);
    }
}

/// Checks that flows start before the run ends and stop after they start.
fn times(entry: &TrafficEntry, duration: Span, reader: &mut Reader<'_>) {
    let [start_path, stop_path, active_path] = ["start", "stop", "active"].map(|key| below(&entry.path, key));
    let (start, mut stop, mut begin) = (entry.table.start, entry.table.stop, Span::ZERO);
    let mut stop_at = (&stop_path, stop.as_ref().map(shown));
    if let Some(active) = entry.table.active.as_ref().filter(|_| reader.fine(&[&active_path])) {
        let message = match active[..] {
            [from, to] if from < to && (from < duration || !reader.fine(&["duration"])) => {
                (begin, stop) = (from, Some(to));
                stop_at = (&active_path, Some(shown(active)));
                None
            }
            [from, to] if from < to => {
                Some(format!("must begin before the end of the run, duration = {}", shown(&duration)))
            }
            [_, _] => Some("must go from an earlier to a later time".to_owned()),
            _ => Some("must be two times, from when and to when".to_owned()),
        };
        if let Some(message) = message {
            return reader.refuse(&active_path, Some(shown(active)), message);
        }
    }
    let late = match start {
        Distribution::Uniform(low, high) => begin + low >= duration || begin + high > duration,
        Distribution::Fixed(time) | Distribution::Exponential(time) | Distribution::Pareto(time, _) => {
            begin + time >= duration
        }
    };
    if late && reader.fine(&[&start_path, "duration"]) {
        let message = format!("must be before the end of the run, duration = {}", shown(&duration));
        reader.refuse(&start_path, Some(shown(&start)), message);
    }
    if stop.is_some_and(|stop| stop <= begin + start.least()) && reader.fine(&[&start_path, stop_at.0]) {
        let message = format!("must be after start = {}", shown(&start));
        reader.refuse(stop_at.0, stop_at.1, message);
    }
}

/// Checks that not too many rates of fractional Gaussian noise are drawn at once.
fn rates(entry: &TrafficEntry, duration: Span, reader: &mut Reader<'_>) {
    let (step, path) = (entry.table.step, below(&entry.path, "step"));
    let least = duration.nanos().div_ceil(MOST_RATES);
    if entry.table.kind == KindName::Fgn && step.nanos() < least && reader.fine(&[&path, "duration"]) {
        let message = format!("must be at least {} for this duration", shown(&Span::ns(least)));
        reader.refuse(&path, Some(shown(&step)), message);
    }
}

/// Checks that every buffer holds a packet, and that a packet with a link's overhead is not too large.
fn buffers(tables: &Tables, scenario: &Scenario, reader: &mut Reader<'_>) {
    let Some(packet) = scenario.links.first().map(|link| link.packet.0 - link.overhead.0) else { return };
    if !reader.fine(&["traffic"]) {
        return;
    }
    let dumbbell = tables.dumbbell.iter().map(|dumbbell| ("dumbbell", dumbbell.overhead));
    let links = tables.links.iter().map(|LinkEntry { path, table, .. }| (&**path, table.overhead));
    for (path, overhead) in dumbbell.chain(links) {
        let at = below(path, "overhead");
        if packet + overhead.0 > LARGEST && overhead.0 > 0 && reader.fine(&[&at]) {
            let message = format!("must leave the largest packet, {packet} B, with at most {LARGEST} B");
            reader.refuse(&at, Some(shown(&overhead)), message);
        }
    }
    let entries = tables.links.iter().map(|entry| (&*entry.table.name, entry)).collect();
    for link in &scenario.links {
        let (Limit::Bytes(bytes) | Limit::BytesBefore(bytes)) = link.buffer else { continue };
        let (path, buffer) = match star(link, tables) {
            Some((path, way, buffers)) => (below(path, ["buffer", "reverse_buffer"][way]), buffers[way]),
            None => said(&link.name, tables, &entries),
        };
        if !reader.fine(&[&path]) {
            continue;
        }
        // The reader has checked the size of what the file says in bytes.
        let amount = match buffer {
            Buffer::Limit(_) => String::new(),
            Buffer::Time(_) | Buffer::Bdp(_) => format!("; here it is {}", shown(&Bytes(bytes))),
        };
        if bytes < link.packet.0 {
            let message = format!("must hold the largest packet, {}{amount}", shown(&link.packet));
            reader.refuse(&path, Some(shown(&buffer)), message);
        } else if !BUFFERS.contains(bytes as f64) {
            let message = format!("must be at most {:e} bytes{amount}", BUFFERS.high);
            reader.refuse(&path, Some(shown(&buffer)), message);
        }
    }
}

/// The entry of the wireless LAN, the cell or the cable network of which a link is a part, the link's direction, and the
/// entry's buffers.
fn star<'a>(link: &Link, tables: &'a Tables) -> Option<(&'a str, usize, [Buffer; 2])> {
    if let Some(place) = link.cell {
        let CellEntry { path, table, .. } = &tables.cells[place.cell];
        return Some((path, place.way, [table.buffer, table.reverse_buffer]));
    }
    if let Some(subscriber) = link.subscriber {
        let CableEntry { path, table, .. } = &tables.cables[subscriber.cable];
        return Some((path, subscriber.way, [table.buffer, table.reverse_buffer]));
    }
    let air = link.wifi?;
    let WifiEntry { path, table, .. } = &tables.wifis[air.lan];
    let way = usize::from(matches!(air.part, Part::Up(_)));
    Some((path, way, [table.buffer, table.reverse_buffer]))
}

/// What the file says about the buffer of a link, and where.
fn said(link: &str, tables: &Tables, entries: &HashMap<&str, &LinkEntry>) -> (String, Buffer) {
    let cable = link.trim_end_matches(":reverse");
    let (path, buffer, reverse) = match (entries.get(cable), &tables.dumbbell) {
        (Some(LinkEntry { path, table, .. }), _) => (&**path, ("buffer", table.buffer), table.reverse_buffer),
        (None, Some(table)) if link == BOTTLENECK => ("dumbbell", ("buffer", table.buffer), None),
        (None, Some(table)) if cable == BOTTLENECK => {
            let auto = match tables.aqms[1] {
                Some(_) => ("buffer", table.buffer),
                None => ("access_buffer", table.access_buffer),
            };
            ("dumbbell", auto, table.reverse_buffer)
        }
        (None, Some(table)) => ("dumbbell", ("access_buffer", table.access_buffer), None),
        (None, None) => {
            unreachable!("a link is of a dumbbell, of a star or of its own table")
        }
    };
    let (key, buffer) =
        reverse.filter(|_| link != cable).map_or(buffer, |reverse| ("reverse_buffer", reverse));
    (below(path, key), buffer)
}

/// Records a problem for each algorithm that does not fit its link.
pub(crate) fn ports(tables: &Tables, scenario: &Scenario, reader: &mut Reader<'_>) {
    for link in &scenario.links {
        let Some(aqm) = &link.aqm else { continue };
        if let Err(ParamError::Invalid { name, found, allowed }) =
            aqm.check_on(&link.port(link.delay.least()))
        {
            let cable = link.cable();
            let key = if cable == link.name { "aqm" } else { "reverse_aqm" };
            let path = match star(link, tables) {
                Some((path, way, _)) => below(path, ALGORITHMS[way]),
                None if tables.dumbbell.is_some() && cable == BOTTLENECK => key.to_owned(),
                None => format!("link.{cable}.{key}"),
            };
            reader.refuse(&below(&path, &name), Some(found), format!("must be {allowed}"));
        }
    }
}

/// Records a problem if an otherwise correct scenario takes too much work.
pub(crate) fn work(tables: &Tables, scenario: &Scenario, estimate: &Estimate, reader: &mut Reader<'_>) {
    debug_assert_eq!(reader.problems, Vec::<Problem>::new());
    let duration = scenario.general.duration;
    if estimate.packets > MOST_WORK {
        let packets = estimate.packets;
        let keys = what_to_lower(tables, scenario, estimate);
        let message = format!(
            "too much work: about {packets:.1e} packets would pass the links, at most {MOST_WORK:e} may; \
             lower duration ({duration}) or {keys}"
        );
        reader.refuse("", None, message);
    }
    let aqms = scenario.links.iter().filter_map(|link| {
        let period = link.aqm.as_ref()?.build(&link.port(link.delay.least())).period()?;
        Some((format!("the aqm of {} would act", link.name), period))
    });
    for (what, period) in aqms.chain(periods(scenario)) {
        let ticks = duration.secs() / period.secs();
        if ticks > MOST_WORK {
            let message = format!(
                "too much work: {what} {ticks:.1e} times, every {period}, at most {MOST_WORK:e} may; \
                 lower duration ({duration})"
            );
            reader.refuse("", None, message);
        }
    }
}

/// The keys, with their values, that cause most of the work.
fn what_to_lower(tables: &Tables, scenario: &Scenario, estimate: &Estimate) -> String {
    let traffic = &scenario.traffic[estimate.heaviest];
    let link = &scenario.links[estimate.narrowest];
    let name = &traffic.name;
    let count = format!("traffic.{name}.count ({})", traffic.count);
    match &traffic.kind {
        TrafficKind::Udp(
            Udp::Cbr { rate, .. } | Udp::OnOff { rate, .. } | Udp::Poisson(rate) | Udp::Fgn { rate, .. },
            _,
        ) => {
            format!("traffic.{name}.rate ({rate}) or {count}")
        }
        TrafficKind::Transfer(_, transfer) => format!("traffic.{name}.size ({}) or {count}", transfer.size),
        TrafficKind::Short(_, short) => match tables.traffic[estimate.heaviest].table.arrival_rate {
            Some(rate) => format!("traffic.{name}.arrival_rate ({rate}) or {count}"),
            None => format!("raise traffic.{name}.interarrival ({}) or lower {count}", short.interarrival),
        },
        TrafficKind::Web(..) | TrafficKind::Udp(..) | TrafficKind::Program(_) => count,
        TrafficKind::Ftp(_) => {
            let cable = link.cable();
            if link.wifi.is_some() || link.cell.is_some() || link.subscriber.is_some() {
                return count;
            }
            let table = match tables.links.iter().any(|entry| entry.table.name == cable) {
                true => format!("link.{cable}."),
                false if cable == BOTTLENECK => "dumbbell.".to_owned(),
                false => "dumbbell.access_".to_owned(),
            };
            if link.handover.as_ref().is_some_and(|handover| handover.rate.is_some()) {
                return format!("the rates in {table}handover");
            }
            match (link.changes.is_empty(), link.recorded) {
                (true, _) => format!("{table}rate ({})", link.rate),
                (_, false) => format!("the rates in {table}changes"),
                (_, true) => format!("the rates in {table}rates"),
            }
        }
    }
}
