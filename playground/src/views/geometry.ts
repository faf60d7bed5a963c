import { FALL } from "../model/packets.js";
import type { Ways } from "../model/scenario.js";

/** Where the parts of a dumbbell are drawn, in CSS pixels. */
export interface Geometry {
  width: number;
  height: number;
  /** The size of everything, 1 in a picture of the least height. */
  scale: number;
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
}

const LEAST_HEIGHT = 132;

export function geometry(width: number): Geometry {
  const height = Math.round(Math.min(2 * LEAST_HEIGHT, Math.max(LEAST_HEIGHT, 0.09 * width)));
  const scale = height / LEAST_HEIGHT;
  const margin = 14 * scale;
  const inner = width - 2 * margin;
  const middle = height / 2 - 6 * scale;
  const queue = {
    left: margin + 0.2 * inner,
    right: margin + 0.56 * inner,
    top: middle - 30 * scale,
    bottom: middle + 30 * scale,
  };
  const rows = 10;
  return {
    width,
    height,
    scale,
    senders: margin,
    router: queue.right + 6 * scale,
    far: margin + 0.84 * inner,
    receivers: width - margin,
    top: middle - 40 * scale,
    middle,
    bottom: middle + 40 * scale,
    queue,
    cell: (queue.bottom - queue.top) / rows,
    rows,
  };
}

/** What the place of a packet depends on. */
export interface Moving {
  arrived: number;
  at: number;
  /** Whether it was lost: 1 at random, 2 and 3 at the queue, 4 for its ECN, 5 by collisions. */
  fate: number;
  flow: number;
  size: number;
}

/** Where a packet is. */
export type Place =
  | { kind: "way" | "queue"; x: number; y: number }
  | { kind: "lost"; x: number; y: number; alpha: number };

/** The time that a picture shows, and the circumstances. */
export interface Moment {
  t: number;
  ways: Ways;
  /** The rate of the link in bit/s. */
  rate: number;
  /** The simulated time that passes in a second. */
  speed: number;
  /** Whether lost packets stay where they were lost. */
  calm: boolean;
}

/** Where a packet is; null if it is not in the picture. `queued` is the number of packets that wait before it. */
export function place(
  packet: Moving,
  { t, ways, rate, speed, calm }: Moment,
  shape: Geometry,
  queued: number,
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
  if (packet.fate > 0) {
    const passed = since / (FALL * Math.max(speed, 1e-3));
    if (passed > 1) return null;
    // A discipline that drops at dequeue, as CoDel does, loses what has waited.
    const end = packet.at > packet.arrived ? queue.right - 8 * shape.scale : queue.left + 8 * shape.scale;
    const x = packet.fate === 1 || packet.fate === 4 ? (shape.router + shape.far) / 2 : end;
    if (calm) return { kind: "lost", x, y: middle, alpha: 1 };
    return { kind: "lost", x, y: middle + passed * (shape.height - middle), alpha: 1 - passed };
  }
  const over = (8 * packet.size) / rate + ways.delay;
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
