//! The system calls that no library wraps: attaching to a TUN device, its offloads, and some options of sockets.
#![allow(unsafe_code, reason = "system calls")]

use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;

/// A new TUN device in the network namespace of the calling thread, which vanishes when the file is closed. Packets
/// have no header before that of IP.
///
/// # Errors
/// If the system refuses; the caller needs `CAP_NET_ADMIN` in the namespace.
pub fn tun(name: &str) -> io::Result<File> {
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
    let mut request = request_for(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open, and the request is as TUNSETIFF reads it.
    match unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw const request) } {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The number of a device in the network namespace of the calling thread.
///
/// # Errors
/// If there is none of that name.
pub fn device_number(name: &str) -> io::Result<u32> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    Ok(name_to_index(&socket, name)?)
}

fn request_for(device: &str) -> libc::ifreq {
    // SAFETY: all zeros are a valid `ifreq`, a union of plain numbers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    assert!(device.len() < libc::IFNAMSIZ, "{device}: too long for a device");
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// What a device or the kernel does to packets to handle fewer of them, by the number of the command that gets it in
/// include/uapi/linux/ethtool.h; the next one sets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Offload {
    /// Segmentation of TCP by the device.
    Tso = 0x1e,
    /// Segmentation by the kernel, just before the device.
    Gso = 0x23,
    /// Packets of a flow joined as they come in.
    Gro = 0x2b,
}

/// Turns an offload of a device in the calling thread's namespace off; true if it is on nevertheless.
///
/// # Errors
/// If the kernel refuses.
pub fn end_offload(device: &str, offload: Offload) -> io::Result<bool> {
    let get = offload as u32;
    if ethtool(device, [get, 0])? != 0 {
        ethtool(device, [get + 1, 0])?;
    }
    Ok(ethtool(device, [get, 0])? != 0)
}

/// Carries out a command on a device, and returns the value: `struct ethtool_value` is a command and a value.
fn ethtool(device: &str, mut command: [u32; 2]) -> io::Result<u32> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut request = request_for(device);
    request.ifr_ifru.ifru_data = command.as_mut_ptr().cast();
    // SAFETY: the descriptor is open, and the kernel reads and writes two numbers at `ifru_data`.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw const request) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(command[1]),
    }
}

/// Moves the calling thread into a network namespace of its own; with `user`, also into a user namespace in which it is
/// privileged, which needs a process with one thread.
///
/// # Errors
/// If the system refuses.
pub fn unshare_network(user: bool) -> io::Result<()> {
    let flags = if user { UnshareFlags::NEWUSER | UnshareFlags::NEWNET } else { UnshareFlags::NEWNET };
    // SAFETY: no file descriptors are unshared.
    Ok(unsafe { unshare_unsafe(flags) }?)
}

/// Puts the calling thread before all ordinary ones; not to threads and processes that it starts.
///
/// # Errors
/// If the caller may not: see RLIMIT_RTPRIO.
pub fn be_prompt() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters are as the call reads them.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets a socket that binds an address get its port only when it connects: that may be one that another connection,
/// to another address or in TIME_WAIT, still has.
///
/// # Errors
/// If `socket` is no socket of IP.
pub fn bind_address_no_port(socket: impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads an `int` from `on`.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What the kernel knows of a connection, as far as it is read here.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpInfo {
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Round-trip times; `None` before the first sample.
    pub rtt: Option<Rtt>,
    /// Retransmission time-out in us.
    pub rto: u32,
    /// Segments outstanding.
    pub unacked: u32,
    /// Segments believed lost.
    pub lost: u32,
    /// The rate of pacing in bytes/s.
    pub pacing_rate: u64,
    /// Retransmitted segments so far.
    pub total_retrans: u32,
    /// Time-outs so far; `None` before Linux 6.7.
    pub total_rto: Option<u16>,
}

/// Round-trip times of a connection in us.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Rtt {
    /// The smoothed one.
    pub smoothed: u32,
    /// Its mean deviation.
    pub deviation: u32,
    /// The least one.
    pub least: u32,
}

impl TcpInfo {
    /// Asks the kernel; the layout is that of `struct tcp_info` in include/uapi/linux/tcp.h.
    ///
    /// # Errors
    /// If `socket` is no TCP socket.
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut bytes = [0u8; 248];
        let mut length = bytes.len() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes to `bytes`.
        let answer = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                bytes.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        let u32_at = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let rtt = Rtt { smoothed: u32_at(68), deviation: u32_at(72), least: u32_at(148) };
        Ok(Self {
            rto: u32_at(8),
            unacked: u32_at(24),
            lost: u32_at(32),
            // Without a sample the least one has all bits set; the deviation has a default, and the smoothed one is 0.
            rtt: (rtt.least != u32::MAX).then_some(rtt),
            ssthresh: u32_at(76),
            cwnd: u32_at(80),
            total_retrans: u32_at(100),
            pacing_rate: u64_at(104),
            total_rto: (length >= 244).then(|| u16::from_ne_bytes([bytes[240], bytes[241]])),
        })
    }
}
