"""The kernel's own account of a connection: TCP_INFO, and TCP_CC_INFO of BBR."""

import socket
import struct
from typing import Any

TCP_INFO, TCP_CC_INFO = 11, 26

# struct tcp_info of linux/tcp.h up to `rehash`: a line a kind of number.
_LAYOUT = "=8B24I4Q6I4Q2I2Q6I"
_FIELDS = """
state ca_state retransmits probes backoff options wscale app_limited
rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent last_data_recv last_ack_recv \
pmtu rcv_ssthresh rtt rttvar ssthresh cwnd advmss reordering rcv_rtt rcv_space total_retrans
pacing_rate max_pacing_rate bytes_acked bytes_received
segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out
delivery_rate busy_time rwnd_limited sndbuf_limited
delivered delivered_ce
bytes_sent bytes_retrans
dsack_dups reord_seen rcv_ooopack snd_wnd rcv_wnd rehash
""".split()  # noqa: SIM905  a column of sixty names would be no clearer

KEPT = """
cwnd ssthresh rtt rttvar min_rtt rto ca_state unacked sacked lost retrans total_retrans backoff reordering
delivered delivered_ce pacing_rate delivery_rate snd_wnd dsack_dups reord_seen
""".split()  # noqa: SIM905
"""What a trace has of each sample; times in microseconds, rates in bytes a second."""

BBR = ("bbr_bw", "bbr_min_rtt", "bbr_pacing_gain", "bbr_cwnd_gain")
"""What it has of BBR besides: bytes a second, microseconds, and gains in 1/256."""

STATES = ("open", "disorder", "cwr", "recovery", "loss")
"""Of the congestion state `ca_state`, by its number."""


def sample(connection: socket.socket, bbr: bool) -> list[Any]:
    data = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, struct.calcsize(_LAYOUT))
    whole = data.ljust(struct.calcsize(_LAYOUT), b"\0")
    info = dict(zip(_FIELDS, struct.unpack(_LAYOUT, whole), strict=True))
    kept = [info[name] for name in KEPT]
    if bbr:
        low, high, *rest = struct.unpack("=5I", connection.getsockopt(socket.IPPROTO_TCP, TCP_CC_INFO, 20))
        kept += [low | high << 32, *rest]
    return kept
