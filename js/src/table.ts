/**
 * Columns of numbers of equal length, in the engine's memory.
 *
 * The columns are views, for speed: they are valid until the next call of the engine. `copy` keeps them.
 */
export class Table {
  readonly #columns: ReadonlyMap<string, Float64Array>;

  constructor(names: readonly string[], numbers: Float64Array) {
    const length = names.length === 0 ? 0 : numbers.length / names.length;
    this.#columns = new Map(names.map((name, i) => [name, numbers.subarray(i * length, (i + 1) * length)]));
  }

  /** The names of the columns. */
  get names(): string[] {
    return [...this.#columns.keys()];
  }

  /** The number of rows. */
  get length(): number {
    const [first] = this.#columns.values();
    return first?.length ?? 0;
  }

  /** The column of this name; NaN where a row has no value. Throws RangeError if there is none. */
  column(name: string): Float64Array {
    const column = this.#columns.get(name);
    if (column === undefined) throw new RangeError(`no column ${name}; there are ${this.names.join(", ")}`);
    return column;
  }

  /** The same table with memory of its own. */
  copy(): Table {
    const columns = [...this.#columns.values()];
    const numbers = new Float64Array(columns.length * this.length);
    columns.forEach((column, i) => {
      numbers.set(column, i * column.length);
    });
    return new Table(this.names, numbers);
  }
}
