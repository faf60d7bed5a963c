import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show } from "solid-js";
import type { Lab, LaneState } from "../model/lab.js";
import { isForward, type Packet } from "../model/packets.js";
import { amount, short, text } from "../model/quantity.js";
import { observed } from "../model/sliders.js";
import { flowColour, laneColour } from "./colours.js";
import { type Geometry, geometry, type Place, place, type Ways } from "./geometry.js";
import { calm, scheme } from "./scheme.js";
import { Term } from "./Term.js";

const HEIGHT = 132;

/** How near a packet must be to a click, in CSS pixels. */
const NEAR = 16;

/** The delays of the ways to and from the observed link, as far as the picture shows them. */
function ways({ checked }: LaneState): Ways {
  const { link } = observed(checked.scenario);
  const first = (value: unknown) =>
    amount(Array.isArray(value) && value.length === 1 ? value[0] : value, "s") ?? 0;
  return {
    rate: amount(link.rate, "bit/s") ?? 1e7,
    delay: first(link.delay),
    before: first(link.sender_delay),
    after: first(link.receiver_delay),
  };
}

/** One lane's bottleneck with its packets. A click on a packet follows it. */
export function Network(props: { lab: Lab; lane: number }) {
  const { lab } = props;
  let canvas!: HTMLCanvasElement;
  const [followed, setFollowed] = createSignal<Packet | null>(null);
  const [width, setWidth] = createSignal(600);
  const lane = () => lab.lanes()[props.lane] as LaneState;
  const shape = createMemo<Geometry>(() => geometry(width(), HEIGHT));

  /** The time that the picture shows: that at which the last packet was known that is still before the queue. */
  const shown = () => lab.now() - ways(lane()).before;

  const colour = (packet: Packet) => flowColour(scheme(), packet.class, packet.flow);

  function draw() {
    const context = canvas.getContext("2d");
    if (!context) return;
    const ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width() * ratio)) {
      canvas.width = Math.round(width() * ratio);
      canvas.height = Math.round(HEIGHT * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width(), HEIGHT);
    const style = getComputedStyle(canvas);
    const [line, muted, ink] = ["--grid", "--muted", "--text"].map((name) => style.getPropertyValue(name));
    drawNetwork(
      context,
      shape(),
      line as string,
      muted as string,
      laneColour(scheme(), props.lane) as string,
    );
    const t = shown();
    const own = ways(lane());
    let queued = 0;
    const dot = (packet: Packet, at: Place) => {
      const radius = at.kind === "queue" ? shape().cell / 2 - 0.5 : 3.2;
      context.globalAlpha = at.kind === "lost" ? at.alpha : 1;
      context.fillStyle = at.kind === "lost" ? "#d00000" : colour(packet);
      context.beginPath();
      if (at.kind === "queue") context.rect(at.x - radius, at.y - radius, 2 * radius, 2 * radius);
      else context.arc(at.x, at.y, radius, 0, 2 * Math.PI);
      context.fill();
      if (packet.marked) {
        context.strokeStyle = ink as string;
        context.stroke();
      }
      if (isFollowed(packet)) {
        context.strokeStyle = ink as string;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(at.x, at.y, 8, 0, 2 * Math.PI);
        context.stroke();
        context.lineWidth = 1;
      }
      context.globalAlpha = 1;
    };
    for (const packet of lane().packets.all()) {
      if (!isForward(packet)) continue;
      const at = place(packet, t, own, shape(), queued, calm ? 0 : lab.speed());
      if (at?.kind === "queue") queued += 1;
      if (at) dot(packet, at);
    }
    context.fillStyle = muted as string;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.fillText(`${queued} waiting`, shape().router, HEIGHT - 6);
  }

  const isFollowed = (packet: Packet) => {
    const own = followed();
    return own !== null && own.flow === packet.flow && own.seq === packet.seq && own.kind === packet.kind;
  };

  function click(event: MouseEvent) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best: Packet | null = null;
    let nearest = NEAR;
    let queued = 0;
    for (const packet of lane().packets.all()) {
      if (!isForward(packet)) continue;
      const at = place(packet, shown(), ways(lane()), shape(), queued, lab.speed());
      if (at?.kind === "queue") queued += 1;
      const distance = at ? Math.hypot(at.x - x, at.y - y) : Number.POSITIVE_INFINITY;
      if (distance < nearest) [best, nearest] = [packet, distance];
    }
    setFollowed(best);
  }

  /** Follows the packet that came last: what a click does, for the keyboard. */
  function followLast() {
    let last: Packet | null = null;
    for (const packet of lane().packets.all()) {
      if (isForward(packet) && (last === null || packet.arrived > last.arrived)) last = packet;
    }
    setFollowed(last);
  }

  const account = createMemo(() => {
    lab.frames();
    const packet = followed();
    if (packet === null) return null;
    const current = lane().packets.find(packet) ?? packet;
    if (current !== packet && Number.isFinite(current.at)) setFollowed(current);
    const entries = lane().checked.scenario.traffic as { name: string }[];
    const name = `Packet ${packet.seq} of flow ${packet.flow} (${entries[packet.class]?.name}, ${packet.size} B)`;
    const came = `came at ${current.arrived.toFixed(4)} s`;
    if (!Number.isFinite(current.at)) {
      return `${name} ${came} and has waited ${text(Math.max(0, lab.now() - current.arrived), "s")}.`;
    }
    const waited = text(current.at - current.arrived, "s");
    if (current.lost) return `${name} ${came} and was lost ${current.lost} after ${waited}.`;
    return `${name} ${came}, waited ${waited}${current.marked ? ", was marked" : ""} and left.`;
  });

  onMount(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.clientWidth));
    observer.observe(canvas);
    onCleanup(() => observer.disconnect());
    createEffect(() => {
      lab.frames();
      draw();
    });
  });

  const classes = () =>
    (lane().checked.scenario.traffic as { name: string; count: number }[])
      .map(({ name, count }, i) => ({ name, count, i }))
      .filter(({ count }) => count > 0);

  return (
    <figure class="network">
      <figcaption>
        <strong style={{ color: laneColour(scheme(), props.lane) }}>{lab.label(props.lane)}</strong>
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
        style={{ height: `${HEIGHT}px` }}
        role="img"
        aria-label={`Senders, a queue with ${lab.label(props.lane)}, the bottleneck and receivers, with their packets`}
        onClick={click}
      />
      <Show when={account()}>
        <p class="account" aria-live="polite">
          {account()}{" "}
          <button type="button" class="quiet" onClick={() => setFollowed(null)}>
            Let it go
          </button>
        </p>
      </Show>
      <Show when={ways(lane()).before === 0 && props.lane === 0}>
        <p class="note">
          Packets appear at the <Term name="bottleneck" />: the delays before it differ.
        </p>
      </Show>
    </figure>
  );
}

function drawNetwork(
  context: CanvasRenderingContext2D,
  { senders, router, far, receivers, middle, top, bottom, queue }: Geometry,
  line: string,
  muted: string,
  accent: string,
) {
  context.strokeStyle = line;
  context.lineWidth = 2;
  for (const y of [top, middle, bottom]) {
    context.beginPath();
    context.moveTo(senders, y);
    context.lineTo(queue.left, middle);
    context.moveTo(far, middle);
    context.lineTo(receivers, y);
    context.stroke();
  }
  context.lineWidth = 5;
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
    context.arc(x, y, 6, 0, 2 * Math.PI);
    context.fill();
  }
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText("senders", senders, bottom + 16);
  context.textAlign = "center";
  context.fillText("bottleneck", (router + far) / 2, middle + 18);
  context.textAlign = "right";
  context.fillText("receivers", receivers, bottom + 16);
}
