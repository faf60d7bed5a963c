import type { Lesson } from "./lesson";

/** DualPI2 with scalable and classic flows. */
export const l4s: Lesson = {
  id: "l4s",
  title: "L4S",
  summary:
    "DualPI2 gives scalable flows less than a millisecond of queueing delay, and classic ones beside " +
    "them a fair rate.",
  scenario: `title = "Scalable beside classic flows"
duration = "300 s"

[dumbbell]
rate = "40 Mbit/s"
delay = "5 ms"
buffer = "1000 packets"
sender_delay = "1 ms"
receiver_delay = "1 ms"

[[traffic]]
name = "prague"
count = 2
start = "uniform(0 s, 1 s)"
tcp = "prague"

[[traffic]]
name = "cubic"
count = 2
start = "uniform(0 s, 1 s)"
tcp = "cubic"
`,
  aqms: ["pie:ecn=true"],
  sliders: ["aqm.k", "aqm.target", "dumbbell.delay", "traffic.prague.count", "traffic.cubic.count"],
  steps: [
    {
      text:
        "Two flows of TCP Prague and two of CUBIC share one queue, whose PIE marks the packets of " +
        "Prague and drops those of CUBIC, which is without ECN here. All wait for 15 ms, PIE's target. " +
        "Look at the rates: a loss takes three tenths of CUBIC's window, whereas marks reduce Prague's " +
        "only in proportion to their share, so that Prague has about nine tenths of the link.",
    },
    {
      text:
        "DualPI2 beside it has two queues, one of them for packets that say by ECT(1) that their sender " +
        "is scalable. Prague's packets wait there for less than a millisecond, those of CUBIC in the " +
        "other for 15 ms, the target. CUBIC now has more than 15 of the 40 Mbit/s, and the link is " +
        "still full.",
      aqms: ["pie:ecn=true", "dualpi2"],
      restart: true,
    },
    {
      text:
        "How the two share: DualPI2 computes one probability p, and drops CUBIC's packets with its " +
        "square, as the rate of classic TCP falls with the root of the loss. It marks Prague's with k " +
        "times p, as theirs falls with the mark ratio itself. So about 10 % of Prague's packets are " +
        "marked and about 0.3 % of CUBIC's dropped, at k = 2.",
      aqms: ["dualpi2"],
      restart: true,
    },
  ],
  question: {
    text:
      "Prague has some 23 Mbit/s and CUBIC 17. To what value must you raise k, so that both have the " +
      "same rate?",
    hint: "Compare the rates of the flows; half a minute is enough for a mean.",
    unit: "",
    least: 2.5,
    most: 2.9,
    because:
      "A larger k means more marks for the same drops; with 2.7 both have 20 Mbit/s. The value suits " +
      "this round trip: with a link delay of 1 ms CUBIC has the higher rate already at k = 2.",
  },
};
