import { type Catalogue, discipline } from "./catalogue.js";
import { amount, parsed, text, type Unit } from "./quantity.js";

/** A value of the scenario that the reader moves. */
export interface Slider {
  path: string;
  /** The entry of the scenario that it belongs to: a link or traffic. */
  group: string;
  label: string;
  unit: Unit;
  value: number;
  least: number;
  most: number;
  /** Whether equal distances are equal ratios. */
  logarithmic: boolean;
  /** Whether only whole numbers are allowed. */
  whole: boolean;
}

/** The group of the sliders of the link. */
export const LINK = "Link";

const DISCIPLINE = "Discipline";

type Table = Record<string, unknown>;

/** The observed link of a scenario and its path. */
export function observed(scenario: Table): { path: string; link: Table } {
  if (scenario.dumbbell) return { path: "dumbbell", link: scenario.dumbbell as Table };
  const links = scenario.link as Table[];
  const link = links.find(({ name }) => name === scenario.observe) ?? (links[0] as Table);
  return { path: `link.${link.name}`, link };
}

/** The sliders of a scenario with every default filled in. A value that is no number, such as a distribution, has none. */
export function sliders(scenario: Table): Slider[] {
  const { path, link } = observed(scenario);
  const steady = link.changes === "auto" && link.rates === "auto";
  const loss = link.loss ?? 0;
  return [
    ...(steady ? logarithmic(LINK, `${path}.rate`, "Rate", link.rate, "bit/s", 1e5, 1e9) : []),
    ...logarithmic(LINK, `${path}.delay`, "One-way delay", link.delay, "s", 1e-4, 0.5),
    ...logarithmic(LINK, `${path}.buffer`, "Buffer", link.buffer, "packets", 1, 5000),
    ...logarithmic(LINK, `${path}.buffer`, "Buffer", link.buffer, "B", 1500, 1e7),
    ...(typeof loss === "number" ? [linear(LINK, `${path}.loss`, "Random loss", loss, "share", 0.1)] : []),
    ...(scenario.traffic as Table[]).flatMap(ofTraffic),
  ];
}

/** A slider for a parameter of the first discipline that has a number there, over four decades around its value. */
export function ofDiscipline(catalogue: Catalogue, scenarios: readonly Table[], path: string): Slider[] {
  const key = path.replace(/^aqm\./, "");
  for (const { aqm } of scenarios as { aqm: Table }[]) {
    const text = aqm[key];
    const found = typeof text === "number" ? { value: text, unit: "number" as const } : parsed(String(text));
    if (found === null || found.value <= 0) continue;
    const name = aqm.name as string;
    const parameter = discipline(catalogue, name)?.parameters.find((one) => one.name === key);
    const whole = parameter?.allowed.startsWith("a whole number") ?? false;
    const { value, unit } = found;
    const [least, most] = [value / 100, value * 100];
    return [
      {
        path,
        group: DISCIPLINE,
        label: `${name}: ${key}`,
        unit,
        value,
        least,
        most,
        logarithmic: true,
        whole,
      },
    ];
  }
  return [];
}

/** The value at a part of a slider's length, as the scenario writes it. */
export function written({ least, most, logarithmic, unit, whole }: Slider, part: number): string {
  const exact = logarithmic ? least * (most / least) ** part : least + part * (most - least);
  const rounded = Number(exact.toPrecision(3));
  return unit === "share" ? exact.toFixed(4) : text(whole ? Math.round(rounded) : rounded, unit);
}

/** The part of a slider's length at which its value is. */
export function position({ value, least, most, logarithmic }: Slider): number {
  return logarithmic ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
}

function ofTraffic(entry: Table): Slider[] {
  const group = entry.name as string;
  const count = entry.count as number;
  return [
    linear(group, `traffic.${group}.count`, "Number", count, "flows", Math.max(50, 2 * count)),
    ...logarithmic(group, `traffic.${group}.rate`, "Rate of each", entry.rate, "bit/s", 1e4, 1e8),
  ];
}

function linear(group: string, path: string, label: string, value: number, unit: Unit, most: number): Slider {
  return {
    path,
    group,
    label,
    unit,
    value,
    least: 0,
    most: Math.max(most, value),
    logarithmic: false,
    whole: unit === "flows",
  };
}

function logarithmic(
  group: string,
  path: string,
  label: string,
  text: unknown,
  unit: Unit,
  least: number,
  most: number,
): Slider[] {
  const value = amount(text, unit);
  if (value === null) return [];
  const inside = Math.max(value, least / 10);
  return [
    {
      path,
      group,
      label,
      unit,
      value: inside,
      least: Math.min(least, inside),
      most: Math.max(most, inside),
      logarithmic: true,
      whole: unit === "packets" || unit === "B",
    },
  ];
}
