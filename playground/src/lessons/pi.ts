import type { Lesson } from "./lesson";

/** PI's integral: no error in the end, and a long way to it. */
export const pi: Lesson = {
  id: "pi",
  title: "The integral of PI",
  summary:
    "PI brings the queue to q_ref at any load, since it adds up the error, and is slow for the same " +
    "reason.",
  scenario: `title = "PI beside RED"
duration = "300 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "30 ms"
buffer = "200 packets"

[[traffic]]
name = "reno"
count = 20
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
tcp = "newreno"
`,
  aqms: ["pi:q_ref=50", "red:min_th=20,max_th=80,max_p=0.1,w_q=0.002"],
  sliders: ["aqm.q_ref", "aqm.a", "aqm.b", "dumbbell.rate", "traffic.reno.count"],
  steps: [
    {
      text:
        "PI compares the queue with q_ref, 50 packets, 170 times a second, and moves its drop " +
        "probability by the error and its change. In the first seconds the queue overshoots, since the " +
        "probability starts at 0; then its mean stays near 50 packets. RED beside it rests where its " +
        "line happens to give the right probability, at some 24 packets.",
    },
    {
      text:
        "The link falls from 10 to 2 Mbit/s, and the same flows must lose about three times as much. " +
        "RED finds a new operating point within seconds, at a longer queue of some 35 packets, and " +
        "stays there. PI's probability climbs as long as the queue is above q_ref: for more than ten " +
        "seconds some 100 packets wait, but after a minute their mean is near 50 again, since an " +
        "integral rests only where the error is 0.",
      set: { "dumbbell.rate": "2 Mbit/s" },
    },
    {
      text:
        "The link has its 10 Mbit/s again. PI now drops for the past: its probability is three times " +
        "too high and sinks slowly, because an empty queue is an error of only 50 packets. For 15 s and " +
        "more the queue is empty, and the utilisation is below 90 %; RED's stays above 90 %.",
      set: { "dumbbell.rate": "10 Mbit/s" },
    },
  ],
  question: {
    text: "At which q_ref is the mean queueing delay 80 ms on this link of 10 Mbit/s?",
    hint:
      "Work it out first: packets are of 1000 bytes. PI keeps its probability when q_ref changes; give it half a minute " +
      "to find another.",
    unit: "packets",
    least: 95,
    most: 105,
    because:
      "A packet of 1000 bytes takes 0.8 ms on the link, so that 100 packets are 80 ms. PI's queue is " +
      "what you ask for; with RED you would have to find other thresholds, and others again for another " +
      "number of flows.",
  },
};
