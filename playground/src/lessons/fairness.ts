import type { Lesson } from "./lesson";

/** A flow that does not slow down, in one queue and in a queue of its own. */
export const fairness: Lesson = {
  id: "fairness",
  title: "Fair queueing",
  summary:
    "A discipline on one queue cannot protect flows from one that does not slow down; a queue for each " +
    "flow can.",
  scenario: `title = "An unresponsive flow"
duration = "300 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "200 packets"

[[traffic]]
name = "cubic"
count = 4
start = "uniform(0 s, 1 s)"

[[traffic]]
name = "udp"
kind = "cbr"
rate = "8 Mbit/s"
`,
  aqms: ["droptail"],
  sliders: ["traffic.udp.rate", "traffic.cubic.count", "dumbbell.rate"],
  steps: [
    {
      text:
        "Four flows of CUBIC share 10 Mbit/s with UDP that sends 8 Mbit/s, whatever is lost. Look at " +
        "the rates of the flows: UDP gets what it sends, and CUBIC what it leaves, 0.5 Mbit/s each. TCP " +
        "slows down when it loses; UDP does not.",
    },
    {
      text:
        "CoDel beside it keeps the queueing delay near 20 ms instead of 230, but drops by the delay of " +
        "the queue, not by whose packets they are. UDP and TCP lose about the same share of their " +
        "packets, and UDP still has more than 7 of the 10 Mbit/s.",
      aqms: ["droptail", "codel"],
      restart: true,
    },
    {
      text:
        "FQ-CoDel gives each flow a queue and serves them in turn, so that each of the five gets 2 " +
        "Mbit/s; three quarters of what UDP sends is lost. Do not be misled by its long queue: more " +
        "than 100 packets wait, but nearly all are UDP's own. CUBIC's wait for about 9 ms.",
      aqms: ["droptail", "codel", "fq_codel"],
      restart: true,
    },
  ],
  question: {
    text:
      "How much can the UDP flow send at most without losing more than 5 % of its packets, if the " +
      "discipline is FQ-CoDel?",
    hint:
      "Lower the rate of udp until FQ-CoDel's drops fall to the few that CUBIC itself needs, less than " +
      "1 % of the arrivals.",
    unit: "Mbit/s",
    least: 1.9,
    most: 2.15,
    because:
      "Its fair share: a fifth of 10 Mbit/s. Below it the flow's queue is empty whenever its turn " +
      "comes, and it hardly waits; above it all of the excess is lost, since a flow that does not slow " +
      "down fills its own queue.",
  },
};
