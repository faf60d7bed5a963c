//! The results of both engines have the same form, so that a program can read either.

use aqm::Time;
use fluid::{Fluid, Model, Options};
use netsim::{Series, Simulation};
use run::Column;
use scenario::Document;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The paths of all keys.
fn paths(json: &Json) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for (key, value) in json.as_object().into_iter().flatten() {
        paths.extend(self::paths(value).into_iter().map(|path| format!("{key}.{path}")));
        paths.insert(key.clone());
    }
    paths
}

/// The names of columns, in order, and their lengths.
fn shape(columns: Vec<Column>) -> Vec<(String, usize)> {
    columns.into_iter().map(|column| (column.name, column.values.len())).collect()
}

#[test]
fn results_and_series_of_both_engines_have_the_same_form() {
    for aqm in ["droptail", "lred", "pi", "rem", "red", "ared", "avq", "raqm", "blue", "red:preset=gred-i"] {
        let text = "duration = \"60 s\"\n\
            [dumbbell]\nrate = \"10 Mbit/s\"\nbuffer = \"200 packets\"\nreceiver_delay = [\"20 ms\", \"120 ms\"]\n\
            [[traffic]]\nname = \"long\"\nkind = \"ftp\"\ncount = 60\ntcp = \"newreno\"\n\
            [[traffic]]\nname = \"udp\"\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\nactive = [\"20 s\", \"40 s\"]\n\
            [[traffic]]\nname = \"short\"\nkind = \"short\"\narrival_rate = \"20 /s\"\n\
            lifetime = \"uniform(1 s, 2 s)\"\nactive = [\"30 s\", \"50 s\"]\ntcp = \"newreno\"\n";
        let mut document = Document::parse(text, "test").unwrap();
        document.set_aqm(aqm).unwrap();
        let scenario = document.check().unwrap_or_else(|problems| panic!("{problems}"));
        let mut fluid = Fluid::new(Model::of(&scenario).unwrap(), Options::default()).unwrap();
        fluid.advance(Time::MAX);
        let series = Series::new(&scenario);
        let mut packets = Simulation::new(scenario, 1, series);
        packets.advance(Time::MAX);
        let end = packets.end();
        packets.probe_mut().finish(end);
        let mut of_packets = serde_json::to_value(packets.results()).unwrap();
        // A model has no discipline that could show numbers of its own.
        of_packets.as_object_mut().unwrap().remove("counters");
        assert_eq!(paths(&fluid.results()), paths(&of_packets), "{aqm}");
        assert_eq!(shape(fluid.take_columns()), shape(packets.probe_mut().take_columns()), "{aqm}");
    }
}
