import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show } from "solid-js";
import type { Lab, LaneState } from "../model/lab.js";
import { isSame, type Packet, packet } from "../model/packets.js";
import { short, text } from "../model/quantity.js";
import { traffic, ways } from "../model/scenario.js";
import type { Columns } from "../worker/protocol.js";
import { flowColour, laneColour, lostColour } from "./colours.js";
import { type Geometry, geometry, type Moment, type Place, place } from "./geometry.js";
import { calm, scheme } from "./scheme.js";
import { Term } from "./Term.js";

/** How near a packet must be to a click, in CSS pixels. */
const NEAR = 16;

/** One lane's bottleneck with its packets. A click on a packet follows it. */
export function Network(props: { lab: Lab; lane: number }) {
  const { lab } = props;
  let canvas!: HTMLCanvasElement;
  const [width, setWidth] = createSignal(600);
  /** Counts the choices of a packet. */
  const [choices, setChoices] = createSignal(0);
  const lane = () => lab.lanes()[props.lane] as LaneState;
  const shape = createMemo<Geometry>(() => geometry(width()));
  const own = createMemo(() => ways(lane().checked.scenario));

  /** What the picture shows: the time at which every packet on its way to the queue is known. */
  const moment = (): Moment => ({
    t: lab.now() - own().before,
    ways: own(),
    rate: lane().samples.rate() || 1e9,
    speed: lab.falling(),
    calm,
  });

  /** Calls `act` with each packet in the picture and its place; returns how many wait. */
  function placed(act: (table: Columns, i: number, at: Place, arrived: number) => void): number {
    const now = moment();
    const drawn = shape();
    let queued = 0;
    lane().packets.each((table, i, arrived, at) => {
      const moving = {
        arrived,
        at,
        fate: table.fate?.[i] ?? 0,
        flow: table.flow?.[i] ?? 0,
        size: table.size?.[i] ?? 0,
      };
      const where = place(moving, now, drawn, queued);
      if (where?.kind === "queue") queued += 1;
      if (where) act(table, i, where, arrived);
    });
    return queued;
  }

  function draw() {
    const context = canvas.getContext("2d");
    if (!context) return;
    const { height, scale, cell, router } = shape();
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width() * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width() * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width(), height);
    const style = getComputedStyle(canvas);
    const [line = "", muted = "", ink = ""] = ["--grid", "--muted", "--text"].map((name) =>
      style.getPropertyValue(name),
    );
    const font = `${Math.round(11 * scale)}px system-ui, sans-serif`;
    drawNetwork(context, shape(), line, muted, laneColour(scheme(), props.lane), font);
    const { followed } = lane().packets;
    const queued = placed((table, i, at, arrived) => {
      const radius = at.kind === "queue" ? cell / 2 - 0.5 : 3.2 * scale;
      context.globalAlpha = at.kind === "lost" ? at.alpha : 1;
      context.fillStyle =
        at.kind === "lost"
          ? lostColour(scheme())
          : flowColour(scheme(), table.class?.[i] ?? 0, table.flow?.[i] ?? 0);
      context.strokeStyle = ink;
      context.beginPath();
      if (at.kind === "queue") context.rect(at.x - radius, at.y - radius, 2 * radius, 2 * radius);
      else context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
      context.fill();
      if (table.marked?.[i]) context.stroke();
      if (followed && isSame(followed, table, i, arrived)) {
        context.lineWidth = 2;
        context.beginPath();
        context.arc(at.x, at.y, 8 * scale, 0, 2 * Math.PI);
        context.stroke();
        context.lineWidth = 1;
      }
      context.globalAlpha = 1;
    });
    context.fillStyle = muted;
    context.font = font;
    context.textAlign = "right";
    context.fillText(`${queued} waiting`, router, height - 6);
  }

  function choose(chosen: Packet | null) {
    lane().packets.follow(chosen);
    setChoices((count) => count + 1);
  }

  function click(event: MouseEvent) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best: Packet | null = null;
    let nearest = NEAR * shape().scale;
    placed((table, i, at) => {
      const distance = Math.hypot(at.x - x, at.y - y);
      if (distance < nearest) [best, nearest] = [packet(table, i), distance];
    });
    choose(best);
  }

  /** Follows the packet that came last: what a click does, for the keyboard. */
  function followLast() {
    let last: Packet | null = null;
    let latest = Number.NEGATIVE_INFINITY;
    lane().packets.each((table, i, arrived) => {
      if (arrived >= latest) [last, latest] = [packet(table, i), arrived];
    });
    choose(last);
  }

  const followed = () => {
    lab.frames();
    choices();
    return lane().packets.followed;
  };
  const account = () => {
    const current = followed();
    if (current === null) return "";
    const entry = traffic(lane().checked.scenario)[current.class];
    const name = `Packet ${current.seq} of flow ${current.flow} (${entry?.name}, ${current.size} B)`;
    const came = `came at ${current.arrived.toFixed(4)} s`;
    if (!Number.isFinite(current.at)) {
      return `${name} ${came} and has waited ${text(Math.max(0, lab.now() - current.arrived), "s")}.`;
    }
    const waited = text(current.at - current.arrived, "s");
    if (current.lost) return `${name} ${came} and was lost ${current.lost} after ${waited}.`;
    return `${name} ${came}, waited ${waited}${current.marked ? ", was marked" : ""} and left.`;
  };

  onMount(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.clientWidth));
    observer.observe(canvas);
    onCleanup(() => observer.disconnect());
    createEffect(() => {
      lab.frames();
      choices();
      draw();
    });
  });

  const classes = () =>
    traffic(lane().checked.scenario)
      .map(({ name, count }, i) => ({ name, count, i }))
      .filter(({ count }) => count > 0);

  return (
    <figure class="network">
      <figcaption>
        <strong>
          <i style={{ background: laneColour(scheme(), props.lane) }} />
          {lab.label(props.lane)}
        </strong>
        <For each={classes()}>
          {({ name, count, i }) => (
            <span class="key">
              <i style={{ background: flowColour(scheme(), i) }} />
              {short(count)} {name}
            </span>
          )}
        </For>
        <button type="button" class="quiet" onClick={followLast}>
          Follow a packet
        </button>
      </figcaption>
      <canvas
        ref={(element) => {
          canvas = element;
        }}
        style={{ height: `${shape().height}px` }}
        role="img"
        aria-label={`Senders, a queue with ${lab.label(props.lane)}, the bottleneck and receivers, with their packets`}
        onClick={click}
      />
      <Show when={followed()}>
        <p class="account">
          {/* Announced once, when it is over. */}
          <span aria-live={Number.isFinite(followed()?.at) ? "polite" : "off"}>{account()}</span>{" "}
          <button type="button" class="quiet" onClick={() => choose(null)}>
            Let it go
          </button>
        </p>
      </Show>
      <Show when={own().before === 0 && props.lane === 0}>
        <p class="note">
          Packets appear at the <Term name="bottleneck" />: the delays before it differ, or are 0.
        </p>
      </Show>
    </figure>
  );
}

function drawNetwork(
  context: CanvasRenderingContext2D,
  { senders, router, far, receivers, middle, top, bottom, queue, scale }: Geometry,
  line: string,
  muted: string,
  accent: string,
  font: string,
) {
  context.strokeStyle = line;
  context.lineWidth = 2 * scale;
  for (const y of [top, middle, bottom]) {
    context.beginPath();
    context.moveTo(senders, y);
    context.lineTo(queue.left, middle);
    context.moveTo(far, middle);
    context.lineTo(receivers, y);
    context.stroke();
  }
  context.lineWidth = 5 * scale;
  context.beginPath();
  context.moveTo(router, middle);
  context.lineTo(far, middle);
  context.stroke();
  context.lineWidth = 1;
  context.strokeStyle = accent;
  context.strokeRect(queue.left, queue.top, queue.right - queue.left, queue.bottom - queue.top);
  context.fillStyle = muted;
  for (const [x, y] of [
    [router, middle],
    [far, middle],
  ] as const) {
    context.beginPath();
    context.arc(x, y, 6 * scale, 0, 2 * Math.PI);
    context.fill();
  }
  context.font = font;
  context.textAlign = "left";
  context.fillText("senders", senders, bottom + 16 * scale);
  context.textAlign = "center";
  context.fillText("bottleneck", (router + far) / 2, middle + 18 * scale);
  context.textAlign = "right";
  context.fillText("receivers", receivers, bottom + 16 * scale);
}
