//! A host's device, made transparent: between a host's TCP and the router nothing delays, drops, marks, joins or cuts a
//! packet without a trace.
//!
//! By default a TUN device has two queues: its own, which the router empties, and before it the queue discipline in
//! `net.core.default_qdisc`. That may be `fq`, which paces every flow, or one that drops and marks. Here it is `noqueue`:
//! what finds no room in the device, or meets a stopped one (byte queue limits, flow control), is dropped at once and
//! counted as `tx_dropped`, which [`crate::losses`] reads. So no limit of the kernel can hold packets back unseen.

use crate::sys::{self, Offload};
use crate::tool::{context, tool};
use std::io;

/// Packets that a device holds for the router, which must never be full: the most that Linux allows.
const QUEUE: &str = "32767";
const OFFLOADS: [(Offload, &str); 3] = [
    (Offload::Tso, "TCP segmentation offload"),
    (Offload::Gso, "generic segmentation offload"),
    (Offload::Gro, "generic receive offload"),
];

/// The most segments of a burst, as a device has it by default.
const MOST: &str = "65535";

/// Makes a device of the calling thread's namespace transparent, before it is up, and verifies that it is. Its hosts may
/// `offload`: a burst of theirs comes as separate packets at one time.
///
/// # Errors
/// The setting that the kernel refuses, or that is another afterwards.
pub fn make_transparent(device: &str, offload: bool) -> io::Result<()> {
    // Whatever the device has, a socket relies on segmentation, which the kernel does before the device has a packet.
    let most = if offload { MOST } else { "1" };
    tool("ip", &format!("link set {device} txqueuelen {QUEUE} gso_max_segs {most}"))?;
    tool("tc", &format!("qdisc replace dev {device} root noqueue"))?;
    for (feature, name) in OFFLOADS {
        if sys::end_offload(device, feature).map_err(context(name))? {
            return Err(opaque(device, format!("{name} stays on")));
        }
    }
    check(device, offload)
}

/// Checks that a device of the calling thread's namespace has no second queue.
///
/// # Errors
/// The setting that has changed.
pub fn check(device: &str, offload: bool) -> io::Result<()> {
    verify(&tool("ip", &format!("link show dev {device}"))?, offload).map_err(|found| opaque(device, found))
}

fn opaque(device: &str, found: String) -> io::Error {
    io::Error::other(format!(
        "{device}: {found}: this kernel may delay, drop or join packets before the router sees them; use clock=virtual, \
         or another kernel"
    ))
}

/// Checks the settings in what `ip -details link show` prints.
fn verify(text: &str, offload: bool) -> Result<(), String> {
    let most = if offload { MOST } else { "1" };
    for (setting, wanted) in [("qdisc", "noqueue"), ("qlen", QUEUE), ("gso_max_segs", most)] {
        let found =
            text.split_whitespace().skip_while(|word| *word != setting).nth(1).unwrap_or("not stated");
        if found != wanted {
            return Err(format!("{setting} is {found} instead of {wanted}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "2: aqmlab0: <POINTOPOINT,MULTICAST,NOARP> mtu 1500 qdisc noqueue state DOWN mode DEFAULT qlen 32767\n    \
                         link/none  promiscuity 0  minmtu 68 maxmtu 65535 \n    tun type tun pi off gso_max_size 65536 \
                         gso_max_segs 1 tso_max_size 65536 tso_max_segs 65535";

    #[test]
    fn each_setting_is_verified() {
        assert_eq!(verify(SHOWN, false), Ok(()));
        assert_eq!(verify(SHOWN, true), Err("gso_max_segs is 1 instead of 65535".to_owned()));
        assert_eq!(verify(&SHOWN.replace("gso_max_segs 1", "gso_max_segs 65535"), true), Ok(()));
        for (from, to, message) in [
            ("qdisc noqueue", "qdisc fq", "qdisc is fq instead of noqueue"),
            ("qlen 32767", "qlen 500", "qlen is 500 instead of 32767"),
            ("gso_max_segs 1", "gso_max_segs 65535", "gso_max_segs is 65535 instead of 1"),
            ("gso_max_segs 1", "", "gso_max_segs is not stated instead of 1"),
        ] {
            assert_eq!(verify(&SHOWN.replace(from, to), false), Err(message.to_owned()));
        }
    }
}
