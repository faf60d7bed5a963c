import { amount } from "./quantity.js";

/** A scenario with every default filled in, or a table of it. */
export type Table = Record<string, unknown>;

/** The observed link of a scenario, and its path. */
export function observed(scenario: Table): { path: string; link: Table } {
  if (scenario.dumbbell) return { path: "dumbbell", link: scenario.dumbbell as Table };
  const links = scenario.link as Table[];
  const link = links.find(({ name }) => name === scenario.observe) ?? (links[0] as Table);
  return { path: `link.${link.name}`, link };
}

/** The discipline of the observed link. */
export const disciplineOf = (scenario: Table): Table =>
  (observed(scenario).link.aqm ?? scenario.aqm ?? { name: "droptail" }) as Table;

/** The names of the traffic entries, and how many flows each has. */
export const traffic = (scenario: Table) => scenario.traffic as { name: string; count: number }[];

/** The delays in s of the ways to, over and from the observed link; 0 where flows differ. */
export interface Ways {
  before: number;
  delay: number;
  after: number;
}

/** A delay in s, if it is the same for all; else null. */
export const alone = (value: unknown): number | null =>
  amount(Array.isArray(value) && value.length === 1 ? value[0] : value, "s");

export function ways(scenario: Table): Ways {
  const { link } = observed(scenario);
  return {
    before: alone(link.sender_delay) ?? 0,
    delay: alone(link.delay) ?? 0,
    after: alone(link.receiver_delay) ?? 0,
  };
}
