//! Memory that a packet socket shares with the kernel (packet(7)): places for packets, which change hands by their states.
#![allow(unsafe_code, reason = "system calls, and memory shared with the kernel")]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

/// A packet socket and its places.
#[derive(Debug)]
pub(crate) struct Ring {
    pub(crate) socket: OwnedFd,
    memory: NonNull<u8>,
    pub(crate) places: usize,
    /// Bytes of a place.
    pub(crate) frame: usize,
}

// SAFETY: the memory belongs to this value alone and to the kernel.
unsafe impl Send for Ring {}

/// Whose packets the places are for, as an option of the socket.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    /// The kernel's, which hands them over.
    Receive = libc::PACKET_RX_RING as isize,
    /// The caller's, which the kernel sends.
    Send = libc::PACKET_TX_RING as isize,
}

fn checked(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// A packet socket that receives nothing yet.
pub(crate) fn socket() -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    let socket = checked(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: nothing else owns the descriptor.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
    set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    Ok(socket)
}

/// Sets an option of a socket to a value of the type that the kernel reads.
pub(crate) fn set<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `length` bytes of the value.
    let answer =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), length) };
    checked(answer).map(|_| ())
}

impl Ring {
    /// A ring of `places` for packets that `socket` exchanges with device number `device` of the calling thread's network
    /// namespace, in frames of at least `frame` bytes.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new(
        socket: OwnedFd,
        whose: Use,
        device: u32,
        frame: usize,
        places: usize,
    ) -> io::Result<Self> {
        let frame = frame.next_power_of_two();
        let block = frame.max(1 << 16);
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (places * frame / block) as u32,
            tp_frame_size: frame as u32,
            tp_frame_nr: places as u32,
        };
        set(&socket, libc::SOL_PACKET, whose as libc::c_int, &request)?;
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of the whole ring.
        let memory =
            unsafe { libc::mmap(ptr::null_mut(), places * frame, access, shared, socket.as_raw_fd(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or_else(io::Error::last_os_error)?;
        let ring = Self { socket, memory, places, frame };
        // SAFETY: all zeros are a valid address, a structure of plain numbers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_ifindex = device as libc::c_int;
        if matches!(whose, Use::Receive) {
            address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        }
        let length = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the kernel reads `length` bytes of the address.
        checked(unsafe { libc::bind(ring.socket.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(ring)
    }

    /// The state of a place, the first field of its header.
    pub(crate) fn state(&self, place: usize) -> &AtomicU32 {
        // SAFETY: it is aligned, and the kernel's accesses to it are atomic too.
        unsafe { AtomicU32::from_ptr(self.start(place).as_ptr().cast()) }
    }

    /// The first byte of a place. Its contents, apart from the state, are the caller's while the state says so.
    pub(crate) fn start(&self, place: usize) -> NonNull<u8> {
        assert!(place < self.places);
        // SAFETY: it is within the mapping.
        unsafe { self.memory.add(place * self.frame) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.places * self.frame) };
    }
}
