import type { Lesson } from "./lesson";

/** GRED-I, from the study of tail drop, RED and Gentle RED. */
export const impactFigure11: Lesson = {
  id: "impact-figure-11",
  title: "The GRED-I study, Figures 6 and 11: no average",
  summary:
    "RED's queue swings since it acts on an average; GRED-I acts on the queue itself, and its queue is " +
    "steady.",
  paper: { name: "impact", figure: "Fig. 11" },
  scenario: `title = "Greedy TCP and UDP"
duration = "300 s"
clock = "integer"

[dumbbell]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "200 packets"
hosts = 32
access_rate = "100 Mbit/s"
sender_delay = "uniform(50 ms, 100 ms)"
receiver_delay = "5 ms"

[[traffic]]
name = "newreno"
count = 200
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
tcp = { preset = "ns2-2002", flavour = "newreno" }

# 100 kbit/s each on average.
[[traffic]]
name = "udp"
kind = "on-off"
count = 10
rate = "200 kbit/s"
on = "40 ms"
off = "uniform(0 s, 80 ms)"
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
`,
  aqms: ["droptail", "red:preset=impact,spacing=wait"],
  sliders: ["aqm.min_th", "traffic.newreno.count", "dumbbell.rate"],
  steps: [
    {
      text:
        "200 flows of TCP and 10 % of UDP, first with tail drop and RED, as in Figure 6. Drop-tail's " +
        "queue is nearly full, with a deviation of some 5 packets of 200. RED's average is pushed " +
        "against max_th, 90 packets: above it RED drops every arrival until the average has sunk, and " +
        "the queue swings with more than twice drop-tail's deviation.",
    },
    {
      text:
        "GRED-I beside them, as in Figure 11, has a weight of 1, hence no average, and a line from " +
        "min_th, 30 packets, up to the buffer's end. Every arrival is judged by the queue that it " +
        "finds, so that the signal is never late: the deviation is about half of RED's. The utilisation " +
        "is 100 % with all three.",
      aqms: ["droptail", "red:preset=impact,spacing=wait", "gredi:spacing=wait"],
      restart: true,
    },
    {
      text:
        "The paper prints a mean delay 50 % shorter with GRED-I than with tail drop. Drop-tail has 156 " +
        "ms here and GRED-I 53 ms, which is two thirds shorter. GRED-I's queue rests where its line " +
        "gives the loss of 14 to 15 % that the load asks for, and where that line begins, the value of " +
        "min_th, is lost in our copy of the paper.",
      aqms: ["droptail", "gredi:spacing=wait"],
      restart: true,
    },
  ],
  question: {
    text: "Which min_th would give the paper's 50 %, a mean queueing delay of 78 ms with GRED-I?",
    hint: "Raise min_th and read GRED-I's mean queueing delay.",
    unit: "packets",
    least: 65,
    most: 80,
    because:
      "About 72 packets: then a fifth of the way from min_th to 200 packets is at about 97 packets, and " +
      "these take 78 ms. GRED-I's delay is a matter of where its line begins; that its queue hardly " +
      "swings holds with any min_th.",
  },
};
