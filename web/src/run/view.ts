/** The tables of numbers that the engine answers with, read in place. The order is that of `crates/wasm/src/view.rs`. */

export class Table {
  constructor(
    private readonly numbers: Float64Array,
    private readonly start: number,
    readonly columns: number,
    readonly length: number,
  ) {}

  get(row: number, column: number): number {
    return this.numbers[this.start + row * this.columns + column];
  }
}

export const Row = { link: 0, place: 1, vc: 2, frame: 3, position: 4, length: 5, count: 6, after: 7, step: 8, octets: 9, flags: 10, next: 11 } as const;
export const Port = { link: 0, inSwitch: 1, occupancy: 2, discarded: 3 } as const;
export const Flow = { cwnd: 0, delivered: 1, timeouts: 2 } as const;
export const Discard = { at: 0, link: 1, vc: 2, frame: 3, position: 4, length: 5, count: 6, reason: 7 } as const;
export const Reaction = { at: 0, flow: 1, kind: 2 } as const;
export const Completion = { at: 0, flow: 1, bytes: 2, time: 3 } as const;

export const ChangingLink = { link: 0, rate: 1, delay: 2 } as const;
/** `since` is negative where the port is not paused now. */
export const Paused = { link: 0, since: 1, count: 2, time: 3 } as const;
export const Pause = { at: 0, link: 1, begins: 2 } as const;

const COLUMNS = [12, 4, 3, 2, 8, 3, 4, 3, 4, 3];

export class View {
  readonly now: number;
  readonly rows: Table;
  readonly ports: Table;
  readonly flows: Table;
  readonly captured: Table;
  readonly discards: Table;
  readonly reactions: Table;
  readonly completions: Table;
  /** Links whose rate or delay changes in the course of the run, as they are now. */
  readonly links: Table;
  /** Ports that the switches at the ends of their links have paused so far. */
  readonly paused: Table;
  /** Pauses that arrived at ports, and their ends. */
  readonly pauses: Table;
  /** Times, and what was sampled then: occupancies of switch ports, then window, bytes delivered and delay of every flow. */
  readonly samples: Table;

  constructor(numbers: Float64Array) {
    this.now = numbers[0];
    let start = 1 + COLUMNS.length + 1;
    const tables = COLUMNS.map((columns, index) => {
      const table = new Table(numbers, start, columns, numbers[1 + index]);
      start += columns * table.length;
      return table;
    });
    [this.rows, this.ports, this.flows, this.captured, this.discards, this.reactions, this.completions, this.links, this.paused, this.pauses] =
      tables as [Table, Table, Table, Table, Table, Table, Table, Table, Table, Table];
    const sampled = numbers[1 + COLUMNS.length];
    this.samples = new Table(numbers, start, sampled > 0 ? (numbers.length - start) / sampled : 0, sampled);
  }
}
