//! The assertions of a script, which are Python: each sees our state under the names of `TCP_INFO`.

use super::host::Host;
use super::play::Verdict;
use netsim::tcp::rack::State;
use std::process::Command;

/// The names of the phases, and a hook that prints the assertion that failed.
const START: &str = "
import sys
def failed(kind, problem, trace):
    statement = sys.orig_argv[-1].splitlines()[trace.tb_lineno - 1]
    print(f'line {line}: `{statement}`: {kind.__name__} {problem}', file=sys.stderr)
sys.excepthook = failed
TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss = range(5)
";

/// A field of `TCP_INFO`: its name, and its value in our state.
type Field = (&'static str, fn(&Host, &State) -> u64);

const INFO: &[Field] = &[
    ("tcpi_ca_state", |_, state| state.phase as u64),
    ("tcpi_snd_cwnd", |_, state| state.cwnd.into()),
    ("tcpi_snd_ssthresh", |_, state| state.ssthresh.into()),
    ("tcpi_unacked", |_, state| state.board.len().into()),
    ("tcpi_sacked", |_, state| state.board.sacked.into()),
    ("tcpi_lost", |_, state| state.board.lost.into()),
    ("tcpi_retrans", |_, state| state.board.resent.into()),
    ("tcpi_reordering", |_, state| state.reordering().into()),
    ("tcpi_rtt", |_, state| state.rtt.smoothed()),
    ("tcpi_min_rtt", |_, state| state.rtt.least()),
    ("tcpi_delivered", |_, state| state.delivered.into()),
    ("tcpi_delivered_ce", |_, state| state.delivered_marked.into()),
    ("tcpi_delivered_e1_bytes", |host, state| u64::from(state.counted()[0]) * u64::from(host.size())),
    ("tcpi_delivered_ce_bytes", |host, state| u64::from(state.counted()[1]) * u64::from(host.size())),
    ("tcpi_delivered_e0_bytes", |host, state| u64::from(state.counted()[2]) * u64::from(host.size())),
    ("tcpi_backoff", |_, state| state.rtt.backoff.into()),
    ("tcpi_advmss", |host, _| host.mss.into()),
    ("tcpi_snd_mss", |host, _| host.payload().into()),
];

#[derive(Default)]
pub(super) struct Program(String);

impl Program {
    /// Adds the code of a line, with our state as it is now.
    pub(super) fn add(&mut self, line: usize, code: &str, host: &Host) -> Result<(), Verdict> {
        let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        for word in words.filter(|word| word.starts_with("tcpi_") || word.starts_with("SK_MEMINFO")) {
            if INFO.iter().all(|(name, _)| *name != word) {
                return Err(Verdict::NotApplicable(format!("the kernel's {word}")));
            }
        }
        let Some(state) = host.state() else {
            return Err(Verdict::NotApplicable("an assertion before the connection is open".to_owned()));
        };
        self.0 += &format!("line = {line}\n");
        for (name, value) in INFO {
            self.0 += &format!("{name} = {}\n", value(host, state));
        }
        self.0 += &format!("{}\n", code.trim());
        Ok(())
    }

    /// Runs the assertions; the first that does not hold, with its line.
    pub(super) fn run(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let program = format!("{START}{}", self.0);
        let output =
            Command::new("python3").args(["-c", &program]).output().expect("python3 runs assertions");
        let problem = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        (!output.status.success()).then_some(problem)
    }
}
