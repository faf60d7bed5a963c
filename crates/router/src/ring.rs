//! Packets into a device's queue discipline, from memory that is shared with the kernel (packet(7), `PACKET_TX_RING`).
//!
//! A place of the ring is free again as soon as the kernel has let its packet go: sent it, or dropped it. With no other way of
//! sending is it known which packets a queue discipline drops, and when.
#![allow(unsafe_code, reason = "system calls, and memory shared with the kernel")]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

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

/// The ring.
#[derive(Debug)]
pub struct Ring {
    socket: OwnedFd,
    memory: NonNull<u8>,
    frame: usize,
    head: usize,
}

// SAFETY: the memory belongs to this value alone and to the kernel.
unsafe impl Send for Ring {}

fn checked(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Sets an option of a socket.
fn set<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of a value of plain numbers.
    let answer =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), length) };
    checked(answer).map(|_| ())
}

impl Ring {
    /// A ring for packets of at most `mtu` bytes to device number `device` of the calling thread's network namespace.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(device: u32, mtu: usize) -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let socket =
            checked(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
        // SAFETY: nothing else owns the descriptor.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        set(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as libc::c_int),
        )?;
        set(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        set(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &ROOM)?;
        let frame = (HEADER + mtu).next_power_of_two();
        let block = frame.max(1 << 16);
        let places = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (PLACES * frame / block) as u32,
            tp_frame_size: frame as u32,
            tp_frame_nr: PLACES as u32,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_TX_RING, &places)?;
        // SAFETY: all zeros are a valid address, a structure of plain numbers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = device as libc::c_int;
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the kernel reads `length` bytes of the address.
        checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of the whole ring.
        let memory =
            unsafe { libc::mmap(ptr::null_mut(), PLACES * frame, access, shared, socket.as_raw_fd(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { socket, memory, frame, head: 0 })
    }

    /// Whether the kernel has let go of the packet at a place, which is then free.
    #[must_use]
    pub fn is_free(&self, place: usize) -> bool {
        self.state(place).load(Ordering::Acquire) == FREE
    }

    /// The state of a place, the first field of its header.
    fn state(&self, place: usize) -> &AtomicU32 {
        assert!(place < PLACES);
        // SAFETY: it is within the mapping and aligned, and the kernel's accesses to it are atomic too.
        unsafe { AtomicU32::from_ptr(self.memory.add(place * self.frame).as_ptr().cast()) }
    }

    /// Passes a packet to the discipline; returns its place, or `None` if the discipline has dropped it at once.
    ///
    /// # Errors
    /// If the next place is not free, or the device fails.
    ///
    /// # Panics
    /// If the packet is longer than the ring's.
    pub fn send(&mut self, packet: &[u8]) -> io::Result<Option<usize>> {
        assert!(HEADER + packet.len() <= self.frame, "a packet of {} bytes", packet.len());
        let place = self.head;
        if !self.is_free(place) {
            return Err(io::Error::other(format!(
                "a packet still waits in the queue discipline after {PLACES} others have passed it"
            )));
        }
        let length = (VIRTIO + packet.len()) as u32;
        // SAFETY: the place is free and thus ours, and has room for header and packet.
        unsafe {
            let start = self.memory.add(place * self.frame);
            start.add(4).cast::<u32>().write(length);
            let header = start.add(HEADER - VIRTIO);
            header.write_bytes(0, VIRTIO);
            header.add(COPIED).cast::<u16>().write_unaligned((packet.len() as u16).to_le());
            start.add(HEADER).copy_from_nonoverlapping(NonNull::from(packet).cast(), packet.len());
        }
        self.state(place).store(TO_SEND, Ordering::Release);
        // SAFETY: no memory is passed.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), ptr::null(), 0, libc::MSG_DONTWAIT) };
        if sent < 0 {
            let error = io::Error::last_os_error();
            // The kernel would try it again.
            self.state(place).store(FREE, Ordering::Release);
            return if error.raw_os_error() == Some(libc::ENOBUFS) { Ok(None) } else { Err(error) };
        }
        self.head = (self.head + 1) % PLACES;
        Ok(Some(place))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), PLACES * self.frame) };
    }
}
