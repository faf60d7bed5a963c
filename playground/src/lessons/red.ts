import type { Lesson } from "./lesson";

/** RED's parameters suit one load and one round trip. */
export const red: Lesson = {
  id: "red",
  title: "Why RED is hard to tune",
  summary:
    "The parameters of RED that suit one load and one round trip let the queue idle, swing or grow at " +
    "others.",
  scenario: `title = "RED at other loads and round trips"
duration = "300 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "30 ms"
buffer = "300 packets"

[[traffic]]
name = "reno"
count = 20
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
tcp = "newreno"
`,
  aqms: ["red:min_th=20,max_th=80,max_p=0.05,w_q=0.002"],
  sliders: ["aqm.max_p", "aqm.w_q", "traffic.reno.count", "dumbbell.delay"],
  steps: [
    {
      text:
        "RED drops with a probability that grows with the average queue, from 0 at min_th, 20 packets, " +
        "to max_p, 0.05, at max_th, 80 packets. With these 20 flows and a round trip of 85 ms it does " +
        "well: some 27 packets wait on average, and the utilisation is above 99 %. Look at the drop " +
        "probability: it follows the average, not the queue itself, whose bursts the small weight w_q " +
        "smooths away.",
    },
    {
      text:
        "The same RED on a longer path: the link's delay is now 150 ms. Each flow needs a larger " +
        "window, hence fewer losses, but RED's answer comes a round trip of 325 ms later, when the " +
        "queue has already drained: it is often empty, and the utilisation falls below 97 %. Lower w_q " +
        "to 0.0002, and the average is later still: the queue's deviation grows by half and more.",
      set: { "dumbbell.delay": "150 ms" },
    },
    {
      text:
        "The short path is back, with three times as many flows. The more flows, the smaller each " +
        "window and the higher the loss that they need; RED has a higher drop probability only at a " +
        "longer average queue. So the queue grows from 27 to some 47 packets: RED does not hold a " +
        "length, its queue tells how high the load is.",
      set: { "dumbbell.delay": "30 ms", "traffic.reno.count": 60 },
    },
  ],
  question: {
    text:
      "To what value must you raise max_p, so that the mean queue of these 60 flows falls below 30 " +
      "packets?",
    hint: "Raise max_p in small steps from 0.05 on, and read the mean over half a minute each time.",
    unit: "",
    least: 0.14,
    most: 0.2,
    because:
      "A steeper line reaches the 5.5 % of drops that 60 flows need at a shorter queue, with a max_p of " +
      "about 0.17. But go back to 10 flows with it: RED now drops too much at once, the queue is empty " +
      "for a tenth of the time and more, and the utilisation falls below 96 %.",
  },
};
