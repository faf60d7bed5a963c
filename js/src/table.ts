/** Columns of numbers of equal length. */
export class Table {
  readonly #columns: ReadonlyMap<string, Float64Array>;

  /** A table of these columns, whose numbers follow each other, column by column. */
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
}
