"""CoDel as RFC 8289 has it, in 25 lines: its verdicts are those of `codel`, one by one."""

import math

import aqmlab


class CoDel(aqmlab.AQM):
    """Drop packets as they leave, ever more often, while the standing queue's delay stays above `target`."""

    target = aqmlab.param(5e-3, "s", "Delay allowed to a standing queue", above=0)
    interval = aqmlab.param(0.1, "s", "How long the delay may exceed it", above=0)

    def start(self, port):
        self.mtu, self.due, self.next, self.count, self.last = port.packet, 0, 0, 0, 0
        self.dropping, self.first, self.again = False, False, False

    def on_dequeue(self, packet, queue):
        now, above = queue.now_ns, packet.sojourn_ns >= aqmlab.ns(self.target) and queue.bytes > self.mtu
        if not above or not self.due:
            self.due = now + aqmlab.ns(self.interval) if above else 0
        ok, first, again, self.first, self.again = above and now >= self.due, self.first, self.again, False, False
        if ok and not (self.dropping or first or again):
            gained = self.count - self.last if now - self.next < 16 * aqmlab.ns(self.interval) else 0
            self.count = self.last = max(gained, 1)
            self.dropping, self.first, self.next = True, True, self.law(now)
            return aqmlab.DROP
        self.next = self.law(self.next) if again and ok else self.next
        self.dropping = self.dropping and (ok or first)
        if self.dropping and not first and now >= self.next:
            self.count, self.again = self.count + 1, True
            return aqmlab.DROP

    def law(self, t):
        return t + math.floor(aqmlab.ns(self.interval) / math.sqrt(self.count) + 0.5)

    def on_idle(self, queue):
        self.due, self.dropping, self.first, self.again = 0, False, False, False
