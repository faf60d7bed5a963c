/** The parts of what `Engine.describe` says that the page shows. */
export interface Catalogue {
  aqms: Discipline[];
  variants: Variant[];
  metrics: { name: string; unit: string; doc: string }[];
}

/** A shipped scenario, and why it cannot run here; `null` if it can. */
export interface Listed {
  name: string;
  problem: string | null;
}

export interface Discipline {
  name: string;
  summary: string;
  doc: string;
  presets: { name: string; summary: string; values: Record<string, unknown> }[];
  signals: { name: string; unit: string; doc: string }[];
  parameters: Parameter[];
}

/** A name for a preset of a discipline. */
export interface Variant {
  name: string;
  of: string;
  preset: string;
  summary: string;
  values: Record<string, unknown>;
}

export interface Parameter {
  name: string;
  doc: string;
  unit: string;
  default: unknown;
  allowed: string;
}

/** A discipline as `--aqm` has it, `codel:target=10ms`, taken apart. */
export interface Words {
  name: string;
  values: Record<string, string>;
}

export function words(aqm: string): Words {
  const at = aqm.indexOf(":");
  const name = at < 0 ? aqm : aqm.slice(0, at);
  const pairs = at < 0 ? [] : aqm.slice(at + 1).split(",");
  const values = pairs.map((pair) => {
    const [key = "", ...value] = pair.split("=");
    return [key.trim(), value.join("=").trim()];
  });
  return { name: name.trim(), values: Object.fromEntries(values) };
}

/** The opposite of `words`. */
export function aqm({ name, values }: Words): string {
  const pairs = Object.entries(values).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? name : `${name}:${pairs.join(",")}`;
}

/** The discipline of a name, which may be that of a variant. */
export function discipline(catalogue: Catalogue, name: string): Discipline | null {
  const variant = catalogue.variants.find((one) => one.name === name);
  return catalogue.aqms.find((one) => one.name === (variant?.of ?? name)) ?? null;
}

/** The position of the signal `p` of each discipline and variant, by its name; -1 if it has none. */
export function positionsOfP({ aqms, variants }: Catalogue): Record<string, number> {
  const own = aqms.map(({ name, signals }) => [name, signals.findIndex((signal) => signal.name === "p")]);
  const found: Record<string, number> = Object.fromEntries(own);
  for (const { name, of } of variants) found[name] = found[of] ?? -1;
  return found;
}

/** A discipline with one parameter changed; without it, if the value is undefined. */
export function withParameter(text: string, key: string, value: string | undefined): string {
  const { name, values } = words(text);
  const rest = Object.fromEntries(Object.entries(values).filter(([other]) => other !== key));
  return aqm({ name, values: value === undefined ? rest : { ...rest, [key]: value } });
}

/** Whether a discipline has tables in its table, which `--aqm` has no words for. */
export const hasTables = (table: Record<string, unknown>) =>
  Object.values(table).some((value) => typeof value === "object");

/** The table of a scenario's own discipline as `--aqm` has it: what is not a default. The empty text if it has tables. */
export function asWords(catalogue: Catalogue, table: Record<string, unknown>): string {
  if (hasTables(table)) return "";
  const name = String(table.name);
  const parameters = discipline(catalogue, name)?.parameters ?? [];
  const changed = Object.entries(table).filter(([key, value]) => {
    const parameter = parameters.find((one) => one.name === key);
    return parameter !== undefined && value !== parameter.default;
  });
  return aqm({ name, values: Object.fromEntries(changed.map(([key, value]) => [key, String(value)])) });
}

/** Disciplines with a parameter changed in those that have it. */
export function tuned(catalogue: Catalogue, aqms: readonly string[], key: string, value: string): string[] {
  return aqms.map((one) => {
    const { parameters = [] } = discipline(catalogue, words(one).name) ?? {};
    return parameters.some(({ name }) => name === key) ? withParameter(one, key, value) : one;
  });
}

/** How a parameter is entered. */
export type Field =
  | { kind: "flag" }
  | { kind: "choice"; of: string[] }
  | { kind: "text" }
  /** A table, which only the text of a scenario can have. */
  | { kind: "table" };

/** How a parameter is entered, by the values that are allowed. */
export function field({ allowed }: Parameter): Field {
  if (allowed === "true or false") return { kind: "flag" };
  const choice = /^one of ([^()"]+?)(?: \(or "auto"\))?$/.exec(allowed)?.[1]?.split(", ");
  if (choice !== undefined)
    return { kind: "choice", of: allowed.endsWith('(or "auto")') ? ["auto", ...choice] : choice };
  return { kind: allowed.startsWith("a table") || allowed.startsWith("a list") ? "table" : "text" };
}
