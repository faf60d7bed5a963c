//! Packets into a device's queue discipline (packet(7), `PACKET_TX_RING`).
//!
//! A place of the ring is free again as soon as the kernel has let its packet go: sent it, or dropped it. With no other way of
//! sending is it known which packets a queue discipline drops, and when.
#![allow(unsafe_code, reason = "system calls, and memory shared with the kernel")]

use crate::ring::{self, Ring, Use, set};
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

/// The number of places of a ring.
const PLACES: usize = 1 << 14;
/// The most bytes of all rings.
const MOST: usize = 1 << 29;
/// Bytes of the kernel's header before a packet: `struct tpacket2_hdr`, then `struct virtio_net_hdr`.
const HEADER: usize = 32 + VIRTIO;
const VIRTIO: usize = 10;
/// In `struct virtio_net_hdr`, the place of the number of bytes that the kernel copies: all, or no discipline could mark
/// the packet.
const COPIED: usize = 2;
/// Bytes of packets in all places, with the kernel's own overhead.
const ROOM: libc::c_int = i32::MAX / 4;

const FREE: u32 = libc::TP_STATUS_AVAILABLE;
const TO_SEND: u32 = libc::TP_STATUS_SEND_REQUEST;

/// The way into a device.
///
/// The kernel takes the places of a ring in turn, so that a packet which waits while all the other places pass stops it. The
/// packets after that go by another ring.
#[derive(Debug)]
pub struct Inlet {
    device: u32,
    mtu: usize,
    rings: Vec<Turn>,
    /// The ring by which the last packet went.
    current: usize,
}

/// A ring, and the place whose turn it is.
#[derive(Debug)]
struct Turn {
    ring: Ring,
    head: usize,
    /// The places whose packets the caller still asks about.
    used: Box<[bool]>,
}

impl Turn {
    fn new(device: u32, mtu: usize) -> io::Result<Self> {
        let socket = ring::socket()?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &ROOM)?;
        let ring = Ring::new(socket, Use::Send, device, HEADER + mtu, PLACES)?;
        Ok(Self { ring, head: 0, used: vec![false; PLACES].into() })
    }

    fn is_ready(&self) -> bool {
        !self.used[self.head]
    }
}

impl Inlet {
    /// A way for packets of at most `mtu` bytes to device number `device` of the calling thread's network namespace.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(device: u32, mtu: usize) -> io::Result<Self> {
        Ok(Self { device, mtu, rings: vec![Turn::new(device, mtu)?], current: 0 })
    }

    /// Whether the kernel has let go of the packet at a place.
    #[must_use]
    pub fn is_free(&self, place: usize) -> bool {
        self.rings[place / PLACES].ring.state(place % PLACES).load(Ordering::Acquire) == FREE
    }

    /// Frees a place whose packet's fate is known: until then no other packet goes there.
    pub fn give_back(&mut self, place: usize) {
        self.rings[place / PLACES].used[place % PLACES] = false;
    }

    /// Passes a packet to the discipline; returns its place, or `None` if the discipline has dropped it at once. The calling
    /// thread must be in the device's namespace, as for `new`: another ring may be needed.
    ///
    /// # Errors
    /// If no ring has a place, or the device fails.
    ///
    /// # Panics
    /// If the packet is longer than the ring's.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<Option<usize>> {
        let current = self.ring()?;
        let Turn { ring, head, used } = &mut self.rings[current];
        assert!(HEADER + packet.len() <= ring.frame, "a packet of {} bytes", packet.len());
        let place = *head;
        let length = (VIRTIO + packet.len()) as u32;
        let start = ring.start(place);
        // SAFETY: the place is free and thus ours, and has room for header and packet.
        unsafe {
            start.add(4).cast::<u32>().write(length);
            let header = start.add(HEADER - VIRTIO);
            header.write_bytes(0, VIRTIO);
            header.add(COPIED).cast::<u16>().write_unaligned((packet.len() as u16).to_le());
            start.add(HEADER).copy_from_nonoverlapping(NonNull::from(packet).cast(), packet.len());
        }
        ring.state(place).store(TO_SEND, Ordering::Release);
        // SAFETY: no memory is passed.
        let sent = unsafe { libc::send(ring.socket.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT) };
        if sent < 0 {
            let error = io::Error::last_os_error();
            // The kernel would try it again.
            ring.state(place).store(FREE, Ordering::Release);
            return if error.raw_os_error() == Some(libc::ENOBUFS) { Ok(None) } else { Err(error) };
        }
        used[place] = true;
        *head = (place + 1) % PLACES;
        Ok(Some(current * PLACES + place))
    }

    /// The ring by which the next packet goes: the current one, or else the first that is ready.
    fn ring(&mut self) -> io::Result<usize> {
        if !self.rings[self.current].is_ready() {
            self.current = if let Some(other) = self.rings.iter().position(Turn::is_ready) {
                other
            } else if (self.rings.len() + 1) * PLACES * self.rings[0].ring.frame <= MOST {
                self.rings.push(Turn::new(self.device, self.mtu)?);
                self.rings.len() - 1
            } else {
                return Err(io::Error::other(format!(
                    "packets wait in the queue discipline while {PLACES} others pass them, {} times over: choose words \
                     with a shorter queue, such as a lower limit",
                    self.rings.len()
                )));
            };
        }
        Ok(self.current)
    }
}
