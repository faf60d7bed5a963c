//! Network namespaces with a TUN device each. They have no names outside the process and vanish with it.

use crate::device::{check, make_transparent};
use crate::entries::Entries;
use crate::hosts::{Hosts, Ip};
use crate::losses::{Loss, losses};
use crate::stack::Cubic;
use crate::sys;
use crate::tool::{context, tool};
use aqm::unit::Time;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;

/// The device in each namespace.
const DEVICE: &str = "aqmlab0";
/// Where the kernel has the settings of CUBIC.
const CUBIC: &str = "/sys/module/tcp_cubic/parameters";

/// A namespace.
#[derive(Debug)]
pub struct Namespace {
    /// The namespace itself, to enter it.
    pub file: File,
    /// Its device.
    pub device: File,
    /// When the packets came that are read from the device, if that is asked for.
    pub entries: Option<Entries>,
    /// When the last of them entered the network.
    pub entered: Time,
}

impl Namespace {
    /// The packets that its kernel has lost; the calling thread is in it afterwards.
    ///
    /// # Errors
    /// If the counters cannot be read.
    pub fn losses(&self) -> io::Result<Vec<Loss>> {
        move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network))?;
        losses(DEVICE)
    }
}

/// Makes the namespaces of these hosts, with devices for packets of `mtu` bytes, of foreign programs for theirs; if it is `timed`, the kernel notes when
/// the packets come. The calling thread is in the last one afterwards.
///
/// # Errors
/// If the system refuses; the message names the refused object.
pub fn make(hosts: &Hosts, mtu: u32, version: Ip, timed: bool) -> io::Result<Vec<Namespace>> {
    let made = hosts.stacks.iter().enumerate().map(|(number, stack)| {
        sys::unshare_network(false).map_err(context("a network namespace"))?;
        let device = sys::tun(DEVICE).map_err(context("/dev/net/tun"))?;
        // Before the device is up: the kernel itself may send a packet then.
        let entries = timed.then(|| Entries::new(sys::device_number(DEVICE)?)).transpose()?;
        make_transparent(DEVICE, stack.offload)?;
        set_up(number, hosts, mtu, version)?;
        check(DEVICE, stack.offload)?;
        let file = File::open("/proc/thread-self/ns/net")?;
        // The program with senders and sinks inherits it.
        fcntl_setfd(&file, FdFlags::empty())?;
        Ok(Namespace { file, device, entries, entered: Time::ZERO })
    });
    made.collect()
}

/// Makes a device in a new namespace, as a run does; nothing of it stays.
///
/// # Errors
/// As for [`make`], or if the system refuses a namespace or a device.
pub fn attempt() -> io::Result<()> {
    become_privileged()?;
    sys::unshare_network(false).map_err(context("a network namespace"))?;
    let _device = sys::tun(DEVICE).map_err(context("/dev/net/tun"))?;
    Entries::new(sys::device_number(DEVICE)?)?;
    make_transparent(DEVICE, false)
}

/// Lets a user who is not root be privileged in namespaces of this process.
///
/// # Errors
/// If the system allows no user namespaces.
pub fn become_privileged() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    sys::unshare_network(true).map_err(context("a user namespace"))?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {} 1", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("0 {} 1", group.as_raw()))
}

/// Lets the kernel itself send nothing over new devices of the calling thread's namespace: IPv6 sends router
/// solicitations, and reports of multicast groups at random times.
pub(crate) fn be_silent() -> io::Result<()> {
    let path = "/proc/sys/net/ipv6/conf/all/disable_ipv6";
    match fs::write(path, "1") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()), // a kernel without IPv6
        done => done.map_err(context(path)),
    }
}

/// Sets up the namespace of the calling thread, which is this one of the hosts.
fn set_up(number: usize, hosts: &Hosts, mtu: u32, version: Ip) -> io::Result<()> {
    let (stack, way) = (hosts.stacks[number], hosts.way(number));
    let mtu = way.map_or(mtu, |way| way.mtu);
    for (name, value) in stack.sysctls() {
        let path = format!("/proc/sys/net/ipv4/{name}");
        let what = match (name, value.as_str()) {
            ("tcp_ecn", "3") => "Accurate ECN (tcp_ecn = 3), which this kernel does not have",
            _ => &path,
        };
        fs::write(&path, value).map_err(context(what))?;
    }
    let (addresses, all) = match version {
        Ip::V4 => {
            be_silent()?;
            ("", "0.0.0.0/0")
        }
        Ip::V6 => {
            let path = "/proc/sys/net/ipv6/ip_nonlocal_bind";
            fs::write(path, "1").map_err(context("IPv6, which this kernel does not have"))?;
            // No addresses of the link, whose detection sends packets.
            ("addrgenmode none", "::/0")
        }
    };
    let (prefix, route) = (Hosts::prefix(number, version), stack.route());
    // Programs that choose no address have that of their host, and whatever is at no other end is unreachable.
    let (reached, own) = match way {
        Some(way) => {
            let own = format!("address add {} dev {DEVICE}\n", way.from.address(version));
            (hosts.others(number).map(|other| Hosts::prefix(other, version)).collect(), own)
        }
        None => (vec![all.to_owned()], String::new()),
    };
    let routes: String =
        reached.iter().map(|there| format!("route add {there} dev {DEVICE} {route}\n")).collect();
    // All addresses of the prefix are the namespace's own.
    let commands = format!(
        "link set lo up\n\
         link set {DEVICE} up {addresses} mtu {mtu}\n\
         {own}\
         route add local {prefix} dev lo\n\
         {routes}"
    );
    tool("ip", &commands).map(drop)
}

/// Sets the whole kernel's CUBIC, if that is a guest of this run.
///
/// # Errors
/// If it has other settings and may not be changed.
pub fn set_cubic(cubic: Cubic, guest: bool) -> io::Result<()> {
    for (name, on) in cubic.module_parameters() {
        let path = format!("{CUBIC}/{name}");
        let wanted = u8::from(on).to_string();
        let present = fs::read_to_string(&path).map_err(context(&path))?;
        if present.trim() != wanted && !guest {
            return Err(io::Error::other(format!(
                "{path} is {}, and the scenario needs {wanted}; it is the whole machine's: use clock=virtual, or call \
                 echo {wanted} | sudo tee {path}",
                present.trim()
            )));
        }
        if present.trim() != wanted {
            fs::write(&path, &wanted).map_err(context(&path))?;
        }
    }
    Ok(())
}
