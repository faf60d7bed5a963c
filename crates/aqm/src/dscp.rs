//! Differentiated services: the code points in packets, by their names.

use crate::choice;

choice! {
    /// A differentiated services code point (RFC 2474; RFC 4594 for its use).
    pub enum Dscp {
        /// Best effort, the default class, CS0.
        Be = "BE",
        /// Lower effort (RFC 8622).
        Le = "LE",
        /// Class selector 1, formerly for lower effort.
        Cs1 = "CS1",
        /// Assured forwarding, class 1, low drop precedence.
        Af11 = "AF11",
        /// Class 1, medium drop precedence.
        Af12 = "AF12",
        /// Class 1, high drop precedence.
        Af13 = "AF13",
        /// Class selector 2: operations and management.
        Cs2 = "CS2",
        /// Assured forwarding, class 2: low-latency data.
        Af21 = "AF21",
        /// Class 2, medium drop precedence.
        Af22 = "AF22",
        /// Class 2, high drop precedence.
        Af23 = "AF23",
        /// Class selector 3: broadcast video.
        Cs3 = "CS3",
        /// Assured forwarding, class 3: streaming.
        Af31 = "AF31",
        /// Class 3, medium drop precedence.
        Af32 = "AF32",
        /// Class 3, high drop precedence.
        Af33 = "AF33",
        /// Class selector 4: real-time interactive.
        Cs4 = "CS4",
        /// Assured forwarding, class 4: conferencing.
        Af41 = "AF41",
        /// Class 4, medium drop precedence.
        Af42 = "AF42",
        /// Class 4, high drop precedence.
        Af43 = "AF43",
        /// Class selector 5: signalling.
        Cs5 = "CS5",
        /// Voice admit (RFC 5865).
        Va = "VA",
        /// Non-queue-building: smooth traffic of a low rate (RFC 9956).
        Nqb = "NQB",
        /// Expedited forwarding: telephony.
        Ef = "EF",
        /// Class selector 6: network control.
        Cs6 = "CS6",
        /// Class selector 7.
        Cs7 = "CS7",
    }
}

impl Dscp {
    /// The code point, 0 to 63.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Be => 0,
            Self::Le => 1,
            Self::Cs1 => 8,
            Self::Af11 => 10,
            Self::Af12 => 12,
            Self::Af13 => 14,
            Self::Cs2 => 16,
            Self::Af21 => 18,
            Self::Af22 => 20,
            Self::Af23 => 22,
            Self::Cs3 => 24,
            Self::Af31 => 26,
            Self::Af32 => 28,
            Self::Af33 => 30,
            Self::Cs4 => 32,
            Self::Af41 => 34,
            Self::Af42 => 36,
            Self::Af43 => 38,
            Self::Cs5 => 40,
            Self::Va => 44,
            Self::Nqb => 45,
            Self::Ef => 46,
            Self::Cs6 => 48,
            Self::Cs7 => 56,
        }
    }
}
