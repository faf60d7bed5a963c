//! Scenarios in requests: checked, and opened as runs.

use crate::handles::Handles;
use netsim::{Run, RunOptions};
use scenario::{Document, Library, Problem, Problems, Scenario};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request for a scenario, with the changes that the command line can make, in its order.
///
/// The reply has `scenario`, with every default filled in, `toml`, the file with the changes, `seed`, `duration` and `warmup`
/// in s, `packets`, an estimate of the packets that it will simulate, `memory`, the bytes that it is known to take, and
/// `observed`, the number of the observed link; from [`open`] also `run`. Of a scenario that is not valid it has only
/// `problems`, each with `kind`, `path`, `file`, `line` and `text`, and `message`, all of them as a user reads them.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Opening {
    /// The text of the file, or
    pub text: Option<String>,
    /// the name of a shipped scenario; with a text, the name that messages use.
    pub name: String,
    /// A queue discipline in place of the file's.
    pub aqm: Option<String>,
    /// Dotted paths and their values.
    pub set: Vec<(String, String)>,
    /// The seed, if not that of the file.
    pub seed: Option<u64>,
    /// Whether the run lists packets.
    pub packets: bool,
    /// Whether it can follow a scenario that changes; it then records no series.
    pub live: bool,
}

/// The most memory that a run may need: WebAssembly has 4 GiB in all.
const ROOM: u64 = 3 << 30;

/// Why a request has no answer.
enum Refusal {
    /// It is not as it should be.
    Request(serde_json::Error),
    Scenario(Problems),
    /// There can be no such run.
    Run(String),
}

impl<T: Into<Problems>> From<T> for Refusal {
    fn from(problems: T) -> Self {
        Self::Scenario(problems.into())
    }
}

impl Refusal {
    fn json(&self) -> Value {
        let one = |problem: &Problem| {
            json!({
                "kind": problem.kind.name(),
                "path": problem.path,
                "file": problem.origin.file(),
                "line": problem.origin.line(),
                "text": problem.text(),
            })
        };
        match self {
            Self::Request(error) => {
                json!({ "message": format!("not a request: {error}"), "problems": [] })
            }
            Self::Run(message) => json!({ "message": message, "problems": [] }),
            Self::Scenario(problems) => json!({
                "message": problems.to_string(),
                "problems": problems.0.iter().map(one).collect::<Vec<_>>(),
            }),
        }
    }
}

impl Opening {
    fn document(&self, library: &Library) -> Result<Document, Problems> {
        let mut document = match &self.text {
            Some(text) => library.parse(text, &self.name)?,
            None => library.load_by_name(&self.name)?,
        };
        if let Some(aqm) = &self.aqm {
            document.set_aqm(aqm)?;
        }
        for (path, text) in &self.set {
            document.set_text(path, text)?;
        }
        Ok(document)
    }
}

fn read(handles: &Handles) -> Result<(Opening, Scenario, Value), Refusal> {
    let opening: Opening = serde_json::from_slice(&handles.request).map_err(Refusal::Request)?;
    let document = opening.document(&handles.library)?;
    let (scenario, resolved) = document.resolve()?;
    scenario.computed().map_err(Refusal::Run)?;
    let seed = opening.seed.unwrap_or(scenario.general.seed);
    let reply = json!({
        "scenario": resolved,
        "toml": document.to_toml(),
        "packets": scenario::estimate(&scenario).packets,
        "memory": netsim::known_memory(&scenario),
        "seed": seed,
        "duration": scenario.general.duration.secs(),
        "warmup": scenario.general.warmup.secs(),
        "observed": scenario.observed,
    });
    Ok((opening, scenario, reply))
}

/// Takes the shipped scenarios from the request.
pub fn ship(handles: &mut Handles) -> Value {
    match serde_json::from_slice::<BTreeMap<String, String>>(&handles.request) {
        Ok(texts) => {
            handles.library = Library::in_memory(texts);
            Value::Null
        }
        Err(error) => Refusal::Request(error).json(),
    }
}

/// Checks the scenario in the request.
pub fn check(handles: &Handles) -> Value {
    read(handles).map_or_else(|refusal| refusal.json(), |(_, _, reply)| reply)
}

/// Refuses a run of this many bytes if there is not enough memory.
fn has_room(bytes: u64) -> Result<(), Refusal> {
    if bytes <= ROOM {
        return Ok(());
    }
    let need = bytes as f64 / f64::from(1 << 30);
    Err(Refusal::Run(format!("a run needs about {need:.1} GiB of memory: WebAssembly has room for 3")))
}

/// Makes a live run follow the scenario in the request. The reply is that of [`check`], with `problems` if the run cannot.
pub fn follow(handles: &mut Handles, run: usize) -> Value {
    let followed = read(handles).and_then(|(opening, scenario, reply)| {
        let run = handles.run(run).ok_or_else(|| Refusal::Run("the run is closed".to_owned()))?;
        if opening.seed.is_some_and(|seed| run.seed() != Some(seed)) {
            return Err(Refusal::Run("seed: another seed needs a new run".to_owned()));
        }
        // Not a trial: users move a slider.
        has_room(netsim::known_memory(&scenario))?;
        run.follow(&scenario).map_err(Refusal::Run)?;
        let mut reply = reply;
        reply["seed"] = json!(run.seed());
        Ok(reply)
    });
    followed.unwrap_or_else(|refusal| refusal.json())
}

/// Opens a run of the scenario in the request.
pub fn open(handles: &mut Handles) -> Value {
    let opened = read(handles).and_then(|read| has_room(netsim::memory_estimate(&read.1)).map(|()| read));
    match opened {
        Err(refusal) => refusal.json(),
        Ok((opening, scenario, mut reply)) => {
            let options = RunOptions { accounted: false, tap: opening.packets, live: opening.live };
            let seed = opening.seed.unwrap_or(scenario.general.seed);
            reply["run"] = json!(handles.keep(Run::new(scenario, seed, options)));
            reply
        }
    }
}
