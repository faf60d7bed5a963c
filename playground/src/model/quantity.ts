/** What the values of a slider are measured in. */
export type Unit = "bit/s" | "s" | "packets" | "B" | "flows" | "share" | "number";

/** The multiples that are shown, from small to large. */
const MULTIPLES: Partial<Record<Unit, readonly (readonly [string, number])[]>> = {
  "bit/s": [
    ["bit/s", 1],
    ["kbit/s", 1e3],
    ["Mbit/s", 1e6],
    ["Gbit/s", 1e9],
  ],
  s: [
    ["us", 1e-6],
    ["ms", 1e-3],
    ["s", 1],
  ],
  B: [
    ["B", 1],
    ["kB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ],
  packets: [["packets", 1]],
};

/** A number with at most `digits` significant digits, and no exponent where it can be read without. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(digits));
  return Math.abs(rounded) >= 1e7 || (rounded !== 0 && Math.abs(rounded) < 1e-4)
    ? rounded.toExponential()
    : String(rounded);
}

/** A value as a scenario writes it: `2.5 ms`. */
export function text(value: number, unit: Unit, digits = 3): string {
  const multiples = MULTIPLES[unit];
  if (multiples === undefined) return short(value, digits);
  const rounded = Number(value.toPrecision(digits));
  const [name, size] =
    multiples.findLast(([, size]) => Math.abs(rounded) >= size * 0.999) ??
    (multiples[0] as readonly [string, number]);
  return `${short(rounded / size, digits)} ${name}`;
}

/** The value and unit of a text like `2.5 ms`; null if it is not one number with a unit that is known here. */
export function parsed(text: string): { value: number; unit: Unit } | null {
  const found = /^\s*([-+0-9.eE]+)\s*(\S+)\s*$/.exec(text);
  if (found === null) return null;
  for (const [unit, multiples] of Object.entries(MULTIPLES)) {
    const size = multiples.find(([name]) => name === found[2])?.[1];
    const value = Number(found[1]);
    if (size !== undefined && Number.isFinite(value)) return { value: value * size, unit: unit as Unit };
  }
  return null;
}

/** The value of a text in a unit; null if it is none. */
export function amount(text: unknown, unit: Unit): number | null {
  if (typeof text === "number") return text;
  const found = typeof text === "string" ? parsed(text) : null;
  return found?.unit === unit ? found.value : null;
}
