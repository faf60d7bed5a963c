//! Segments that are too old to be believed (PAWS).
//!
//! A segment whose timestamp is older than that of what filled the last gap is taken for one of long ago, and thrown away. On a
//! path that reorders, packets that a retransmission has overtaken are lost so.
//!
//! Sources: Linux 7.2, `tcp_validate_incoming`, `tcp_paws_check`, `tcp_send_dupack` (net/ipv4/tcp_input.c); RFC 7323, section 5.

use super::merge::Joined;
use super::{QUICK, Receiver};
use crate::tcp::Content;
use crate::tcp::rack::clock::stamp;
use scenario::model::Profile;

/// The difference of timestamps that is forgiven, in ms (`TCP_PAWS_WINDOW`).
const FORGIVEN: u32 = 1;

impl Receiver {
    /// Whether segments, sent before the one that ACKs echo, are thrown away; then an ACK at once is owed.
    #[cold]
    pub(super) fn throws_away(&mut self, profile: &Profile, Joined { segment, end, .. }: &Joined) -> bool {
        let age = stamp(self.stamp).wrapping_sub(stamp(segment.sent));
        // A segment without data or FIN changes nothing here.
        let discards = profile.tcp.timestamps && age > FORGIVEN && segment.content != Content::Ack;
        if discards {
            if segment.seq < self.next {
                self.dsack = Some((segment.seq, *end));
                self.hurry(QUICK, profile);
            }
            (self.owed, self.at_once) = (true, true);
        }
        discards
    }
}
