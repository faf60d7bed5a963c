//! `[[cell]]`: the links that it makes, and tables that are refused.

use aqm::aqm::AnyParams;
use aqm::unit::{Limit, Rate, Span};
use scenario::model::{Place, Sharing};
use scenario::{Document, Scenario};
use std::fs;

const GOOD: &str = "\
[[link]]
from = \"server\"
to = \"base\"
[[cell]]
name = \"cell\"
base = \"base\"
users = [\"phone\", \"car\"]
cqi = [15, 7]
[[traffic]]
from = \"server\"
to = [\"phone\", \"car\"]
";

fn checked(text: &str) -> Result<Scenario, String> {
    let document = Document::parse(text, "x.toml").map_err(|problems| problems.to_string())?;
    document.check().map_err(|problems| problems.to_string())
}

fn with(line: &str) -> String {
    GOOD.replace("cqi = [15, 7]\n", &format!("{line}\n"))
}

#[test]
fn each_user_has_a_link_from_the_base_station_and_back() {
    let scenario = checked(&with("cqi = [15, 7]\nreverse_aqm = \"codel\"\nbuffer = \"77 packets\"")).unwrap();
    let names: Vec<&str> = scenario.links.iter().map(|link| &*link.name).collect();
    let expected = [
        "server-base",
        "server-base:reverse",
        "cell-phone",
        "cell-phone:reverse",
        "cell-car",
        "cell-car:reverse",
    ];
    assert_eq!(names, expected);
    // 106 blocks of 168 symbols in 1 ms, of which 86 and 92 of 100 are usable, with 6·948/1024 and 4·378/1024 bits.
    let rates = [2, 3, 4, 5].map(|i| scenario.links[i].rate);
    assert_eq!(rates, [85_069_372, 91_004_445, 22_613_377, 24_191_055].map(Rate::bit_per_s));
    let place = |user, way| Some(Place { cell: 0, user, way });
    let places = [None, None, place(0, 0), place(0, 1), place(1, 0), place(1, 1)];
    assert_eq!(scenario.links.iter().map(|link| link.cell).collect::<Vec<_>>(), places);
    let aqms: Vec<_> = scenario.links.iter().map(|link| link.aqm.as_ref().map(AnyParams::name)).collect();
    let (droptail, codel) = (Some("droptail"), Some("codel"));
    assert_eq!(aqms, [None, None, droptail, codel, droptail, codel]);
    assert_eq!([2, 3].map(|i| scenario.links[i].buffer), [77, 1000].map(Limit::Packets));
    assert_eq!((scenario.observed, &*scenario.discipline), (2, "droptail"));
    let cell = &scenario.cells[0];
    assert_eq!((cell.blocks, cell.scheduler, cell.pattern.len()), (106, Sharing::ProportionalFair, 1));
}

#[test]
fn quality_wanders_within_the_table() {
    let scenario = checked(&with("cqi = [15, 2]\nspread = 2\ntdd = \"DDDSU\"\nslot = \"0.5 ms\"")).unwrap();
    let cell = &scenario.cells[0];
    let reached = |user: usize| [0, 1].map(|way: usize| cell.users[user][way].rates.len());
    assert_eq!([reached(0), reached(1)], [[3, 3], [4, 4]]);
    assert_eq!((cell.share(0), cell.share(1)), (Span::ns(833_333), Span::us(2500)));
    let rates = &cell.users[0][0].rates;
    let mean = rates.iter().map(|rate| rate.bits()).sum::<f64>() / 3.0;
    assert!(rates.is_sorted() && (scenario.links[2].rate.bits() - mean).abs() < 1.0);
}

#[test]
fn users_begin_at_other_places_of_a_recording() {
    let folder = std::env::temp_dir().join(format!("aqmlab-cell-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("drive.csv");
    fs::write(&file, "time,rate_mbps\n0,10\n1,20\n2,30\n3,0\n").unwrap();
    let path = file.display();
    let scenario =
        checked(&with(&format!("rates = {{ file = {:?} }}\nreverse_cqi = 7", path.to_string()))).unwrap();
    let rates = |link: usize| [0, 1, 2, 3].map(|s| scenario.links[link].rate_at(Span::s(s)).bits() / 1e6);
    assert_eq!((rates(2), rates(4)), ([10.0, 20.0, 30.0, 0.0], [30.0, 0.0, 10.0, 20.0]));
    assert_eq!((scenario.links[2].rate, scenario.links[3].changes.len()), (Rate::mbit_per_s(15), 0));
    let twice = checked(&with(&format!("rates = {{ file = {:?} }}\ncqi = 7", path.to_string()))).unwrap_err();
    assert!(twice.ends_with("cell.cell.cqi: `rates` is given as well: remove one of them"), "{twice}");
    let up = checked(&with(&format!("rates = {{ file = {:?} }}", path.to_string()))).unwrap_err();
    assert_eq!(
        up,
        "x.toml:4: cell.cell.reverse_cqi: missing: phone has no rate up; give one CQI for all users or one for each, or \
         `reverse_rates`"
    );
    let lossy = checked(&with(&format!(
        "rates = {{ file = {:?}, loss = \"x\" }}\nreverse_cqi = 7",
        path.to_string()
    )));
    assert!(
        lossy.unwrap_err().contains("cell.cell.rates.loss = \"x\": a cell has its own delays and losses")
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_log_of_a_phone_is_read_as_it_is() {
    // The form of the logs of Raca and others (MMSys 2020): dates, several lines of one time, kbit/s without a unit.
    let log = "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,DL_bitrate,\
               UL_bitrate,State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,PINGLOSS,CELLHEX,NODEHEX,LACHEX,RAWCELLID,NRxRSRP,NRxRSRQ\n\
               2020.01.31_23.59.58,-8.0,51.0,0,B,11,5G,-101,-15,1.0,11,-90,50000,20,D,-,-,-,-,-,B,A1,9C,108,-106.0,-11.0\n\
               2020.01.31_23.59.59,-8.0,51.0,0,B,11,5G,-101,-15,1.0,11,-90,10000,20,D,-,-,-,-,-,B,A1,9C,108,-106.0,-11.0\n\
               2020.01.31_23.59.59,-8.0,51.0,0,B,11,5G,-101,-15,-,11,-,30000,20,D,-,-,-,-,-,B,A1,9C,108,-,-\n\
               2020.02.01_00.00.01,-8.0,51.0,0,B,11,5G,-101,-15,1.0,11,-90,0,0,I,-,-,-,-,-,B,A1,9C,108,-106.0,-11.0\n";
    let file = std::env::temp_dir().join(format!("aqmlab-phone-{}.csv", std::process::id()));
    fs::write(&file, log).unwrap();
    let rates = format!(
        "rates = {{ file = {:?}, column = \"DL_bitrate\", unit = \"1 kbit/s\" }}\nreverse_cqi = 7",
        file.display().to_string()
    );
    let scenario = checked(
        &with(&rates)
            .replace("\"phone\", \"car\"", "\"phone\"")
            .replace("to = [\"phone\"]", "to = \"phone\""),
    )
    .unwrap();
    fs::remove_file(&file).unwrap();
    let changes: Vec<_> =
        scenario.links[2].changes.iter().map(|change| (change.at.secs(), change.rate.bits() / 1e6)).collect();
    assert_eq!(changes, [(0.0, 50.0), (1.0, 20.0), (3.0, 0.0)]);
    assert_eq!(scenario.links[2].changes_period, Some(Span::s(5)));
    assert!(scenario.remarks[0].contains("1 line has the time of the line before"), "{:?}", scenario.remarks);
}

#[test]
fn an_algorithm_in_place_of_another_goes_to_the_base_station() {
    let mut document = Document::parse(&with("cqi = 3\naqm = \"droptail\""), "x.toml").unwrap();
    document.set_aqm("codel:target=20 ms").unwrap();
    document.set_text("cell.cell.cqi", "9").unwrap();
    let scenario = document.check().unwrap();
    assert_eq!((&*scenario.discipline, &*scenario.links[2].name), ("codel", "cell-phone"));
    // What it says in full has the same meaning.
    let again = Document::parse(&document.to_toml(), "x.toml").unwrap().check().unwrap();
    assert_eq!(again, scenario);
    let json = document.to_json().unwrap();
    assert_eq!(
        (&json["cell"][0]["aqm"]["name"], json["cell"][0]["cqi"].to_string()),
        (&"codel".into(), "[9]".into())
    );
}

#[test]
fn what_does_not_fit_together_is_refused_with_its_cure() {
    for (lines, message) in [
        (
            "",
            "x.toml:4: cell.cell.cqi: missing: phone has no rate down; give one CQI for all users or one for each, or `rates`",
        ),
        (
            "cqi = [1, 2, 3]",
            "x.toml:8: cell.cell.cqi: 3 values, but 2 users: give one for all or one for each",
        ),
        (
            "cqi = 16",
            "x.toml:8: cell.cell.cqi = 16: must be a list, each a whole number in [1, 15] (or \"auto\")",
        ),
        (
            "cqi = 1\nerror = [0.1, 0.2, 0.3]",
            "x.toml:9: cell.cell.error: 3 values, but 2 users: give one for all or one for each",
        ),
        (
            "cqi = 1\nslot = \"0.25 ms\"",
            "x.toml:9: cell.cell.slot = \"250 us\": must be \"1 ms\" or \"500 us\"",
        ),
        (
            "cqi = 1\nwidth = 100",
            "x.toml:9: cell.cell.width = 100: must be one of 5, 10, 15, 20, 25, 30, 40, 50 MHz for slot = \"1 ms\"",
        ),
        (
            "cqi = 1\ntdd = \"DDS\"",
            "x.toml:9: cell.cell.tdd = \"DDS\": must be at most 40 letters D, U and S with a D and a U, such as \"DDDSU\"; \
             auto is FDD",
        ),
        ("cqi = 1\nreverse_layers = 8", "x.toml:9: cell.cell.reverse_layers = 8: must be at most 4"),
        (
            "cqi = 1\nbuffer = \"100 B\"",
            "x.toml:9: cell.cell.buffer = \"100 B\": must hold the largest packet, \"1500 B\"",
        ),
        ("cqi = 1\nusers = \"phone\"", "x.toml:9: "),
    ] {
        let said = checked(&with(lines)).unwrap_err();
        assert!(said == message || message.ends_with(": ") && said.starts_with(message), "{said}\n{message}");
    }
    let twice = checked(&GOOD.replace("\"car\"]", "\"phone\"]").replace("[15, 7]", "7")).unwrap_err();
    assert!(
        twice.starts_with(
            "x.toml:7: cell.cell.users = \"phone\": must be another node than the base station and each other user"
        ),
        "{twice}"
    );
}
