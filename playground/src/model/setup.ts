import type { Opening } from "aqmlab";

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
  lesson?: string | undefined;
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

/** The fragment of an address that opens a setup: see docs/guide/playground.md. */
export async function fragment({ setup, lesson, embed }: Link): Promise<string> {
  const found = new URLSearchParams();
  const shown = embed ? { embed: "" } : undefined;
  // A lesson has a setup of its own.
  if (lesson !== undefined) return new URLSearchParams({ lesson, ...shown }).toString();
  if (setup.text === undefined) found.append("scenario", setup.name);
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

/** The opposite of `fragment`. Throws Error if its text cannot be unpacked. */
export async function link(fragment: string): Promise<Link> {
  const found = new URLSearchParams(fragment.replace(/^#/, ""));
  const toml = found.get("toml");
  const name = found.get(toml === null ? "scenario" : "name");
  const seed = Number.parseInt(found.get("seed") ?? "", 10);
  const aqms = found.getAll("aqm").slice(0, LANES);
  const set = found.getAll("set").map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  const given = name !== null || toml !== null;
  return {
    setup: {
      name: name ?? (toml === null ? START.name : "scenario.toml"),
      text: toml === null ? undefined : await unpacked(toml),
      set: Object.fromEntries(set),
      aqms: aqms.length > 0 ? aqms : given ? [""] : START.aqms,
      seed: Number.isNaN(seed) ? undefined : seed,
    },
    lesson: found.get("lesson") ?? undefined,
    embed: found.has("embed"),
  };
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

/** The command that does in aqmlab what the page shows. */
export function command({ name, text, set, aqms, seed }: Setup): string {
  const quoted = (word: string) =>
    /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  const named = aqms.filter((aqm) => aqm !== "");
  const file =
    text === undefined ? name : name.endsWith(".toml") ? name : `${name.replaceAll("/", "-")}.toml`;
  return [
    "aqmlab",
    named.length > 1 ? "compare" : "run",
    quoted(file),
    ...named.flatMap((aqm) => ["--aqm", quoted(aqm)]),
    ...Object.entries(set).flatMap(([path, value]) => ["--set", quoted(`${path}=${value}`)]),
    ...(seed === undefined ? [] : ["--seed", String(seed)]),
  ].join(" ");
}
