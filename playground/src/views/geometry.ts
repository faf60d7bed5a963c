import type { Packet } from "../model/packets.js";

/** Where the parts of a dumbbell are drawn, in CSS pixels. */
export interface Geometry {
  senders: number;
  router: number;
  far: number;
  receivers: number;
  top: number;
  middle: number;
  bottom: number;
  queue: { left: number; right: number; top: number; bottom: number };
  /** The side of a waiting packet, and how many are above each other. */
  cell: number;
  rows: number;
  height: number;
}

export function geometry(width: number, height: number): Geometry {
  const margin = 14;
  const inner = width - 2 * margin;
  const middle = height / 2 - 6;
  const queue = {
    left: margin + 0.2 * inner,
    right: margin + 0.56 * inner,
    top: middle - 30,
    bottom: middle + 30,
  };
  const rows = 10;
  return {
    senders: margin,
    router: queue.right + 6,
    far: margin + 0.84 * inner,
    receivers: width - margin,
    top: middle - 40,
    middle,
    bottom: middle + 40,
    queue,
    cell: (queue.bottom - queue.top) / rows,
    rows,
    height,
  };
}

/** The delays in s and the rate in bit/s of the ways to, over and from the observed link. */
export interface Ways {
  rate: number;
  delay: number;
  before: number;
  after: number;
}

/** Where a packet is. */
export type Place =
  | { kind: "way" | "queue"; x: number; y: number }
  | { kind: "lost"; x: number; y: number; alpha: number };

/** For how long a lost packet is seen to fall, in s on the reader's clock. */
const FALL = 0.5;

/**
 * Where a packet is at the time `t`; null if it is not in the picture. `queued` is the number of packets that wait before it,
 * `speed` the simulated time that passes in a second.
 */
export function place(
  packet: Packet,
  t: number,
  ways: Ways,
  shape: Geometry,
  queued: number,
  speed: number,
): Place | null {
  const { queue, middle } = shape;
  const y = [shape.top, middle, shape.bottom][packet.flow % 3] as number;
  if (t < packet.arrived) {
    const done = 1 - (packet.arrived - t) / ways.before;
    if (!(done >= 0)) return null;
    return {
      kind: "way",
      x: shape.senders + done * (queue.left - shape.senders),
      y: y + done * (middle - y),
    };
  }
  if (t < packet.at) return inQueue(shape, queued);
  const since = t - packet.at;
  if (packet.lost !== null) {
    const fallen = since / (FALL * Math.max(speed, 1e-3));
    if (fallen > 1 || speed === 0) return null;
    const from = packet.lost === "at random" ? (shape.router + shape.far) / 2 : queue.left + 8;
    return { kind: "lost", x: from, y: middle + fallen * (shape.height - middle), alpha: 1 - fallen };
  }
  const over = (8 * packet.size) / ways.rate + ways.delay;
  if (since < over) {
    return { kind: "way", x: shape.router + (since / over) * (shape.far - shape.router), y: middle };
  }
  const done = (since - over) / ways.after;
  if (!(done <= 1)) return null;
  return {
    kind: "way",
    x: shape.far + done * (shape.receivers - shape.far),
    y: middle + done * (y - middle),
  };
}

/** The place of a waiting packet: columns from the right, each from the bottom. What no longer fits is in the last one. */
function inQueue({ queue, cell, rows }: Geometry, queued: number): Place {
  const columns = Math.floor((queue.right - queue.left) / cell);
  const column = Math.floor(queued / rows);
  const x = queue.right - (Math.min(column, columns - 1) + 0.5) * cell;
  return { kind: "queue", x, y: queue.bottom - ((queued % rows) + 0.5) * cell };
}
