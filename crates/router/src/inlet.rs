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

/// The number of places. A packet that waits while this many others pass stops the ring.
const PLACES: usize = 1 << 14;
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
#[derive(Debug)]
pub struct Inlet {
    ring: Ring,
    head: usize,
}

impl Inlet {
    /// A way for packets of at most `mtu` bytes to device number `device` of the calling thread's network namespace.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(device: u32, mtu: usize) -> io::Result<Self> {
        let socket = ring::socket()?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &ROOM)?;
        Ok(Self { ring: Ring::new(socket, Use::Send, device, HEADER + mtu, PLACES)?, head: 0 })
    }

    /// Whether the kernel has let go of the packet at a place, which is then free.
    #[must_use]
    pub fn is_free(&self, place: usize) -> bool {
        self.ring.state(place).load(Ordering::Acquire) == FREE
    }

    /// Passes a packet to the discipline; returns its place, or `None` if the discipline has dropped it at once.
    ///
    /// # Errors
    /// If the next place is not free, or the device fails.
    ///
    /// # Panics
    /// If the packet is longer than the ring's.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<Option<usize>> {
        assert!(HEADER + packet.len() <= self.ring.frame, "a packet of {} bytes", packet.len());
        let place = self.head;
        if !self.is_free(place) {
            return Err(io::Error::other(format!(
                "a packet still waits in the queue discipline after {PLACES} others have passed it"
            )));
        }
        let length = (VIRTIO + packet.len()) as u32;
        let start = self.ring.start(place);
        // SAFETY: the place is free and thus ours, and has room for header and packet.
        unsafe {
            start.add(4).cast::<u32>().write(length);
            let header = start.add(HEADER - VIRTIO);
            header.write_bytes(0, VIRTIO);
            header.add(COPIED).cast::<u16>().write_unaligned((packet.len() as u16).to_le());
            start.add(HEADER).copy_from_nonoverlapping(NonNull::from(packet).cast(), packet.len());
        }
        self.ring.state(place).store(TO_SEND, Ordering::Release);
        // SAFETY: no memory is passed.
        let sent = unsafe { libc::send(self.ring.socket.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT) };
        if sent < 0 {
            let error = io::Error::last_os_error();
            // The kernel would try it again.
            self.ring.state(place).store(FREE, Ordering::Release);
            return if error.raw_os_error() == Some(libc::ENOBUFS) { Ok(None) } else { Err(error) };
        }
        self.head = (self.head + 1) % PLACES;
        Ok(Some(place))
    }
}
