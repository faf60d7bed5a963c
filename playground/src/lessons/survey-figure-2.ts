import type { Lesson } from "./lesson";

/** The core router of the survey. */
export const surveyFigure2: Lesson = {
  id: "survey-figure-2",
  title: "The survey, Figure 2b: delay at a core router",
  summary:
    "In the 20 s that the survey measures, PI has not yet learnt its probability; RED rests far below " +
    "max_th.",
  paper: { name: "survey", figure: "Fig. 2b" },
  scenario: `title = "A core router"
duration = "300 s"
clock = "integer"

[dumbbell]
rate = "45 Mbit/s"
delay = "10 ms"
buffer = "100 kB"
hosts = 70
access_rate = "100 Mbit/s"
access_buffer = "200 packets"
sender_delay = "uniform(5 ms, 20 ms)"
receiver_delay = "uniform(5 ms, 20 ms)"

[[traffic]]
name = "ftp"
count = 210
start = "uniform(0 s, 1 s)"
packet_size = "1000 B"
tcp = { preset = "ns2-2002", flavour = "newreno", ecn = true }

# 200 kbit/s each on average: a fifth of the time at 1 Mbit/s.
[[traffic]]
name = "udp"
kind = "on-off"
count = 70
rate = "1 Mbit/s"
on = "exponential(20 ms)"
off = "exponential(80 ms)"
packet_size = "100 B"
`,
  aqms: ["droptail", "pi:preset=survey"],
  sliders: ["aqm.max_p", "aqm.w_q", "traffic.ftp.count", "dumbbell.rate"],
  steps: [
    {
      text:
        "A buffer of 100 kB at 45 Mbit/s, which is 17.8 ms, with 210 TCP flows and ECN. The survey runs " +
        "each discipline for 20 s, and finds that PI loses almost as much as drop-tail. Let it run to " +
        "20 s: the mean queueing delay of both is above 15 ms, although PI's target of 70 kB is 12.4 " +
        "ms.",
    },
    {
      text:
        "Let it run on. PI's probability is about 0.1 after 20 s and still climbs, to more than 0.2 " +
        "after 100 s; its delay is then near 13 ms, and that of drop-tail what it was. So the figure " +
        "shows the start of PI and not its operating point: 20 s are too short for an integral to add " +
        "up so much.",
    },
    {
      text:
        "RED beside them, with thresholds of 20 and 80 kB and max_p = 1. The survey sees it rest around " +
        "max_th, which is 14.2 ms; here its delay is about 7 ms, because far below max_th it already " +
        "marks or drops as many packets as the load asks for. It cannot mark UDP, whose packets are " +
        "small: they are most of its drops.",
      aqms: ["droptail", "pi:preset=survey", "red:preset=survey"],
      restart: true,
    },
  ],
  question: {
    text: "To what value must you lower max_p, so that RED's mean queueing delay exceeds 12 ms?",
    hint: "RED settles in seconds: read the mean over ten of them.",
    unit: "",
    least: 0.28,
    most: 0.45,
    because:
      "With a max_p of about 0.35 RED reaches the probability that the load asks for further up its " +
      "line. How near to max_th RED rests follows from the load and from max_p; it is no property of " +
      "max_th.",
  },
};
