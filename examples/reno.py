"""Reno as Linux has it: with `tcp = "examples/reno.py:Reno"`, each window is that of `congestion = "reno"`."""

import aqmlab


class Reno(aqmlab.CongestionControl):
    """One segment more a round trip, half the window after a loss or a mark (RFC 5681)."""

    def start(self, connection):
        self.saved = 0

    def on_ack(self, flow):
        if not flow.limited:
            return
        left = flow.acked
        if self.cwnd < self.ssthresh:
            before = self.cwnd
            self.cwnd = min(before + left, self.ssthresh)
            left -= int(self.cwnd - before)
        if left > 0:
            self.add(left, int(self.cwnd))

    def add(self, acked, each):
        """Add a segment for `each` of the acknowledged ones."""
        if self.saved >= each:
            self.saved = 0
            self.cwnd += 1
        self.saved += acked
        self.cwnd += self.saved // each
        self.saved %= each

    def on_loss(self, flow):
        self.ssthresh = max(self.cwnd // 2, 2.0)
        self.saved = 0

    def on_timeout(self, flow):
        self.saved = 0
        if not flow.repeated:
            self.on_loss(flow)
