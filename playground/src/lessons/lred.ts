import type { Lesson } from "./lesson";

/** LRED measures the loss ratio that others have to learn. */
export const lred: Lesson = {
  id: "lred",
  title: "LRED recovers from overload",
  summary:
    "LRED measures the loss that the load needs and is there in seconds; PI and REM learn it by " +
    "integration.",
  scenario: `title = "An overload comes and goes"
duration = "300 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "200 packets"
receiver_delay = ["10 ms", "30 ms", "50 ms"]

[[traffic]]
name = "reno"
count = 48
packet_size = "500 B"
start = "uniform(0 s, 1 s)"
tcp = "newreno"
`,
  aqms: ["lred:q0=100", "rem:b_star=100", "pi:q_ref=100"],
  sliders: ["dumbbell.rate", "traffic.reno.count", "aqm.period", "aqm.beta"],
  steps: [
    {
      text:
        "LRED, REM and PI all steer the queue to 100 packets, and after half a minute all do. Look at " +
        "the first ten seconds: LRED's queue is empty, because it measures the losses of slow start and " +
        "takes them for the loss ratio that the load needs. The drop probabilities end up alike, near " +
        "0.01, since the load decides them and not the discipline.",
    },
    {
      text:
        "The link falls from 10 to 3 Mbit/s, and the buffer overflows. LRED counts these drops too, has " +
        "the new loss ratio of about 0.03 after a few periods of 1 s, and brings the queue back near " +
        "100 packets within some five seconds. REM's price climbs for about ten, and PI's probability " +
        "for more than half a minute, while their queues are far above the target.",
      set: { "dumbbell.rate": "3 Mbit/s" },
    },
    {
      text:
        "The overload is over. In the first ten seconds PI still drops what the overload needed, so " +
        "that its queue is empty and more than a tenth of the link is lost; LRED loses less than 6 % of " +
        "it. Compare the probabilities: LRED's falls with its measurement, PI's in a straight line.",
      set: { "dumbbell.rate": "10 Mbit/s" },
    },
  ],
  question: {
    text: "To which rate must the link fall, so that the drops are 2 % of the arrivals with LRED?",
    hint: "Lower the rate, wait 20 s, and read LRED's share of drops. You need not wait for PI.",
    unit: "Mbit/s",
    least: 4.4,
    most: 5.5,
    because:
      "Each flow gets half as much of 5 Mbit/s as of 10, its window is smaller, and by the square-root " +
      "law windows fall with the root of the loss; the longer round trip takes a part of it. All three " +
      "disciplines end at the same share: the load asks for it.",
  },
};
