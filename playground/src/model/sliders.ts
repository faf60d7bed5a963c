import { type Catalogue, discipline } from "./catalogue.js";
import { amount, parsed, short, text, type Unit } from "./quantity.js";
import { alone, disciplineOf, observed, type Table } from "./scenario.js";

/** A value of the scenario that the reader moves. */
export interface Slider {
  path: string;
  group: "Link" | "Traffic" | "Discipline";
  /** The position of its traffic entry, if it has one. */
  entry?: number;
  label: string;
  /** What the value comes to, `round trip 50 ms`. */
  also?: string;
  unit: Unit;
  value: number;
  least: number;
  most: number;
  /** Whether equal distances are equal ratios. */
  logarithmic: boolean;
  /** Whether only whole numbers are allowed. */
  whole: boolean;
}

/** The sliders of a scenario with every default filled in. A value that is no number, such as a distribution, has none. */
export function sliders(scenario: Table): Slider[] {
  const { path, link } = observed(scenario);
  const steady = link.changes === "auto" && link.rates === "auto";
  const loss = link.loss ?? 0;
  const ofLink = [
    ...(steady ? logarithmic(`${path}.rate`, "Rate", link.rate, "bit/s", 1e5, 1e9) : []),
    ...logarithmic(`${path}.delay`, "One-way delay", link.delay, "s", 1e-4, 0.5).map((slider) => ({
      ...slider,
      ...roundTrip(scenario),
    })),
    ...logarithmic(`${path}.buffer`, "Buffer", link.buffer, "packets", 1, 5000),
    ...logarithmic(`${path}.buffer`, "Buffer", link.buffer, "B", 1500, 1e7),
    ...(typeof loss === "number" ? [linear(`${path}.loss`, "Random loss", loss, "share", 0.1)] : []),
  ];
  const ofTraffic = (scenario.traffic as Table[]).flatMap(({ name, kind, count, rate, from, to }, entry) =>
    [
      linear(
        `traffic.${name}.count`,
        `${name}: number`,
        count as number,
        "flows",
        Math.max(50, 2 * (count as number)),
      ),
      ...logarithmic(`traffic.${name}.rate`, `${name}: rate of each`, rate, "bit/s", 1e4, 1e8),
    ].map((slider) => ({
      ...slider,
      ...(slider.unit === "bit/s" &&
        steady &&
        STEADY.has(kind as string) &&
        isThrough(scenario, from, to) &&
        offered((count as number) * (amount(rate, "bit/s") ?? 0), link.rate)),
      group: "Traffic" as const,
      entry,
    })),
  );
  return [...ofLink, ...ofTraffic];
}

/** The kinds of traffic whose mean rate is `rate`. */
const STEADY = new Set(["cbr", "poisson", "fgn"]);

/** Whether traffic goes through a dumbbell, in the direction of its link. */
const isThrough = ({ dumbbell }: Table, from: unknown, to: unknown) =>
  dumbbell !== undefined && String(from) === "senders" && String(to) === "receivers";

/** The round trip of a dumbbell without a queue, if all flows have the same. */
function roundTrip(scenario: Table): Pick<Slider, "also"> {
  const { dumbbell, traffic } = scenario;
  const { sender_delay, delay, receiver_delay } = (dumbbell ?? {}) as Table;
  const [before, own, after] = [alone(sender_delay), alone(delay), alone(receiver_delay)];
  const all = (traffic as Table[]).every(
    ({ from, to, ...own }) =>
      (isThrough(scenario, from, to) || isThrough(scenario, to, from)) &&
      [own.sender_delay, own.receiver_delay].every((delay) => delay === undefined || delay === "auto"),
  );
  if (before === null || own === null || after === null || !all) return {};
  return { also: `round trip ${text(2 * (before + own + after), "s")}` };
}

/** What datagrams at this rate would take of a link. */
function offered(rate: number, of: unknown): Pick<Slider, "also"> {
  const capacity = amount(of, "bit/s");
  return rate > 0 && capacity !== null ? { also: `${short((100 * rate) / capacity)} % of the link` } : {};
}

/** A slider for a parameter of the first discipline that has a number there, over four decades around its value. */
export function ofDiscipline(catalogue: Catalogue, scenarios: readonly Table[], path: string): Slider[] {
  const key = path.replace(/^aqm\./, "");
  for (const aqm of scenarios.map(disciplineOf)) {
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
        group: "Discipline",
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

/** The part of a slider's length at which its value is: the beginning, if a ratio cannot show how small it is. */
export function position({ value, least, most, logarithmic }: Slider): number {
  return logarithmic
    ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
    : (value - least) / (most - least);
}

function linear(path: string, label: string, value: number, unit: Unit, most: number): Slider {
  return {
    path,
    group: "Link",
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
      group: "Link",
      label,
      unit,
      value,
      least: Math.min(least, inside),
      most: Math.max(most, inside),
      logarithmic: true,
      whole: unit === "packets" || unit === "B",
    },
  ];
}
