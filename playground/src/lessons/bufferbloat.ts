import type { Lesson } from "./lesson";

/** A buffer that is too large, as in chapter 1 of the tutorial. */
export const bufferbloat: Lesson = {
  id: "bufferbloat",
  title: "Bufferbloat",
  summary: "TCP fills whatever buffer there is, so that a large one costs delay and gains nothing.",
  scenario: `title = "A home uplink"
duration = "300 s"

[dumbbell]
rate = "5 Mbit/s"
delay = "15 ms"
buffer = "400 packets"

[[traffic]]
name = "cubic"
count = 4
start = "uniform(0 s, 1 s)"

[[traffic]]
name = "call"
kind = "voip"
`,
  aqms: ["droptail"],
  sliders: ["dumbbell.buffer", "dumbbell.rate", "traffic.cubic.count"],
  steps: [
    {
      text:
        "Four uploads with CUBIC share a link of 5 Mbit/s with a telephone call, and the buffer in " +
        "front of it has room for 400 packets. Look at the queue and at the queueing delay: drop-tail " +
        "loses nothing before the buffer is full, so the congestion windows grow until it is. Every " +
        "packet then waits for more than half a second, those of the call too.",
    },
    {
      text:
        "Now the buffer has room for 20 packets. The queueing delay falls below 50 ms, and the link is " +
        "as busy as before: its utilisation stays above 99 %. The price is loss, since TCP's share of " +
        "drops is higher where the round trip is shorter.",
      set: { "dumbbell.buffer": "20 packets" },
    },
    {
      text:
        "The large buffer is back, and CoDel runs beside drop-tail. CoDel drops a packet now and then " +
        "while the delay stays above its target of 5 ms, and TCP slows down long before the buffer is " +
        "full. The queueing delay is below 20 ms in spite of 400 packets of room, and the utilisation " +
        "stays above 98 %.",
      set: { "dumbbell.buffer": "400 packets" },
      aqms: ["droptail", "codel"],
      restart: true,
    },
  ],
  question: {
    text:
      "How many packets may the buffer have at most, so that the mean queueing delay of drop-tail stays " +
      "below 100 ms?",
    hint: "Lower the buffer, and wait until the queue has settled at its new top before you read the delay.",
    unit: "packets",
    least: 48,
    most: 56,
    because:
      "The queue stays just below the buffer's end, here at about 46 of 52 packets, and a packet of " +
      "1500 bytes takes 2.4 ms on this link. At another rate, or with other flows, the same buffer " +
      "means another delay.",
  },
};
