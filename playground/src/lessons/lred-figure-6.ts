import type { Lesson } from "./lesson";

/** LRED's experiment 2. */
export const lredFigure6: Lesson = {
  id: "lred-figure-6",
  title: "LRED, Figure 6: heavy and light load",
  summary:
    "Under heavy load integrators are slow, under light load and a long round trip REM oscillates; LRED " +
    "does neither.",
  paper: { name: "lred", figure: "Fig. 6" },
  scenario: `title = "LRED experiment 2"
duration = "300 s"
clock = "integer"

# The paper's round trip, of which this link has nearly all.
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "200 packets"
access_rate = "100 Mbit/s"
sender_delay = "2.5 ms"
receiver_delay = "2.5 ms"

[[traffic]]
name = "reno"
count = 800
packet_size = "500 B"
start = "uniform(0 s, 1 s)"
tcp = "ns2-2002:flavour=reno,delayed_ack=true"
`,
  aqms: ["lred:q0=100", "rem:b_star=100", "pi:q_ref=100"],
  sliders: ["dumbbell.delay", "traffic.reno.count", "aqm.gamma", "aqm.beta"],
  steps: [
    {
      text:
        "Figure 6b, heavy load: 800 flows with a round trip of 70 ms at the target of 100 packets, which " +
        "need a loss of nearly 20 %. LRED has measured it after some ten seconds. REM's probability " +
        "takes about 40 s to climb there, and PI's about 200 s; until then their buffers are full, and " +
        "it is overflow that drops.",
    },
    {
      text:
        "Figure 6a, light load: 80 flows with a round trip of 550 ms at the target, which need 0.25 %. " +
        "The start is slow: LRED's queue is empty for its first 30 s, because it has measured the " +
        "losses of slow start, and windows grow by only a packet in two round trips. The paper has LRED " +
        "slower under light load, too, but by much less.",
      set: { "traffic.reno.count": 80, "dumbbell.delay": "250 ms" },
      restart: true,
    },
    {
      text:
        "After two minutes all three have found their way of life. LRED's mean queue is near 100 " +
        "packets, and so is PI's. REM's queue swings between empty and full without end: its deviation " +
        "is more than 1.5 times LRED's, and the utilisation is only some 95 %.",
    },
  ],
  question: {
    text:
      "To how many ms must you shorten the link's delay for these 80 flows, so that the deviation of " +
      "REM's queue falls below 45 packets?",
    hint:
      "Read the deviation over a minute or more, since it varies. The round trip is 10 ms more than " +
      "twice the delay, and the queue's 40 ms.",
    unit: "ms",
    least: 65,
    most: 105,
    because:
      "About 83 ms, a third of its delay: REM's integral reacts to a queue that the senders answer a " +
      "round trip later, and its gain is too high for long ones. Its gain does not depend on the flows; " +
      "what LRED adds to the loss ratio is in proportion to the root of the loss, and so smaller where " +
      "little loss is needed.",
  },
};
