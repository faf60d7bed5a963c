import type { Lesson } from "./lesson";

/** Thresholds that move, from the RED+Tail paper. */
export const redtailFigure10: Lesson = {
  id: "redtail-figure-10",
  title: "RED+Tail, Figure 10: thresholds that move",
  summary:
    "Fixed thresholds hold the queue and let the load decide the loss; moving ones hold the loss, and " +
    "the queue takes up the load.",
  paper: { name: "redtail", figure: "Fig. 10" },
  scenario: `title = "Fixed and moving thresholds"
duration = "400 s"
clock = "integer"

[dumbbell]
rate = "6 Mbit/s"
delay = "2 ms"
buffer = "800 kB"
buffer_admission = "fits"
sender_delay = "1 ms"
receiver_delay = "29 ms"

[[traffic]]
name = "reno"
count = 20
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
tcp = "ns2-2002:flavour=reno,initial_ssthresh=64,initial_window=1,initial_rto=6 s,limited_transmit=off"
`,
  aqms: [
    "ared:preset=redtail,by_size=false",
    "dtared:min_bytes=20 kB,max_bytes=80 kB,spacing=wait,bytes=true,by_size=false,p_l=0.01,p_u=0.02,gamma=0.05",
  ],
  sliders: ["traffic.reno.count", "aqm.max_bytes", "aqm.p_u", "aqm.p_l"],
  steps: [
    {
      text:
        "Twenty flows at two kinds of Adaptive RED. The first has thresholds at 20 and 80 kB: it holds " +
        "some 50 packets of 1000 bytes, and drops about 2.7 % of the arrivals. The other moves its " +
        "thresholds until its drop probability is between 1 and 2 %; after a minute some 160 packets " +
        "wait there, and it drops about 1 %.",
    },
    {
      text:
        "Forty flows, as in the figure from 100 to 300 s. With fixed thresholds the mean queue is again " +
        "some 50 packets, and the drops have doubled to more than 5 %. With moving thresholds the drops " +
        "stay below 1.5 %, and the mean queue is about twice as long: it is the longer round trip that " +
        "makes the flows slower, and no longer the loss.",
      set: { "traffic.reno.count": 40 },
    },
    {
      text:
        "Compare what each pays. Fixed thresholds keep the queueing delay near 68 ms, and every " +
        "twentieth packet has to be sent again; moving ones delay each packet by more than 400 ms, and " +
        "their queue has more than twice the deviation. The goodput hardly differs, whatever the paper " +
        "hopes for: the link is full with both, and a packet that is dropped in front of it takes " +
        "nothing of its rate.",
    },
  ],
  question: {
    text:
      "To how many kB must you raise max_bytes of the fixed thresholds, so that Adaptive RED drops less " +
      "than 3 % of the arrivals of 40 flows?",
    hint: "Look at Adaptive RED alone. It still adjusts max_p, so give it a minute after each change.",
    unit: "kB",
    least: 250,
    most: 320,
    because:
      "About 280 kB, with a mean queue of some 150 packets and a delay of 200 ms. There is no way " +
      "around it: at a given rate and number of flows, less loss means larger windows, and these wait " +
      "in the queue.",
  },
};
