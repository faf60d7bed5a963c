import catalogue from "virtual:catalogue";
import { batch, createSignal } from "solid-js";
import { createStore, reconcile, unwrap } from "solid-js/store";
import type { Client } from "../worker/client.js";
import type { Checked, Found, Frame, Opening } from "../worker/protocol.js";
import { Refusal } from "../worker/protocol.js";
import { asWords } from "./catalogue.js";
import { Flows } from "./flows.js";
import { Samples } from "./history.js";
import { FALL, Packets } from "./packets.js";
import { disciplineOf, ways } from "./scenario.js";
import { changed, LANES, openings, type Setup } from "./setup.js";

/** The time between samples, in s, and the speed from which on it is the larger one. */
const STEPS = { fine: 0.001, coarse: 0.01, from: 0.3 };

/** What a frame may take in the worker, in ms: a little less than 1/60 s. From a speed on, there are fewer frames. */
const BUDGET = { smooth: 15, fast: 30, from: 100 };

/** The longest time between two frames, in s, for which the simulation makes up. */
const LONGEST = 0.1;

/** How far a step to the next drop looks ahead, in s. */
const LOOK_AHEAD = 60;

/** Changes less than so many s apart count as one; and how many of the latest are marked. */
const ONE_CHANGE = 0.5;
const MARKED = 20;

/** The longest transmission of a packet that is drawn, and the longest time for which a lost one is kept, in s. */
const SENT = 0.2;
const KEPT = 2;

/** A speed that no machine reaches. */
export const AS_FAST_AS_IT_GOES = 1e6;

/** One discipline of the laboratory. */
export interface LaneState {
  checked: Checked;
  samples: Samples;
  flows: Flows;
  packets: Packets;
}

/** What is wrong. `path` is the key that is to blame; empty if it is none alone. */
export interface Trouble {
  message: string;
  problems: readonly { path: string; line: number | null; text: string }[];
  lane: number;
  /** The setup that a new run would accept. */
  restart?: Setup;
}

export type Lab = ReturnType<typeof createLab>;

/** The laboratory of a page: a setup, its live runs in the worker of a client, and the time. */
export function createLab(start: Setup, client: Pick<Client, "ask" | "close">) {
  /** What the controls show. If it is refused, it becomes what is `accepted` again. */
  const [setup, setSetup] = createStore<Setup>(structuredClone(start));
  const [accepted, setAccepted] = createSignal<Setup>(structuredClone(start));
  const [lanes, setLanes] = createSignal<LaneState[]>([]);
  const [now, setNow] = createSignal(0);
  /** Counts the frames: what is drawn depends on it. */
  const [frames, setFrames] = createSignal(0);
  const [playing, setPlaying] = createSignal(false);
  const [speed, setSpeed] = createSignal(1);
  const [pace, setPace] = createSignal(0);
  const [finished, setFinished] = createSignal(false);
  /** The times of the latest changes, in s. */
  const [changes, setChanges] = createSignal<number[]>([]);
  const [trouble, setTrouble] = createSignal<Trouble | null>(null);
  const [failure, setFailure] = createSignal<string | null>(null);
  /** What the last step to a drop came to. */
  const [notice, setNotice] = createSignal("");
  /** The lane whose flows are shown. */
  const [selected, setSelected] = createSignal(0);
  let closed = false;
  /** One request at a time changes the runs. */
  let turn: Promise<unknown> = Promise.resolve();
  let queued = false;
  /** Counts the new runs that were asked for. */
  let restarts = 0;
  /** The frame that the worker makes while the page draws the one before. */
  let ahead: Promise<Frame> | undefined;

  const afterTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = turn.then(act);
    turn = next.catch(() => {});
    return next;
  };

  const settle = async () => {
    const coming = ahead;
    ahead = undefined;
    try {
      if (coming) take(await coming);
    } catch (error) {
      report(error);
    }
  };

  /** Acts when no other request is under way, and all frames are drawn. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> =>
    afterTurn(async () => {
      await settle();
      return act();
    });

  const snapshot = (): Setup => structuredClone(unwrap(setup));
  const show = (next: Setup) =>
    setSetup(reconcile({ text: undefined, seed: undefined, ...structuredClone(next) }));

  /** Reports why a setup was refused, and returns to the one before. */
  const report = (error: unknown, refused?: Setup) =>
    batch(() => {
      if (!(error instanceof Refusal)) {
        setFailure(error instanceof Error ? error.message : String(error));
        return;
      }
      const { message, problems, lane } = error;
      // A refusal without problems is of the run, not of the scenario.
      const restart = problems.length === 0 && refused !== undefined ? { restart: refused } : {};
      setTrouble({ message, problems, lane, ...restart });
      show(accepted());
    });

  const opened = (asked: Setup, checked: Checked[]) =>
    batch(() => {
      setAccepted(asked);
      setLanes(
        checked.map((one) => ({
          checked: one,
          samples: new Samples(),
          flows: new Flows(),
          packets: new Packets(one.observed),
        })),
      );
      setSelected((lane) => Math.min(lane, checked.length - 1));
      setNow(0);
      setChanges([]);
      setFinished(false);
      setTrouble(null);
      setFailure(null);
      setNotice("");
      setFrames((count) => count + 1);
    });

  /** Starts anew with what is set up; returns whether it is accepted. */
  const restart = () => {
    const asked = snapshot();
    restarts += 1;
    return inTurn(async () => {
      try {
        opened(asked, await client.ask<Checked[]>({ ask: "open", openings: openings(asked) }));
        await advance(1e-6);
        return true;
      } catch (error) {
        report(error);
        return false;
      }
    });
  };

  /** Replaces everything that is set up; returns whether it is accepted. */
  const load = (next: Setup) => {
    show(next);
    return restart();
  };

  /** Makes the running simulations follow what is set up, as soon as the worker is free; changes meanwhile go together. */
  const follow = () => {
    if (queued) return;
    queued = true;
    const before = restarts;
    void inTurn(async () => {
      queued = false;
      if (restarts !== before) return; // The new run has the change.
      const asked = snapshot();
      try {
        if (finished()) throw new Refusal("The hour of this run is over: a change needs a new run.", [], 0);
        const checked = await client.ask<Checked[]>({ ask: "follow", openings: openings(asked) });
        batch(() => {
          setAccepted(asked);
          setLanes((all) => all.map((lane, i) => ({ ...lane, checked: checked[i] as Checked })));
          // A slider that moves is one change.
          setChanges((all) => [...all.filter((at) => at < now() - ONE_CHANGE), now()].slice(-MARKED));
          setTrouble(null);
        });
      } catch (error) {
        report(error, asked);
      }
    });
  };

  const take = (frame: Frame) =>
    batch(() => {
      lanes().forEach((lane, i) => {
        const found = frame.lanes[i];
        if (found === undefined) return;
        lane.samples.take(found);
        lane.flows.take(found);
        const { before, delay, after } = ways(lane.checked.scenario);
        const drawn = frame.now - before;
        lane.packets.take(found, drawn - delay - after - SENT, drawn - Math.min(KEPT, falling() * FALL));
      });
      setNow(frame.now);
      setFinished(frame.finished);
      if (frame.finished) setPlaying(false);
      setFrames((count) => count + 1);
    });

  /** The simulated time that passes in a second, as far as it is known. */
  const falling = () => (playing() && pace() > 0 ? Math.min(speed(), pace()) : Math.min(speed(), 1));

  const budget = () => (speed() >= BUDGET.from ? BUDGET.fast : BUDGET.smooth);
  const step = () => (speed() >= STEPS.from ? STEPS.coarse : STEPS.fine);

  const frame = (until: number, spacing: number) =>
    client.ask<Frame>({ ask: "advance", until, budget: budget(), step: spacing });

  const advance = async (by: number, spacing = step()) => take(await frame(now() + by, spacing));

  /** Draws a frame, while the worker makes the next one. */
  const goOn = (by: number) =>
    afterTurn(async () => {
      const coming = ahead;
      ahead = undefined;
      const came = await coming;
      if (playing() && !came?.finished) {
        ahead = frame((came?.now ?? now()) + by, step());
        ahead.catch(() => {}); // Whoever takes it reports what failed.
      }
      if (came) take(came);
    });

  const findLoss = async () => {
    setPlaying(false);
    setNotice("");
    let until: number | undefined;
    // The samples are those of one run, whatever changes in it.
    const run = lanes()[0]?.samples;
    const isSame = () => lanes()[0]?.samples === run;
    for (let found = false; !found && !finished() && isSame(); ) {
      found = await inTurn(async () => {
        until ??= now() + LOOK_AHEAD;
        const frame = await client.ask<Found>({
          ask: "toLoss",
          until,
          budget: BUDGET.smooth,
          step: STEPS.fine,
        });
        take(frame);
        return frame.found;
      });
      const [first] = lanes();
      if (found && first) await inTurn(() => advance(ways(first.checked.scenario).before, STEPS.fine));
      else if (isSame() && now() >= (until ?? 0)) {
        setNotice(`No packet was lost in ${LOOK_AHEAD} s.`);
        return;
      }
      if (playing()) return;
    }
  };

  /** Advances to the next packet that is lost at the observed link, until the picture shows it, and pauses there. */
  const toLoss = () => findLoss().catch(report);

  /** Advances by one sample, and pauses there. */
  const stepOnce = () => {
    setPlaying(false);
    return inTurn(() => (finished() ? Promise.resolve() : advance(step()))).catch(report);
  };

  async function play() {
    let last = performance.now();
    let before = now();
    while (!closed) {
      const at = await new Promise<number>((next) => requestAnimationFrame(next));
      const passed = (at - last) / 1000;
      last = at;
      if (failure() !== null || !playing()) {
        await afterTurn(settle);
        before = now();
        continue;
      }
      try {
        await goOn(Math.min(LONGEST, passed) * speed());
      } catch (error) {
        report(error);
      }
      const reached = (now() - before) / Math.max(passed, 1e-3);
      before = now();
      // A new run begins at 0.
      if (reached >= 0) setPace((pace) => (pace === 0 ? reached : pace + 0.05 * (reached - pace)));
    }
  }

  /** A lane's discipline as `--aqm` has it; that of the scenario too, but the empty text if it has tables. */
  const explicit = (lane: number): string => {
    const own = lanes()[lane]?.checked.scenario;
    return setup.aqms[lane] || (own ? asWords(catalogue, disciplineOf(own)) : "");
  };

  /** Changes a value of the scenario; a parameter of the discipline, `aqm.target`, in the disciplines that have it. */
  const change = (path: string, value: string) => {
    // A parameter of the scenario's own discipline can change once that discipline has a name.
    const named = path.startsWith("aqm.") ? setup.aqms.map((_, lane) => explicit(lane)) : setup.aqms;
    show(changed({ ...snapshot(), aqms: [...named] }, { [path]: value }, catalogue));
    follow();
  };

  /** Sets the discipline of a lane. */
  const choose = (lane: number, aqm: string) => {
    setSetup("aqms", lane, aqm);
    follow();
  };

  /** Sets all disciplines, one for each lane; all start anew, on the same seed. */
  const compare = (aqms: readonly string[]) => {
    setSetup("aqms", aqms.slice(0, LANES));
    return restart();
  };

  /** The scenario file with its changes; with the discipline too, if there is one alone. */
  const file = async () => {
    const { aqm, ...opening } = openings(accepted())[0] as Opening;
    const alone = aqm !== undefined && accepted().aqms.length === 1 ? { aqm } : {};
    return (await client.ask<Checked>({ ask: "check", opening: { ...opening, ...alone } })).toml;
  };

  const begin = async (quiet: boolean) => {
    if (await restart()) setPlaying(!quiet);
    void play();
  };

  return {
    client,
    begin,
    setup,
    accepted,
    lanes,
    now,
    frames,
    playing,
    setPlaying,
    speed,
    setSpeed,
    pace,
    falling,
    finished,
    changes,
    trouble,
    setTrouble,
    failure,
    notice,
    selected,
    setSelected,
    restart,
    explicit,
    change,
    choose,
    compare,
    load,
    file,
    toLoss,
    stepOnce,
    /** The name of a lane's discipline with its changed parameters. */
    label: (lane: number) => {
      const own = lanes()[lane]?.checked.scenario;
      return accepted().aqms[lane] || (own ? String(disciplineOf(own).name) : "");
    },
    close: () => {
      closed = true;
      client.close();
    },
  };
}
