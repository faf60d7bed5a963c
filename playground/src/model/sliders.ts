import { amount, type Unit } from "./quantity.js";

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
}

/** The group of the sliders of the link. */
export const LINK = "Link";

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

function ofTraffic(entry: Table): Slider[] {
  const group = entry.name as string;
  const count = entry.count as number;
  return [
    linear(group, `traffic.${group}.count`, "Number", count, "flows", Math.max(50, 2 * count)),
    ...logarithmic(group, `traffic.${group}.rate`, "Rate of each", entry.rate, "bit/s", 1e4, 1e8),
  ];
}

function linear(group: string, path: string, label: string, value: number, unit: Unit, most: number): Slider {
  return { path, group, label, unit, value, least: 0, most: Math.max(most, value), logarithmic: false };
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
    },
  ];
}
