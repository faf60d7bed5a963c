//! The settings of a network stack for a scenario's TCP, and the parameters that Linux does not have.

use aqm::params::Params as _;
use aqm::unit::{Bytes, Span};
use scenario::model::{Congestion, Feedback, HEADER, RECEIVE_BUFFER, Tcp};
use std::fmt;

/// Bytes of the timestamp option in every segment, with its padding (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;

/// The most bytes that `tcp_rmem` and `tcp_wmem` allow a socket, and those with which its send buffer starts, so that no
/// window limits a flow.
const MOST_BUFFER: u32 = 12_582_912;
const SEND_BUFFER: u32 = 4_194_304;

/// The last port for a traffic entry; clients have those above.
pub const LAST_PORT: u16 = 16_383;

/// The settings that all sockets in a network namespace share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stack {
    ecn: u8,
    /// How often Accurate ECN's option is sent, if there is Accurate ECN.
    ecn_option: Option<u8>,
    dctcp: bool,
    timestamps: bool,
    restart_after_idle: bool,
    delayed_ack: bool,
    initial_window: u32,
    min_rto: Span,
    /// Whether a socket hands over several segments at once.
    pub(crate) offload: bool,
    /// The traffic entry of the foreign programs that have it alone: the first of a shell's, or one of programs.
    pub(crate) foreign: Option<u16>,
}

/// The settings of CUBIC, which the whole kernel shares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cubic {
    hystart: bool,
    fast_convergence: bool,
    reno_friendly: bool,
}

/// A parameter whose value Linux does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmapped {
    /// The parameter, such as `traffic.long.tcp.max_rto`.
    pub key: String,
    /// Its value.
    pub value: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for Unmapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: the Linux engine cannot do that; {}", self.key, self.value, self.remedy)
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::with(&linux())
    }
}

fn linux() -> Tcp {
    Tcp::preset("linux").expect("it is a preset")
}

/// The name of a congestion control in the kernel.
#[must_use]
pub const fn control(congestion: Congestion) -> Option<&'static str> {
    match congestion {
        Congestion::Reno => Some("reno"),
        Congestion::Cubic => Some("cubic"),
        Congestion::Dctcp => Some("dctcp"),
        Congestion::Bbr => Some("bbr"),
        // Prague and BBRv3 are not in the mainline kernel.
        Congestion::Ledbat | Congestion::Prague | Congestion::Bbr3 | Congestion::UserDefined(_) => None,
    }
}

impl Stack {
    const fn with(tcp: &Tcp) -> Self {
        let (ecn, ecn_option) = match (tcp.ecn, tcp.ecn_feedback) {
            (false, _) => (0, None),
            (true, Feedback::Classic) => (1, None),
            (true, Feedback::Counter) => (3, Some(0)),
            (true, Feedback::Sparse) => (3, Some(1)),
            (true, Feedback::Accurate) => (3, Some(2)),
        };
        Self {
            ecn,
            ecn_option,
            dctcp: matches!(tcp.congestion, Congestion::Dctcp),
            timestamps: tcp.timestamps,
            restart_after_idle: tcp.restart_after_idle,
            delayed_ack: tcp.delayed_ack,
            initial_window: match tcp.initial_window {
                Some(window) => window,
                None => 10,
            },
            min_rto: tcp.min_rto,
            offload: tcp.offload,
            foreign: None,
        }
    }

    /// The stack for the programs of a traffic entry.
    pub(crate) fn of_programs(class: usize) -> Self {
        Self { foreign: Some(class as u16), ..Self::default() }
    }

    /// The stack for the programs of a shell, which is behind a traffic entry.
    pub(crate) fn of_shell(class: usize) -> Self {
        Self { offload: true, ..Self::of_programs(class) }
    }

    /// The stack for the TCP of the traffic entry `name`.
    ///
    /// # Errors
    /// The parameters whose values Linux does not have.
    pub fn of(name: &str, tcp: &Tcp) -> Result<Self, Vec<Unmapped>> {
        let header = HEADER as u64 + if tcp.timestamps { TIMESTAMPS } else { 0 };
        // Everything else is as the preset that describes Linux has it.
        let possible = Tcp {
            congestion: if control(tcp.congestion).is_some() { tcp.congestion } else { Congestion::Reno },
            ecn: tcp.ecn,
            ecn_feedback: tcp.ecn_feedback,
            timestamps: tcp.timestamps,
            header: Bytes(header),
            restart_after_idle: tcp.restart_after_idle,
            delayed_ack: tcp.delayed_ack,
            initial_window: tcp.initial_window.or(Some(10)),
            min_rto: tcp.min_rto,
            offload: tcp.offload,
            hystart: tcp.hystart,
            fast_convergence: tcp.fast_convergence,
            reno_friendly: tcp.reno_friendly,
            ..linux()
        };
        let misfits: Vec<_> = tcp
            .values()
            .into_iter()
            .zip(possible.values())
            .filter(|((_, value), (_, possible))| value != possible)
            .map(|((key, value), (_, possible))| (key, value, possible))
            .collect();
        if misfits.is_empty() {
            return Ok(Self::with(tcp));
        }
        let entry = format!("traffic.{name}.tcp");
        if misfits.iter().any(|(key, ..)| *key == "flavour") {
            let reno = if tcp.congestion == Congestion::Reno { "Reno" } else { "another congestion control" };
            return Err(vec![Unmapped {
                key: format!("{entry}.flavour"),
                value: tcp
                    .values()
                    .iter()
                    .find(|(key, _)| *key == "flavour")
                    .map(|(_, value)| value.to_string())
                    .unwrap_or_default(),
                remedy: format!(
                    "its TCP is the preset \"linux\": --set {entry}=linux, and for {reno} --set {entry}.congestion=NAME"
                ),
            }]);
        }
        let unmapped = |(key, value, possible): (&str, aqm::params::Value, aqm::params::Value)| Unmapped {
            key: format!("{entry}.{key}"),
            value: value.to_string(),
            remedy: if key == "congestion" {
                "it has \"reno\", \"cubic\", \"dctcp\" and \"bbr\"".to_owned()
            } else {
                format!("it has {possible}")
            },
        };
        Err(misfits.into_iter().map(unmapped).collect())
    }

    /// The values of the kernel parameters below `net.ipv4`.
    #[must_use]
    pub fn sysctls(&self) -> Vec<(&'static str, String)> {
        let flag = |on: bool| u8::from(on).to_string();
        let mut values = vec![
            ("tcp_rmem", format!("4096 {RECEIVE_BUFFER} {MOST_BUFFER}")),
            ("tcp_wmem", format!("4096 {SEND_BUFFER} {MOST_BUFFER}")),
            ("tcp_no_metrics_save", flag(true)),
            ("tcp_ecn", self.ecn.to_string()),
            ("tcp_timestamps", flag(self.timestamps)),
            ("tcp_slow_start_after_idle", flag(self.restart_after_idle)),
            // Short flows may follow each other faster than addresses and ports are free again.
            ("tcp_tw_reuse", flag(true)),
            ("ip_local_port_range", format!("{} 65535", LAST_PORT + 1)),
        ];
        if self.foreign.is_some() {
            // `ping` without a raw socket, for the only group that a user namespace has.
            values.push(("ping_group_range", "0 0".to_owned()));
        }
        // A kernel without Accurate ECN does not have it.
        values.extend(self.ecn_option.map(|option| ("tcp_ecn_option", option.to_string())));
        values
    }

    /// The arguments of `ip route add default` for the TCP on that route.
    #[must_use]
    pub fn route(&self) -> String {
        let least = self.min_rto.secs() * 1e3;
        let quick = if self.delayed_ack { "" } else { " quickack 1" };
        // The receiver has to be one too (RFC 8257, section 3.2); the sysctl for it refuses DCTCP outside the first namespace.
        let control = if self.dctcp { " congctl dctcp" } else { "" };
        format!("initcwnd {} rto_min {least}ms{quick}{control}", self.initial_window)
    }
}

impl Cubic {
    /// The settings that these TCPs share; `None` if none of them is CUBIC.
    ///
    /// # Errors
    /// If two of them differ.
    pub fn of<'a>(mut tcps: impl Iterator<Item = (&'a str, &'a Tcp)>) -> Result<Option<Self>, Unmapped> {
        let settings = |tcp: &Tcp| Self {
            hystart: tcp.hystart,
            fast_convergence: tcp.fast_convergence,
            reno_friendly: tcp.reno_friendly,
        };
        let mut cubics = tcps.by_ref().filter(|(_, tcp)| tcp.congestion == Congestion::Cubic);
        let Some((first, tcp)) = cubics.next() else { return Ok(None) };
        match cubics.find(|(_, other)| settings(other) != settings(tcp)) {
            Some((name, _)) => Err(Unmapped {
                key: format!("traffic.{name}.tcp"),
                value: "cubic".to_owned(),
                remedy: format!(
                    "hystart, fast_convergence and reno_friendly are the whole kernel's: set them as in traffic.{first}.tcp"
                ),
            }),
            None => Ok(Some(settings(tcp))),
        }
    }

    /// The values of the parameters of the module `tcp_cubic`.
    #[must_use]
    pub fn module_parameters(self) -> [(&'static str, bool); 3] {
        [
            ("hystart", self.hystart),
            ("fast_convergence", self.fast_convergence),
            ("tcp_friendliness", self.reno_friendly),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(tcp: &Tcp) -> Vec<String> {
        Stack::of("x", tcp).err().into_iter().flatten().map(|unmapped| unmapped.key).collect()
    }

    #[test]
    fn linux_and_its_congestion_controls_are_themselves() {
        for preset in ["linux", "cubic", "dctcp", "bbr"] {
            assert_eq!(keys(&Tcp::preset(preset).unwrap()), Vec::<String>::new(), "{preset}");
        }
        let reno = Tcp { congestion: Congestion::Reno, ..linux() };
        assert_eq!(Stack::of("x", &reno), Ok(Stack::default()));
        let changed =
            Tcp { ecn: true, initial_window: Some(3), delayed_ack: false, min_rto: Span::s(1), ..linux() };
        let stack = Stack::of("x", &changed).unwrap();
        assert_eq!(stack.route(), "initcwnd 3 rto_min 1000ms quickack 1");
        let dctcp = Stack::of("x", &Tcp::preset("dctcp").unwrap()).unwrap();
        assert_eq!(dctcp.route(), "initcwnd 10 rto_min 200ms congctl dctcp");
        assert!(stack.sysctls().contains(&("tcp_ecn", "1".to_owned())));
        assert!(stack.sysctls().iter().all(|(name, _)| *name != "tcp_ecn_option"));
        for (feedback, option) in
            [(Feedback::Counter, "0"), (Feedback::Sparse, "1"), (Feedback::Accurate, "2")]
        {
            let tcp = Tcp { ecn: true, ecn_feedback: feedback, ..linux() };
            let values = Stack::of("x", &tcp).unwrap().sysctls();
            for (name, value) in [("tcp_ecn", "3"), ("tcp_ecn_option", option)] {
                assert!(values.contains(&(name, value.to_owned())), "{values:?}");
            }
        }
    }

    #[test]
    fn what_linux_does_not_have_is_named_with_the_remedy() {
        assert_eq!(keys(&Tcp::default()), ["traffic.x.tcp.flavour"]);
        assert_eq!(keys(&Tcp::preset("ledbat").unwrap()), ["traffic.x.tcp.flavour"]);
        assert_eq!(keys(&Tcp::preset("l4s").unwrap()), ["traffic.x.tcp.l4s"]);
        let odd = Tcp { max_rto: Span::s(3), header: Bytes(40), ..linux() };
        assert_eq!(keys(&odd), ["traffic.x.tcp.max_rto", "traffic.x.tcp.header"]);
        let text = Stack::of("x", &odd).unwrap_err()[1].to_string();
        assert_eq!(text, "traffic.x.tcp.header = \"40 B\": the Linux engine cannot do that; it has \"52 B\"");
        // Without the timestamps, the header is as small.
        assert_eq!(keys(&Tcp { timestamps: false, header: Bytes(40), ..linux() }), Vec::<String>::new());
    }

    #[test]
    fn the_kernel_has_one_cubic() {
        let other = Tcp { hystart: false, ..linux() };
        let linux = linux();
        assert!(Cubic::of([("a", &linux), ("b", &other)].into_iter()).is_err());
        let found = Cubic::of([("a", &other), ("b", &other)].into_iter()).unwrap().unwrap();
        assert_eq!(found.module_parameters()[0], ("hystart", false));
        let reno = Tcp { congestion: Congestion::Reno, ..linux };
        assert_eq!(Cubic::of([("a", &reno)].into_iter()), Ok(None));
    }
}
