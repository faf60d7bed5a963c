"""CUBIC with HyStart as Linux has it: with `tcp = "examples/cubic.py:Cubic"`, each window is that of `tcp = "linux"`.

The arithmetic is the kernel's, in whole numbers: times in its ticks, C and beta in parts of 1024.
"""

import aqmlab


class Cubic(aqmlab.CongestionControl):
    """A cubic function of the time since the last loss (RFC 9438), with HyStart."""

    c = aqmlab.param(410, "1/1024 segments/s^3", "Steepness of the growth (section 5)", low=1, high=4096)
    beta = aqmlab.param(717, "1/1024", "Part of the window that a loss leaves (section 4.6)", low=1, high=1023)
    fast_convergence = aqmlab.param(True, "", "Yield to new flows (section 4.7)")
    reno_friendly = aqmlab.param(True, "", "Grow at least as Reno does (section 4.3)")
    hystart = aqmlab.param(True, "", "End slow start when the round trip grows")

    def start(self, connection):
        self.tick, self.payload, self.saved = connection.tick_ns, connection.payload, 0
        self.forget(connection.now_ns // 1000, connection.sent)

    def forget(self, us, sent):
        self.epoch, self.w_max, self.k, self.origin, self.w_est = -1, 0, 0, 0, 0
        self.cnt, self.acked, self.last, self.last_cwnd, self.delay_min, self.found = 0, 0, 0, 0, 0, False
        self.new_round(us, sent)

    # Growth: Reno's slow start, then a segment for each `cnt` acknowledged.

    def on_ack(self, flow):
        if not flow.limited:
            return
        left = flow.acked
        if self.cwnd < self.ssthresh:
            before = self.cwnd
            self.cwnd = min(before + left, self.ssthresh)
            left -= int(self.cwnd - before)
        if left > 0:
            self.update(flow.now_ns // self.tick, int(self.cwnd), left)
            if self.saved >= self.cnt:
                self.saved = 0
                self.cwnd += 1
            self.saved += left
            self.cwnd += self.saved // self.cnt
            self.saved %= self.cnt

    def update(self, now, cwnd, acked):
        self.acked += acked
        if self.last_cwnd == cwnd and now - self.last <= self.ticks(1_000_000) // 32:
            return
        if self.epoch < 0 or now != self.last:
            self.last, self.last_cwnd = now, cwnd
            if self.epoch < 0:
                self.epoch, self.acked, self.w_est = now, acked, cwnd
                self.origin, self.k = max(self.w_max, cwnd), self.root(self.w_max - cwnd)
            self.follow_curve(now, cwnd)
        if self.reno_friendly:
            self.follow_reno(cwnd)
        self.cnt = max(self.cnt, 2)

    def root(self, segments):
        """Return the time in 1/1024 s in which the curve rises by these segments."""
        if segments <= 0:
            return 0
        cube = (segments << 40) // self.c
        found = int(cube ** (1 / 3))
        while found**3 > cube:
            found -= 1
        while (found + 1) ** 3 <= cube:
            found += 1
        return found

    def follow_curve(self, now, cwnd):
        ticks = now - self.epoch + self.ticks(self.delay_min)
        t = (ticks << 10) * self.tick // 1_000_000_000
        delta = self.c * abs(t - self.k) ** 3 >> 40
        target = self.origin - delta if t < self.k else self.origin + delta
        self.cnt = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
        if self.w_max == 0:
            self.cnt = min(self.cnt, 20)

    def follow_reno(self, cwnd):
        each = max(cwnd * (8 * (1024 + self.beta) // 3 // (1024 - self.beta)) >> 3, 1)
        while self.acked > each:
            self.acked -= each
            self.w_est += 1
        if self.w_est > cwnd:
            self.cnt = min(self.cnt, cwnd // (self.w_est - cwnd))

    def ticks(self, us):
        return -(-us * 1000 // self.tick)

    # Reductions.

    def on_loss(self, flow):
        cwnd, self.epoch, self.saved = int(self.cwnd), -1, 0
        shrinks = cwnd < self.w_max and self.fast_convergence
        self.w_max = cwnd * (1024 + self.beta) // 2048 if shrinks else cwnd
        self.ssthresh = max(float(cwnd * self.beta // 1024), 2.0)

    def on_timeout(self, flow):
        if not flow.repeated:
            self.on_loss(flow)
        self.saved = 0
        self.forget(flow.now_ns // 1000, flow.sent)

    def on_restart(self, flow):
        if self.epoch >= 0:
            self.epoch = min(self.epoch + flow.idle_ns // self.tick, flow.now_ns // self.tick)

    # HyStart: slow start ends after a long train of acknowledgements, or when the round trip grows.

    def new_round(self, us, sent):
        self.round_start, self.train, self.round_end = us, us, sent
        self.round_rtt, self.samples = 1 << 62, 0

    def on_rtt(self, flow):
        if self.epoch >= 0 and flow.now_ns // self.tick - self.epoch < self.ticks(1_000_000):
            return
        rtt = max(flow.rtt_us, 1)
        self.delay_min = rtt if self.delay_min == 0 else min(self.delay_min, rtt)
        if not self.hystart or self.found or self.cwnd >= self.ssthresh:
            return
        if flow.acknowledged > self.round_end:
            self.new_round(flow.now_ns // 1000, flow.sent)
        if self.cwnd >= 16:
            self.look(flow, flow.now_ns // 1000, rtt)

    def look(self, flow, us, rtt):
        if us - self.train <= 2000:
            self.train = us
            part = 200 if self.cwnd < self.ssthresh // 2 else 120
            window = max(int(self.cwnd), flow.outstanding) * self.payload
            pace = max(window * part * 10_000 // max(flow.srtt_us, 1), 1)
            longest = self.delay_min + min(1000, 262_144_000_000 // pace)
            if us - self.round_start > (longest if flow.paced else longest // 2):
                self.found = True
        self.round_rtt = min(self.round_rtt, rtt)
        if self.samples < 8:
            self.samples += 1
        elif self.round_rtt > self.delay_min + min(max(self.delay_min >> 3, 4000), 16_000):
            self.found = True
        if self.found:
            self.ssthresh = self.cwnd
