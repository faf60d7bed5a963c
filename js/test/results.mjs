// Run the openings on standard input, one JSON document a line, and print the results of each: for tests/test_javascript.py.
import { createInterface } from "node:readline";
import { Engine } from "../dist/index.js";

const engine = await Engine.load();
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const simulation = engine.open(JSON.parse(line));
    // In pieces, as a page does.
    for (let piece = 1; !simulation.advance((simulation.checked.duration * piece) / 7); piece++);
    console.log(JSON.stringify(simulation.results()));
    simulation.close();
  } catch (error) {
    console.log(JSON.stringify({ error: error.message }));
  }
}
