import type { Opening } from "aqmlab";
import { lessons } from "../lessons/index.js";
import type { Changes, Lesson } from "../lessons/lesson.js";
import { type Catalogue, tuned } from "./catalogue.js";

/** What the reader has set up: a scenario with changes, and the disciplines that run beside each other. */
export interface Setup {
  /** The name of a shipped scenario; with a text, the name of the file that it would be. */
  name: string;
  text?: string | undefined;
  /** Dotted paths and their values. */
  set: Record<string, string>;
  /** Disciplines as `--aqm` has them; the empty text is that of the scenario. */
  aqms: string[];
  seed?: number | undefined;
}

/** A setup and how the page shows it. */
export interface Link {
  setup: Setup;
  /** The lesson that begins. */
  lesson?: string;
  /** Whether the page is part of another. */
  embed: boolean;
}

/** The most disciplines beside each other. */
export const LANES = 3;

export const START: Setup = { name: "playground", set: {}, aqms: ["droptail"] };

/** The opening of each discipline. */
export function openings({ name, text, set, aqms, seed }: Setup): Opening[] {
  return aqms.map((aqm) => ({
    name,
    set: { ...set },
    ...(text !== undefined && { text }),
    ...(aqm !== "" && { aqm }),
    ...(seed !== undefined && { seed }),
  }));
}

/** A setup with changes: a parameter of the discipline changes in those of the disciplines that have it. */
export function changed(setup: Setup, changes: Changes, catalogue: Catalogue): Setup {
  const set = { ...setup.set };
  let { aqms } = setup;
  for (const [path, value] of Object.entries(changes)) {
    if (path.startsWith("aqm.")) aqms = tuned(catalogue, aqms, path.slice("aqm.".length), String(value));
    else set[path] = String(value);
  }
  return { ...setup, set, aqms };
}

/** What a lesson sets up at its start. */
export const startOf = ({ id, scenario, aqms }: Lesson): Setup => ({
  name: `${id}.toml`,
  text: scenario,
  set: {},
  aqms: [...aqms],
});

/** What a lesson sets up until one of its steps. */
export function setupOf(lesson: Lesson, step: number, catalogue: Catalogue): Setup {
  let setup = startOf(lesson);
  for (const { aqms = setup.aqms, set = {} } of lesson.steps.slice(0, step + 1))
    setup = changed({ ...setup, aqms: [...aqms] }, set, catalogue);
  return setup;
}

/** Whether a step starts a run; otherwise the run goes on with the changes. */
export const startsRun = ({ steps }: Lesson, step: number) => step === 0 || steps[step]?.restart === true;

/** The name of the file that a setup is, or would be. */
export const fileOf = ({ name }: Setup) =>
  name.endsWith(".toml") ? name : `${name.replaceAll("/", "-")}.toml`;

/** The fragment of an address that opens a setup: see docs/guide/playground.md. */
export async function fragment({ setup, lesson, embed }: Link): Promise<string> {
  const found = new URLSearchParams();
  if (lesson !== undefined) found.append("lesson", lesson);
  else if (setup.text === undefined) found.append("scenario", setup.name);
  else {
    found.append("toml", await packed(setup.text));
    found.append("name", setup.name);
  }
  for (const aqm of setup.aqms) if (aqm !== "" || setup.aqms.length > 1) found.append("aqm", aqm);
  for (const [path, value] of Object.entries(setup.set)) found.append("set", `${path}=${value}`);
  if (setup.seed !== undefined) found.append("seed", String(setup.seed));
  if (embed) found.append("embed", "");
  return found.toString();
}

const KEYS = ["scenario", "toml", "name", "aqm", "set", "seed", "lesson", "embed"];

/** The opposite of `fragment`. Throws Error with the part that is not as it should be. */
export async function link(fragment: string): Promise<Link> {
  const found = new URLSearchParams(fragment.replace(/^#/, ""));
  const unknown = [...found.keys()].find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    throw new Error(`${unknown}: no such part of an address; known: ${KEYS.join(", ")}`);
  const [toml, id, seed] = [found.get("toml"), found.get("lesson"), found.get("seed")];
  const lesson = lessons.find((one) => one.id === id);
  if (id !== null && lesson === undefined) {
    throw new Error(`lesson=${id}: no such lesson; known: ${lessons.map((one) => one.id).join(", ")}`);
  }
  const name = found.get(toml === null ? "scenario" : "name");
  if (seed !== null && !/^\d{1,16}$/.test(seed)) throw new Error(`seed=${seed}: must be a whole number`);
  const aqms = found.getAll("aqm");
  if (aqms.length > LANES)
    throw new Error(`aqm: ${aqms.length} disciplines: at most ${LANES} run beside each other`);
  const base: Setup = lesson
    ? startOf(lesson)
    : {
        name: name ?? (toml === null ? START.name : "scenario.toml"),
        set: {},
        aqms: name !== null || toml !== null ? [""] : START.aqms,
        ...(toml !== null && { text: await unpacked(toml) }),
      };
  return {
    setup: {
      ...base,
      set: { ...base.set, ...Object.fromEntries(found.getAll("set").map(pair)) },
      ...(aqms.length > 0 && { aqms }),
      ...(seed !== null && { seed: Number(seed) }),
    },
    ...(lesson && { lesson: lesson.id }),
    embed: found.has("embed"),
  };
}

/** The path and the value of a part `set=path=value`. */
function pair(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new Error(`set=${text}: must be set=path=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Base64url of the raw deflate of a text. */
async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(packed: string): Promise<string> {
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return await new Response(stream).text();
  } catch (error) {
    throw new Error("toml: the scenario in the address is damaged", { cause: error });
  }
}

/** The command that does in aqmlab what the page shows; two where one cannot have the scenario's own discipline beside others. */
export function command(setup: Setup): string {
  const { name, text, set, aqms, seed } = setup;
  const quoted = (word: string) =>
    /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  const rest = [
    ...Object.entries(set).flatMap(([path, value]) => ["--set", quoted(`${path}=${value}`)]),
    ...(seed === undefined ? [] : ["--seed", String(seed)]),
  ];
  const one = (verb: string, named: readonly string[]) =>
    [
      "aqmlab",
      verb,
      quoted(text === undefined ? name : fileOf(setup)),
      ...named.flatMap((aqm) => ["--aqm", quoted(aqm)]),
      ...rest,
    ].join(" ");
  const named = aqms.filter((aqm) => aqm !== "");
  const own = named.length < aqms.length ? [one("run", [])] : [];
  const others = named.length > 0 ? [one(named.length > 1 ? "compare" : "run", named)] : [];
  return [...own, ...others].join(" && ");
}
