"""An AQM in 25 lines, for the tutorial docs/tutorial/own-aqm.md."""

import aqmlab


class Mine(aqmlab.AQM):
    """Drop with a probability that follows the square of the delay.

    Every `period`, p moves a part of the way to p_target (d / target)^2, where d is the time that the link takes to
    send what waits.
    """

    target = aqmlab.param(20e-3, "s", "Delay at which p tends to p_target", above=0, high=10)
    p_target = aqmlab.param(0.02, "", "Drop probability at the target", above=0, high=1)
    tau = aqmlab.param(0.2, "s", "Time in which p follows the delay", above=0, high=100)
    period = aqmlab.param(5e-3, "s", "Time between two updates of p", above=1e-5, high=1)
    ecn = aqmlab.param(False, "", "Mark ECN-capable packets instead of dropping them")
    p = aqmlab.signal("", "Drop probability")

    def start(self, port):
        self.capacity = port.rate / (8 * port.packet)

    def rate(self, q, p):
        d = q / self.capacity
        return (min(self.p_target * (d / self.target) ** 2, 1.0) - p) / self.tau

    def on_period(self, queue):
        p = self.p + min(self.period, self.tau) * self.rate(queue.delay * self.capacity, self.p)
        self.p = min(max(p, 0.0), 1.0)

    def on_enqueue(self, packet, queue):
        if self.random() < self.p:
            return aqmlab.MARK if self.ecn and packet.ect else aqmlab.DROP
