//! When packets come to a device, by the kernel (packet(7), `PACKET_RX_RING`), however late they are read.
#![allow(unsafe_code, reason = "memory shared with the kernel")]

use crate::ring::{self, Ring, Use, set};
use crate::tool::context;
use std::io;
use std::sync::atomic::Ordering;

/// The number of places: no device holds more packets.
const PLACES: usize = 1 << 15;
/// Bytes of a place: the kernel's header, and nothing of the packet.
const FRAME: usize = 128;
/// The most places within which packets of two processors, which are noted and reach the device at one time, change order.
const NEAR: usize = u32::BITS as usize;

/// The times of the packets that hosts send over a device, in their order.
#[derive(Debug)]
pub struct Entries {
    ring: Ring,
    next: usize,
    /// Which of the places from `next` on are done with, the lowest bit first.
    taken: u32,
}

impl Entries {
    /// Those of device number `device` of the calling thread's network namespace from now on. Nothing may be read from
    /// the device before.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(device: u32) -> io::Result<Self> {
        const REMEDY: &str = "a packet socket, which notes when packets come (it needs CAP_NET_RAW and a kernel with CONFIG_PACKET, \
                              or use clock=virtual)";
        let socket = ring::socket().map_err(context(REMEDY))?;
        // Of the packets that hosts send one byte, of those that they receive nothing.
        let instruction = |code: u32, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf, k };
        let kind = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32;
        let mut program = [
            instruction(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 0, kind),
            instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, u32::from(libc::PACKET_OUTGOING)),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 1),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0),
        ];
        let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        set(&socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)?;
        Ok(Self { ring: Ring::new(socket, Use::Receive, device, FRAME, PLACES)?, next: 0, taken: 0 })
    }

    /// When the packet came that was read from the device last, of `length` bytes: ns of the clock of the day. To be
    /// called once for each.
    ///
    /// # Errors
    /// If the kernel has noted no such packet.
    pub fn next(&mut self, length: usize) -> io::Result<u64> {
        for near in (0..NEAR).filter(|near| self.taken & 1 << near == 0) {
            let place = (self.next + near) % PLACES;
            let state = self.ring.state(place).load(Ordering::Acquire);
            if state & libc::TP_STATUS_LOSING != 0 {
                return Err(io::Error::other(format!(
                    "more than {PLACES} packets waited for the router: use a slower link, a machine with less to do (aqmlab \
                     doctor), or clock=virtual"
                )));
            }
            // SAFETY: the place is aligned for its header, which the caller may read once the state says so.
            let header = || unsafe { self.ring.start(place).cast::<libc::tpacket2_hdr>().read() };
            let Some(header) = (state & libc::TP_STATUS_USER != 0).then(header) else { continue };
            if header.tp_len as usize == length {
                self.taken |= 1 << near;
                self.release();
                return Ok(u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec));
            }
        }
        Err(io::Error::other(
            "the kernel's notes of when packets came do not match the packets: use clock=virtual, or report this",
        ))
    }

    /// Returns the first places to the kernel that are done with.
    fn release(&mut self) {
        while self.taken & 1 == 1 {
            self.ring.state(self.next).store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % PLACES;
            self.taken >>= 1;
        }
    }
}
