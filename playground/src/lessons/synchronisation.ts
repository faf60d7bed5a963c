import type { Lesson } from "./lesson";

/** Tail drop makes windows fall together, if TCP is as it was. */
export const synchronisation: Lesson = {
  id: "synchronisation",
  title: "Global synchronisation",
  summary:
    "A full buffer can hit all flows in the same round trip, so that their windows fall together; " +
    "random early drops spread them out.",
  scenario: `title = "Ten flows at a full buffer"
duration = "300 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "100 packets"
loss = 0.0 # random losses, for the slider

# A classic receiver, which acknowledges every segment.
[[traffic]]
name = "reno"
count = 10
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"
tcp = "newreno:delayed_ack=false"

# The TCP of Linux, for the second step.
[[traffic]]
name = "cubic"
count = 0
packet_size = "1000 B"
start = "uniform(0 s, 1 s)"

[record]
loss_event = "200 ms" # a round trip with its queue
`,
  aqms: ["droptail"],
  sliders: ["dumbbell.buffer", "traffic.reno.count", "traffic.cubic.count", "dumbbell.loss"],
  steps: [
    {
      text:
        "Ten flows of classic TCP, whose receivers acknowledge every segment, fill a drop-tail buffer. " +
        "Look at the congestion windows: all ten fall at the same time. In each round trip every flow " +
        "adds a packet to its window and sends it right behind another one; when the buffer is full, it " +
        "is this extra packet of every flow that finds no room, and the queue of all flows together has " +
        "the saw teeth of a single one.",
    },
    {
      text:
        "Ten flows of CUBIC, as Linux has it, at the same buffer. A loss event now hits only about half " +
        "of the flows: acknowledgements are delayed, so that fewer flows send two packets in a row, and " +
        "CUBIC grows with the time since its last loss, which differs from flow to flow. The windows " +
        "fall one after the other, and the queue stays nearly full, with less than half the deviation: " +
        "what the textbooks call global synchronisation is rare here.",
      set: { "traffic.reno.count": 0, "traffic.cubic.count": 10 },
      restart: true,
    },
    {
      text:
        "The classic flows are back, and RED runs beside drop-tail. Its drops are spread out by chance: " +
        "an event hits about a third of the flows, and the windows move independently of each other. So " +
        "a mean queue of less than 35 packets keeps the utilisation at 99 %, where drop-tail has some " +
        "63 packets on average, from nearly empty to 100.",
      set: { "traffic.reno.count": 10, "traffic.cubic.count": 0 },
      aqms: ["droptail", "red:min_th=20,max_th=80,max_p=0.05,w_q=0.002"],
      restart: true,
    },
  ],
  question: {
    text:
      "How many packets must the buffer hold at least, so that drop-tail's utilisation exceeds 99 % " +
      "with the classic flows?",
    hint:
      "Lower the buffer until the queue touches the bottom for so long that the link idles, and raise " +
      "it again. Read means over several saw teeth.",
    unit: "packets",
    least: 60,
    most: 70,
    because:
      "Windows that fall together are halved together, and the queue must bridge what is missing until " +
      "they have grown again: nearly the bandwidth-delay product, here 81 packets, as for a single " +
      "flow. Flows that are not in step need a fraction of it.",
  },
};
