/**
 * The packet engine of aqmlab in JavaScript: the same compiled engine that the command line runs, with the same results,
 * bit for bit.
 *
 * @packageDocumentation
 */

export type { Checked, Glance, Metrics, Opening, Problem, Results } from "./engine.js";
export { Engine, ScenarioError, Simulation } from "./engine.js";
export { Table } from "./table.js";
