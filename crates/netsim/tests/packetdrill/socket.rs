//! The socket calls and the commands of a script.

use super::host::{Ecn, Host, Role};
use super::play::Verdict;
use aqm::params::{Params, Value};
use aqm::unit::{Span, Time};
use scenario::model::Feedback;

/// A socket call.
pub(super) struct Call<'a> {
    pub name: &'a str,
    pub arguments: &'a str,
    pub result: &'a str,
    /// When it returns, if it blocks.
    pub blocks: Option<Time>,
}

/// What a call that blocks waits for.
pub(super) enum Wait {
    Open,
    Bytes(u32),
}

impl Wait {
    pub(super) fn is_over(&self, host: &Host) -> bool {
        match self {
            Self::Open => host.open,
            Self::Bytes(bytes) => host.delivered() >= *bytes,
        }
    }
}

fn misfit<T>(reason: impl Into<String>) -> Result<T, Verdict> {
    Err(Verdict::NotApplicable(reason.into()))
}

/// Makes a call; returns what it waits for if it blocks.
pub(super) fn call(host: &mut Host, call: &Call, read: &mut u32) -> Result<Option<Wait>, Verdict> {
    let arguments: Vec<&str> = call.arguments.split(',').map(str::trim).collect();
    for (word, reason) in [
        ("MSG_FASTOPEN", "fast open"),
        ("MSG_ZEROCOPY", "zero copy"),
        ("MSG_EOR", "ends of records"),
        ("MSG_MORE", "MSG_MORE and TCP_CORK"),
        ("MSG_OOB", "urgent data"),
    ] {
        if call.arguments.contains(word) {
            return misfit(reason);
        }
    }
    let failed = call.result.starts_with('-');
    match call.name {
        "socket" if host.role != Role::Closed => misfit("a second connection"),
        "socket" | "bind" | "listen" | "fcntl" => Ok(None),
        "setsockopt" => option(host, &arguments).map(|()| None),
        "getsockopt" if call.arguments.contains("SO_ERROR") => Ok(None),
        "getsockopt" if call.arguments.contains("TCP_MAXSEG") => {
            let ours = if host.open { host.payload() } else { host.mss };
            if arguments.get(3).is_some_and(|value| value.trim_matches(['[', ']']) == ours.to_string()) {
                return Ok(None);
            }
            Err(Verdict::Failed(format!("ours: {ours}")))
        }
        "getsockopt" if call.arguments.contains("SO_SNDBUF") => misfit("the size of the send buffer"),
        "getsockopt" => misfit("values of socket options"),
        "accept" => {
            host.descriptor = call.result.to_owned();
            if !host.open && call.blocks.is_none() {
                return Err(Verdict::Failed("no connection is open".to_owned()));
            }
            Ok(Some(Wait::Open))
        }
        "connect" => {
            host.descriptor = arguments[0].to_owned();
            host.connect()?;
            Ok(Some(Wait::Open))
        }
        "write" | "send" | "sendto" if failed => misfit("calls that fail"),
        "write" | "send" | "sendto" => {
            let asked: Option<u32> = arguments.get(2).and_then(|bytes| bytes.parse().ok());
            let Some(bytes) = asked.filter(|bytes| call.result == bytes.to_string() && call.blocks.is_none())
            else {
                return misfit("the size of the send buffer");
            };
            host.write(bytes).map(|()| None)
        }
        "read" | "recv" if !failed => {
            *read += call.result.parse::<u32>().unwrap_or(0);
            if call.blocks.is_none() && host.delivered() < *read {
                return Err(Verdict::Failed(format!(
                    "{} bytes have arrived in order, {read} are read",
                    host.delivered()
                )));
            }
            Ok(Some(Wait::Bytes(*read)))
        }
        "read" | "recv" => misfit("calls that fail"),
        "close" if host.open && arguments[0] != host.descriptor => Ok(None),
        "close" => host.close().map(|()| None),
        "shutdown" if call.arguments.contains("SHUT_WR") => host.close().map(|()| None),
        "shutdown" => misfit("closing"),
        "poll" => misfit("poll"),
        name if name.starts_with("epoll") => misfit("epoll"),
        "ioctl" if call.arguments.contains("SIOCINQ") => {
            let unread = host.delivered() - *read;
            if arguments.get(2) == Some(&format!("[{unread}]").as_str()) {
                return Ok(None);
            }
            Err(Verdict::Failed(format!("ours: {unread}")))
        }
        "ioctl" => misfit("ioctl"),
        "sendmsg" | "recvmsg" | "recvfrom" => misfit("messages (sendmsg, recvmsg)"),
        "splice" | "sendfile" | "pipe" | "open" => misfit("splice and sendfile"),
        name => misfit(format!("the call {name}")),
    }
}

/// `setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4)`.
fn option(host: &mut Host, arguments: &[&str]) -> Result<(), Verdict> {
    match *arguments.get(2).unwrap_or(&"") {
        // Nothing here depends on them; a send buffer that fills shows in what `write` returns.
        "SO_REUSEADDR" | "SO_SNDBUF" | "SO_MARK" | "IP_TOS" | "IP_MTU_DISCOVER" | "IP_FREEBIND" => Ok(()),
        "TCP_NODELAY" => {
            host.no_delay = true;
            Ok(())
        }
        "TCP_MAXSEG" => {
            let bytes = arguments.get(3).and_then(|value| value.trim_matches(['[', ']']).parse().ok());
            host.mss = bytes.unwrap_or(host.mss);
            Ok(())
        }
        "TCP_FASTOPEN" | "TCP_FASTOPEN_CONNECT" | "TCP_FASTOPEN_KEY" => misfit("fast open"),
        "SO_ZEROCOPY" => misfit("zero copy"),
        "SO_TIMESTAMPING" => misfit("timestamps of packets (SO_TIMESTAMPING)"),
        "SO_RCVBUF" => misfit("the size of the receive window"),
        "TCP_CORK" => misfit("MSG_MORE and TCP_CORK"),
        "TCP_MD5SIG" => misfit("MD5"),
        "TCP_NOTSENT_LOWAT" => misfit("the size of the send buffer"),
        "TCP_USER_TIMEOUT" | "TCP_SYNCNT" | "SO_KEEPALIVE" | "TCP_KEEPIDLE" => {
            misfit("connections that give up")
        }
        "TCP_INQ" => misfit("messages (sendmsg, recvmsg)"),
        name => misfit(format!("the socket option {name}")),
    }
}

/// A command of the shell: the kernel's settings that it changes.
pub(super) fn command(host: &mut Host, command: &str) -> Result<(), Verdict> {
    for (word, reason) in [
        ("tcp_mtu_probing", "MTU probing"),
        ("root fq", "a host's own queue that paces (fq)"),
        ("limit 0", "a host that drops what it sends"),
        ("nstat", "the kernel's counters"),
        ("ip route", "routes"),
        ("ip -", "routes"),
    ] {
        if command.contains(word) {
            return misfit(reason);
        }
    }
    if command.contains("defaults.sh") {
        host.tcp.restart_after_idle = false;
        (host.asks_for, host.accepts) = (Ecn::None, Ecn::None);
    }
    // `net.ipv4.tcp_ecn=1` and `/proc/sys/net/ipv4/tcp_ecn=1`, without what follows a `#`.
    for line in command.lines().map(|line| line.split('#').next().unwrap_or("")) {
        for word in line.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else { continue };
            let name = name.rsplit(['.', '/']).next().unwrap_or(name);
            if word.contains("net.ipv4") || word.contains("net/ipv4") {
                set(host, name, value.trim_matches(['"', '\\']))?;
            }
        }
    }
    Ok(())
}

fn set(host: &mut Host, name: &str, value: &str) -> Result<(), Verdict> {
    match (name, value) {
        ("tcp_slow_start_after_idle", value) => host.tcp.restart_after_idle = value == "1",
        ("tcp_timestamps", value) => host.timestamps = value != "0",
        ("tcp_ecn", value) => {
            (host.asks_for, host.accepts) = match value {
                "0" => (Ecn::None, Ecn::None),
                "1" => (Ecn::Classic, Ecn::Classic),
                "2" => (Ecn::None, Ecn::Classic),
                "3" => (Ecn::Accurate, Ecn::Accurate),
                "4" => (Ecn::Classic, Ecn::Accurate),
                "5" => (Ecn::None, Ecn::Accurate),
                _ => return misfit(format!("the setting tcp_ecn={value}")),
            };
        }
        ("tcp_ecn_option", _) if host.role != Role::Closed => {
            return misfit("settings that change during a connection");
        }
        ("tcp_ecn_option", value) => {
            host.accurate = match value {
                "0" => Feedback::Counter,
                "1" => Feedback::Sparse,
                "2" => Feedback::Accurate,
                _ => return misfit(format!("the setting tcp_ecn_option={value}")),
            };
        }
        // It has an effect where the option is sparse.
        ("tcp_ecn_option_beacon", value) if value == "3" || host.accurate != Feedback::Sparse => {}
        ("tcp_congestion_control", name) => {
            if host.tcp.set("congestion", &Value::Text(name.to_owned())).is_err() {
                return misfit(format!("congestion control {name}"));
            }
        }
        ("tcp_rto_max_ms", value) => host.tcp.max_rto = Span::ms(value.parse().unwrap_or(120_000)),
        // Segmentation offload does not exist here, and buffers have no bound; a script for which that matters says more.
        ("tcp_min_tso_segs" | "tcp_tso_win_divisor" | "tcp_rmem" | "tcp_wmem", _) => {}
        ("tcp_pacing_ss_ratio", "200") | ("tcp_pacing_ca_ratio", "120") => {}
        // Tail loss probes are always sent: it fails where that matters.
        ("tcp_early_retrans", _) => {}
        (name, _) if name.starts_with("tcp_fastopen") => {}
        ("tcp_notsent_lowat", _) => return misfit("the size of the send buffer"),
        ("tcp_syncookies", _) => return misfit("SYN cookies"),
        ("tcp_shrink_window", _) => return misfit("the size of the receive window"),
        (name, _) => return misfit(format!("the setting {name}")),
    }
    Ok(())
}
