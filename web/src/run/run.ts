/** A scenario under way: one worker that is watched, and one that runs ahead to the end and fills the strip. */

import { count as grouped } from "../text/format.ts";
import { Client, Lost } from "./client.ts";
import { type Description, type Outcome, ReactionKind, type ScenarioRequest } from "./types.ts";
import { ChangingLink, Completion, Discard, Pause, Reaction, type Table, View } from "./view.ts";

/** Samples of the whole run, column by column. */
export class Samples {
  times: number[] = [];
  /** By switch port, in the order of `ports`. */
  readonly occupancy: number[][];
  readonly cwnd: number[][];
  readonly delivered: number[][];
  /** The last round trip that a TCP sender measured, or the mean transfer delay of bare cells since the sample before; zero if there
   * is none. */
  readonly delay: number[][];

  constructor(
    readonly ports: number[],
    flows: number,
  ) {
    const columns = (count: number) => Array.from({ length: count }, () => [] as number[]);
    [this.occupancy, this.cwnd, this.delivered, this.delay] = [columns(ports.length), columns(flows), columns(flows), columns(flows)];
  }

  add(view: View): void {
    const { samples } = view;
    const ports = this.occupancy.length;
    for (let row = 0; row < samples.length; row++) {
      this.times.push(samples.get(row, 0));
      for (let port = 0; port < ports; port++) this.occupancy[port].push(samples.get(row, 1 + port));
      for (let flow = 0; flow < this.cwnd.length; flow++) {
        const first = 1 + ports + 3 * flow;
        this.cwnd[flow].push(samples.get(row, first));
        this.delivered[flow].push(samples.get(row, first + 1));
        this.delay[flow].push(samples.get(row, first + 2));
      }
    }
  }
}

export interface DiscardEvent {
  at: number;
  link: number;
  vc: number;
  frame: number;
  position: number;
  length: number;
  count: number;
  reason: number;
}

export interface TimeoutEvent {
  at: number;
  flow: number;
}

/** A short flow that has ended. */
export interface CompletionEvent {
  at: number;
  flow: number;
  bytes: number;
  time: number;
}

/** A time for which the switch at the end of a link pauses the port in front of it. */
export interface PauseEvent {
  at: number;
  link: number;
  /** Infinite while it lasts. */
  until: number;
}

/** The most discards of a run that the page keeps one by one, and as many timeouts, completions and pauses. */
const MOST_EVENTS = 200_000;

/** The most links of a network that the page shows: to lay out and to draw more takes longer than anybody waits. */
const MOST_LINKS = 100_000;

/** Milliseconds that a worker runs towards a moment before it answers, and may be sent elsewhere. */
const SOUGHT = 100;

/** The rows of a table, made one after the other: there may be millions. */
function* eventsIn<Event>(table: Table, event: (get: (column: number) => number) => Event): Generator<Event> {
  for (let row = 0; row < table.length; row++) yield event((column) => table.get(row, column));
}

function discardsOf(view: View): Generator<DiscardEvent> {
  return eventsIn(view.discards, (get) => ({
    at: get(Discard.at), link: get(Discard.link), vc: get(Discard.vc), frame: get(Discard.frame),
    position: get(Discard.position), length: get(Discard.length), count: get(Discard.count), reason: get(Discard.reason),
  }));
}

function* timeoutsOf(view: View): Generator<TimeoutEvent> {
  for (const { kind, at, flow } of eventsIn(view.reactions, (get) => ({ kind: get(Reaction.kind), at: get(Reaction.at), flow: get(Reaction.flow) }))) {
    if (kind === ReactionKind.Timeout) yield { at, flow };
  }
}

function completionsOf(view: View): Generator<CompletionEvent> {
  return eventsIn(view.completions, (get) => ({ at: get(Completion.at), flow: get(Completion.flow), bytes: get(Completion.bytes), time: get(Completion.time) }));
}

/** The pauses that begin, each of which is told its end when that comes; `open` are those that last, by link. */
export function* pausesOf(view: View, open: Map<number, PauseEvent>): Generator<PauseEvent> {
  for (const { at, link, begins } of eventsIn(view.pauses, (get) => ({ at: get(Pause.at), link: get(Pause.link), begins: get(Pause.begins) > 0 }))) {
    if (begins) {
      const pause = { at, link, until: Number.POSITIVE_INFINITY };
      open.set(link, pause);
      yield pause;
    } else {
      const pause = open.get(link);
      if (pause) pause.until = at;
      open.delete(link);
    }
  }
}

/** Adds events to those that are kept. Beyond `most` it takes one of each place, a port or a flow, in each sample of the strip: as many as
 * the strip can show of the whole run, and enough to find the next one. */
export function keep<Event extends { at: number }>(kept: Event[], events: Iterable<Event>, placeOf: (event: Event) => number, period: number, most = MOST_EVENTS): void {
  const last = new Map<number, number>();
  for (const event of events) {
    const place = placeOf(event);
    const sample = Math.floor(event.at / period);
    if (kept.length >= most && last.get(place) === sample) continue;
    last.set(place, sample);
    kept.push(event);
  }
}

/** Does something after the next picture: what is to be seen at once need not share the processor with it. */
function onceDrawn(work: () => void): void {
  if (document.hidden) work();
  else requestAnimationFrame(() => setTimeout(work));
}

export class Run {
  description!: Description;
  /** What the watched worker showed last. */
  view!: View;
  samples!: Samples;
  discards: DiscardEvent[] = [];
  timeouts: TimeoutEvent[] = [];
  completions: CompletionEvent[] = [];
  pauses: PauseEvent[] = [];
  /** Those that have not ended where the worker that runs ahead is, by link. */
  private openPauses = new Map<number, PauseEvent>();
  outcome: Outcome | undefined;
  /** How far the worker that runs ahead has come. */
  scanned = 0;
  /** Why it will come no further, if it will not. */
  stopped: string | undefined;
  /** Discards since the page last asked. */
  private fresh: DiscardEvent[] = [];
  private live: Client;
  private ahead: Client | undefined;
  /** What was asked of the watched worker and is not done, and the end of the last of it. */
  private asked = 0;
  private last: Promise<void> = Promise.resolve();
  private generation = 0;

  constructor(
    private readonly start: () => Client,
    readonly request: ScenarioRequest,
    private readonly changed: () => void,
  ) {
    this.live = start();
  }

  /** Loads the scenario and shows it at `at`; fails with the engine's words if it is refused. */
  async load(at: number): Promise<void> {
    this.description = await this.live.ask<"load">({ do: "load", request: this.request });
    const { length } = this.description.links;
    if (length > MOST_LINKS) throw new Error(`The network has ${grouped(length)} links, and the page shows ${grouped(MOST_LINKS)} at most. celltrain run takes them all.`);
    const { look } = await this.live.ask<"seek">({ do: "seek", until: at, period: this.description.duration });
    this.see(new View(look));
    const ports = this.view.ports;
    const switches = Array.from({ length: ports.length }, (_, row) => row).filter((row) => ports.get(row, 1) > 0);
    this.samples = new Samples(switches.map((row) => ports.get(row, 0)), this.description.flows.length);
    const { generation } = this;
    onceDrawn(() => {
      if (generation === this.generation) void this.scan();
    });
  }

  /** Samples of the whole run: several for each pixel of the strip, fewer where each one asks many flows. */
  get sampleCount(): number {
    return Math.max(600, Math.min(6000, Math.floor(90_000 / this.description.flows.length)));
  }

  /** From one sample of the strip to the next. */
  get period(): number {
    return Math.max(1, Math.floor(this.description.duration / this.sampleCount));
  }

  get now(): number {
    return this.view.now;
  }

  /** Whether an answer is under way: the page asks for one at a time. */
  get isBusy(): boolean {
    return this.asked > 0;
  }

  /** Discards that happened since the last call. */
  takeFresh(): DiscardEvent[] {
    return this.fresh.splice(0);
  }

  async advance(until: number, budget: number): Promise<void> {
    await this.exclusively(async () => {
      const { happened, look } = await this.live.ask<"advance">({ do: "advance", until, period: this.description.duration, budget });
      for (const numbers of happened) this.fresh = this.fresh.concat([...discardsOf(new View(numbers))]);
      this.see(new View(look));
    });
  }

  /** Goes to a time for as long as that is wanted: what is far away takes long, and is seen to come nearer. */
  async seek(until: number, isWanted: () => boolean): Promise<void> {
    // A run beside a longer one has an earlier end.
    const goal = Math.min(Math.floor(until), this.description.duration);
    await this.exclusively(async () => {
      while (isWanted()) {
        const { look } = await this.live.ask<"seek">({ do: "seek", until: goal, period: this.description.duration, budget: SOUGHT });
        this.fresh = [];
        this.see(new View(look));
        this.changed();
        if (this.now >= goal) break;
      }
    });
  }

  /** Shows a view, and links as they are then. */
  private see(view: View): void {
    this.view = view;
    for (let row = 0; row < view.links.length; row++) {
      const link = this.description.links[view.links.get(row, ChangingLink.link)];
      [link.rate, link.delay] = [view.links.get(row, ChangingLink.rate), view.links.get(row, ChangingLink.delay)];
    }
  }

  async scenario(): Promise<string> {
    let text = "";
    await this.exclusively(async () => {
      text = await this.live.ask<"scenario">({ do: "scenario" });
    });
    return text;
  }

  end(): void {
    this.generation++;
    this.live.end();
    this.ahead?.end();
  }

  /** For tests: a worker dies. */
  kill(which: "live" | "ahead" = "live"): void {
    this[which]?.kill();
  }

  /** Does one thing at a time; if the worker was lost, another takes over at the same moment and does it. */
  private async exclusively(work: () => Promise<void>): Promise<void> {
    const before = this.last;
    let release!: () => void;
    // A run that has ended does not answer: what waits for it then is forgotten together with it.
    this.last = new Promise((resolve) => (release = resolve));
    this.asked++;
    await before;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      const at = this.view.now;
      this.live = this.start();
      await this.live.ask<"load">({ do: "load", request: this.request });
      const { look } = await this.live.ask<"seek">({ do: "seek", until: at, period: this.description.duration });
      this.see(new View(look));
      if (error.crashed) throw new Error(`The engine has stopped, and was started again at the same moment. Please report this: ${error.message}`);
      await work();
    } finally {
      this.asked--;
      release();
    }
  }

  /** Runs ahead to the end; from the start once more if that worker is lost on the way. */
  private async scan(again = true): Promise<void> {
    const generation = this.generation;
    const ahead = (this.ahead = this.start());
    const chunk = Math.max(1, Math.floor(this.description.duration / 100));
    try {
      await ahead.ask<"load">({ do: "load", request: this.request });
      this.outcome = await ahead.ask<"scan">({ do: "scan", period: this.period, chunk }, (numbers) => this.note(new View(numbers)));
    } catch (error) {
      if (generation === this.generation) {
        console.warn(error);
        if (again && error instanceof Lost && !error.crashed) return this.scanAgain();
        this.stopped = (error as Error).message;
      }
    }
    ahead.end();
    if (generation === this.generation) this.changed();
  }

  private scanAgain(): Promise<void> {
    this.samples = new Samples(this.samples.ports, this.description.flows.length);
    [this.discards, this.timeouts, this.completions, this.pauses, this.scanned] = [[], [], [], [], 0];
    this.openPauses.clear();
    return this.scan(false);
  }

  private note(view: View): void {
    this.samples.add(view);
    this.scanned = view.now;
    keep(this.discards, discardsOf(view), ({ link }) => link, this.period);
    keep(this.timeouts, timeoutsOf(view), ({ flow }) => flow, this.period);
    keep(this.completions, completionsOf(view), ({ flow }) => flow, this.period);
    keep(this.pauses, pausesOf(view, this.openPauses), ({ link }) => link, this.period);
    this.changed();
  }
}
