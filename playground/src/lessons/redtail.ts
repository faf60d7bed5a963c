import type { Lesson } from "./lesson";

/** Short flows in a queue of their own. */
export const redtail: Lesson = {
  id: "redtail",
  title: "RED+Tail and short flows",
  summary:
    "RED+Tail spares the first packets of every connection: short flows lose less and are sooner done.",
  scenario: `title = "Web and long flows"
duration = "300 s"

[dumbbell]
rate = "3 Mbit/s"
delay = "2 ms"
buffer = "160 kB"
buffer_admission = "fits"
sender_delay = "1 ms"
hosts = 60 # one for each person with a browser: round trips of 16 to 240 ms
receiver_delay = "uniform(5 ms, 117 ms)"

# Where the long flows end: 64 ms there and back.
[[link]]
name = "long"
from = "r2"
to = "long"
delay = "29 ms"

[[traffic]]
name = "ftp"
to = "long"
count = 10
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
tcp = "newreno"

[[traffic]]
name = "web"
kind = "web"
count = 60
size = "pareto(10 kB, 1.3)"
think = "exponential(7 s)"
packet_size = "1000 B"
start = "uniform(0 s, 3 s)"
tcp = "newreno"

[[traffic]]
name = "udp"
kind = "cbr"
to = "long"
rate = "160 kbit/s"
packet_size = "1000 B"
`,
  aqms: ["droptail"],
  sliders: ["dumbbell.buffer", "aqm.max_th1", "aqm.n", "traffic.web.count", "traffic.udp.rate"],
  steps: [
    {
      text:
        "Ten long flows keep a drop-tail queue close to 160 kB; beside them 60 people fetch small " +
        "files, and one source of UDP sends 160 kbit/s. Each packet waits for more than 300 ms, and web " +
        "loses about five times as much of its packets as ftp: its flows are in slow start and come in " +
        "bursts, which a full buffer cuts off.",
    },
    {
      text:
        "Adaptive RED beside it drops before the buffer is full. The queueing delay falls below 150 ms, " +
        "and a web file takes about half the time. But early drops ask nobody whose packet it is: web, " +
        "ftp and UDP now lose alike, though neither a file of a few packets nor UDP slows down for " +
        "them, and the share of drops is higher than with drop-tail.",
      aqms: ["droptail", "ared:preset=redtail"],
      restart: true,
    },
    {
      text:
        "RED+Tail lets the first 64 packets of a pair of addresses, and all UDP, into a queue without " +
        "early drops, and serves it the faster the longer it is; the rest meets Adaptive RED. Web then " +
        "loses less than half of what it loses with Adaptive RED, and UDP nothing. The price is paid by " +
        "the long flows: they wait some 30 ms longer.",
      aqms: ["droptail", "ared:preset=redtail", "redtail"],
      restart: true,
    },
  ],
  question: {
    text:
      "To how many kB must the buffer shrink, so that drop-tail's mean queueing delay is as short as " +
      "RED+Tail's with 160 kB, 148 ms?",
    hint: "Look at drop-tail alone while you lower the buffer. Then compare the shares of drops.",
    unit: "kB",
    least: 62,
    most: 72,
    because:
      "About 67 kB. At the same delay drop-tail drops some 3 % of the arrivals, RED+Tail 1 %: a short " +
      "buffer makes the delay short, but takes no account of who fills it, and more than 5 % of web's " +
      "packets are lost.",
  },
};
