/** The strip: queues, windows, throughput, delays and completion times of the whole run over time, with the moment that the stage shows. */

import { SMALL, Surface } from "./canvas.ts";
import { h } from "../dom.ts";
import { bytes, count, rate, span, tick } from "../text/format.ts";
import type { Run } from "../run/run.ts";
import { type Scene, heldUnit } from "./scene.ts";
import { colourOf, type Theme } from "../theme.ts";
import { MS, S } from "../run/types.ts";

/** A curve: values at the samples' times. */
interface Curve {
  values: ArrayLike<number>;
  colour: string;
  faint: boolean;
  dashed: boolean;
  /** Whether a value says anything; every one does if not given. */
  known?: (value: number) => boolean;
}

/** Something that happened: a stroke at the top of a panel. */
interface Mark {
  at: number;
  colour: string;
}

/** Something with a value of its own: a dot. */
interface Dot {
  at: number;
  value: number;
  colour: string;
  faint: boolean;
}

interface Panel {
  title: string;
  curves: Curve[];
  dots?: Dot[];
  /** The lowest value; zero if not given, and logarithmic above it if it is. */
  bottom?: number;
  top: number;
  unit: (value: number) => string;
  marks: Mark[];
  levels: number[];
}

/** The kind of reaction that a timeout is, in the engine's tables. */
const TIMEOUT = 1;
const LABELS = 78;
const AXIS = 20;
/** Panels that the style sheet's height is for, and the height of one more, in units of the page's text. */
const USUAL = 3;
const MORE = 5.2;

export class Strip {
  private readonly surface: Surface;
  /** What is seen of the run, in picoseconds. */
  from = 0;
  to = 1;
  /** The moment that the stage shows: an element of its own, so that the curves need not be drawn again to move it. */
  private readonly cursor: HTMLElement;
  private drawn: unknown[] = [];
  private throughput = new WeakMap<Run, { length: number; series: Float64Array[] }>();

  constructor(
    readonly canvas: HTMLCanvasElement,
    redraw: () => void,
  ) {
    this.surface = new Surface(canvas, () => {
      this.drawn = [];
      redraw();
    });
    this.cursor = h("div", { class: "cursor", "aria-hidden": "true" });
    canvas.after(this.cursor);
  }

  /** Makes room for as many panels as a run has. */
  fit(run: Run): void {
    const panels = 2 + 2 * Number(hasConnections(run)) + Number(hasBareCells(run)) + Number(hasShortFlows(run));
    this.canvas.style.setProperty("--more", `${Math.max(0, panels - USUAL) * MORE}rem`);
  }

  show(from: number, to: number, duration: number): void {
    const width = Math.min(duration, Math.max(to - from, duration / 4000));
    this.from = Math.max(0, Math.min(from, duration - width));
    this.to = this.from + width;
  }

  /** Zooms by `factor` around a place on the canvas. */
  zoom(x: number, factor: number, duration: number): void {
    const centre = this.timeAt(x);
    this.show(centre - (centre - this.from) * factor, centre + (this.to - centre) * factor, duration);
  }

  timeAt(left: number): number {
    const [x] = this.surface.at(left, 0);
    const share = (x - LABELS) / Math.max(1, this.surface.width - LABELS - 8);
    return this.from + Math.max(0, Math.min(1, share)) * (this.to - this.from);
  }

  private x(time: number): number {
    return LABELS + ((time - this.from) / (this.to - this.from)) * (this.surface.width - LABELS - 8);
  }

  /** `ghost` is the run before the last change, or the one beside it, which is drawn dashed. */
  draw(scene: Scene, ghost: Run | undefined): void {
    const x = this.x(scene.run.now);
    this.cursor.style.transform = `translateX(${x * this.surface.zoom}px)`;
    this.cursor.hidden = x < LABELS - 1 || x > this.surface.width - 6;
    // The run ahead grows a hundred times; a few of them are enough to see it grow.
    const { run, theme, port, focus } = scene;
    const grown = (one: Run | undefined) => (one?.outcome ? one.samples.times.length : Math.floor((one?.samples.times.length ?? 0) / 600));
    const shown = [run, grown(run), ghost, grown(ghost), theme, port, focus, this.from, this.to];
    if (shown.every((value, place) => value === this.drawn[place])) return;
    this.drawn = shown;
    this.drawAll(scene, ghost);
  }

  private drawAll(scene: Scene, ghost: Run | undefined): void {
    const context = this.surface.begin();
    const panels = [this.queue(scene, ghost), ...this.windows(scene, ghost), this.rates(scene, ghost), ...this.roundTrips(scene, ghost), ...this.transferDelays(scene, ghost), ...this.completions(scene)];
    const height = (this.surface.height - AXIS) / panels.length;
    panels.forEach((panel, index) => this.drawPanel(context, scene, panel, index * height, height - 8));
    this.drawAxis(context, scene);
  }

  private queue(scene: Scene, ghost: Run | undefined): Panel {
    const { run, theme } = scene;
    const link = run.description.links[scene.port];
    const curves: Curve[] = [];
    const of = (one: Run) => one.samples.occupancy[one.samples.ports.indexOf(scene.port)] ?? [];
    if (ghost) curves.push({ values: of(ghost), colour: theme.muted, faint: true, dashed: true });
    curves.push({ values: of(run), colour: theme.ink, faint: false, dashed: false });
    const marks = run.discards.filter((discard) => discard.link === scene.port).map(({ at }) => ({ at, colour: theme.accent }));
    const most = Math.max(10, ...curves.map((curve) => this.largest(scene.run, curve.values)));
    return {
      title: "Queue", curves, marks, top: link.capacity !== null && link.unit !== "bytes" && link.capacity < 4 * most ? link.capacity : most,
      unit: (value) => `${count(value)} ${heldUnit(link)}`,
      // The curve counts cells or packets: thresholds in bytes have no place beside it.
      levels: link.unit === "bytes" ? [] : link.levels.map((level) => level.units),
    };
  }

  /** Congestion windows; short flows have no common one. */
  private windows(scene: Scene, ghost: Run | undefined): Panel[] {
    if (!hasConnections(scene.run)) return [];
    const curves: Curve[] = [];
    const add = (run: Run, dashed: boolean) =>
      run.samples.cwnd.forEach((values, flow) => {
        const faint = dashed || (scene.focus >= 0 && scene.focus !== flow);
        if (isConnection(run, flow)) curves.push({ values, colour: colourOf(flow, scene.theme), faint, dashed });
      });
    if (ghost && ghost.samples.cwnd.length <= 4) add(ghost, true);
    add(scene.run, false);
    const timeouts = scene.run.reactions.filter((reaction) => reaction.kind === TIMEOUT);
    const marks = timeouts.map(({ at, flow }) => ({ at, colour: colourOf(flow, scene.theme) }));
    return [{ title: "Windows", curves, top: Math.max(1000, ...curves.map((curve) => this.largest(scene.run, curve.values))), unit: bytes, marks, levels: [] }];
  }

  private rates(scene: Scene, ghost: Run | undefined): Panel {
    const curves: Curve[] = [];
    const add = (run: Run, dashed: boolean) =>
      this.rated(run).forEach((values, flow) => {
        const faint = dashed || (scene.focus >= 0 && scene.focus !== flow);
        curves.push({ values, colour: colourOf(flow, scene.theme), faint, dashed });
      });
    if (ghost && ghost.samples.cwnd.length <= 4) add(ghost, true);
    add(scene.run, false);
    return { title: "Goodput", curves, top: Math.max(1000, ...curves.map((curve) => this.largest(scene.run, curve.values))), unit: rate, marks: [], levels: [] };
  }

  /** Round trips as the senders measure them. */
  private roundTrips(scene: Scene, ghost: Run | undefined): Panel[] {
    return hasConnections(scene.run) ? [this.delays("Round trip", isConnection, scene, ghost)] : [];
  }

  /** Mean transfer delays of the frames of bare cells. */
  private transferDelays(scene: Scene, ghost: Run | undefined): Panel[] {
    return hasBareCells(scene.run) ? [this.delays("Delay", isBareCells, scene, ghost)] : [];
  }

  /** The delays of some flows, where they are known. */
  private delays(title: string, has: (run: Run, flow: number) => boolean, scene: Scene, ghost: Run | undefined): Panel {
    const curves: Curve[] = [];
    const add = (run: Run, dashed: boolean) =>
      run.samples.delay.forEach((values, flow) => {
        const faint = dashed || (scene.focus >= 0 && scene.focus !== flow);
        if (has(run, flow)) curves.push({ values, colour: colourOf(flow, scene.theme), faint, dashed, known: (value) => value > 0 });
      });
    if (ghost && ghost.samples.delay.length <= 4) add(ghost, true);
    add(scene.run, false);
    return { title, curves, top: Math.max(1, ...curves.map((curve) => this.largest(scene.run, curve.values))), unit: span, marks: [], levels: [] };
  }

  /** Short flows, where they end, with the time that they took. */
  private completions({ run, theme, focus }: Scene): Panel[] {
    if (!hasShortFlows(run)) return [];
    const dots = run.completions.map(({ at, flow, time }) => ({ at, value: time, colour: colourOf(flow, theme), faint: focus >= 0 && focus !== flow }));
    const [least, most] = dots.reduce(([least, most], { value }) => [Math.min(least, value), Math.max(most, value)], [Number.POSITIVE_INFINITY, 0]);
    const bottom = Number.isFinite(least) ? 10 ** Math.floor(Math.log10(least)) : MS;
    return [{ title: "Completion", curves: [], dots, bottom, top: Math.max(10 * bottom, most), unit: span, marks: [], levels: [] }];
  }

  /** Bits a second of every flow, over a fiftieth of the run. */
  private rated(run: Run): Float64Array[] {
    const { times, delivered } = run.samples;
    const known = this.throughput.get(run);
    if (known && known.length === times.length) return known.series;
    const back = Math.round(run.sampleCount / 50);
    const series = delivered.map((values) =>
      Float64Array.from(times, (time, index) => {
        const before = Math.max(0, index - back);
        const elapsed = time - (index < back ? 0 : times[before]);
        return elapsed > 0 ? ((values[index] - (index < back ? 0 : values[before])) * 8 * S) / elapsed : 0;
      }),
    );
    this.throughput.set(run, { length: times.length, series });
    return series;
  }

  /** The largest value in what is seen. */
  private largest(run: Run, values: ArrayLike<number>): number {
    const { times } = run.samples;
    const last = Math.min(values.length, search(times, this.to) + 1);
    let most = 0;
    for (let index = Math.max(0, search(times, this.from) - 1); index < last; index++) most = Math.max(most, values[index]);
    return most;
  }

  private drawPanel(context: CanvasRenderingContext2D, scene: Scene, panel: Panel, y: number, height: number): void {
    const { theme, run } = scene;
    const { width } = this.surface;
    const bottom = y + height;
    const share = ({ top, bottom: least }: Panel, value: number) => (least ? Math.log(value / least) / Math.log(top / least) : value / top);
    const level = (value: number) => bottom - share(panel, value) * (height - 4);
    context.font = SMALL;
    context.textAlign = "left";
    context.fillStyle = theme.ink;
    context.textBaseline = "top";
    context.fillText(panel.title, 0, y);
    context.fillStyle = theme.muted;
    context.fillText(panel.unit(panel.top), 0, y + 15);
    context.textBaseline = "bottom";
    context.fillText(panel.bottom ? panel.unit(panel.bottom) : "0", 0, bottom + 1);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(LABELS, bottom + 0.5);
    context.lineTo(width - 8, bottom + 0.5);
    context.stroke();
    context.save();
    context.beginPath();
    context.rect(LABELS, y - 2, width - LABELS - 6, height + 4);
    context.clip();
    for (const units of panel.levels) this.horizontal(context, theme, level(units));
    const order = [...panel.curves].sort((a, b) => Number(b.faint) - Number(a.faint));
    for (const curve of order) this.drawCurve(context, run.samples.times, curve, level);
    this.drawDots(context, panel.dots ?? [], level);
    this.drawMarks(context, panel.marks, y);
    context.restore();
  }

  private horizontal(context: CanvasRenderingContext2D, theme: Theme, y: number): void {
    context.strokeStyle = theme.accent;
    context.globalAlpha = 0.5;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(LABELS, y);
    context.lineTo(this.surface.width - 8, y);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** One vertical stroke a pixel, from the least to the most value in it: as exact as the screen, however many samples there are. */
  private drawCurve(context: CanvasRenderingContext2D, times: number[], curve: Curve, level: (value: number) => number): void {
    const { values } = curve;
    const count = Math.min(times.length, values.length);
    if (count === 0) return;
    const [first, last] = [Math.max(0, search(times, this.from) - 1), Math.min(count - 1, search(times, this.to) + 1)];
    context.strokeStyle = curve.colour;
    context.lineWidth = curve.faint ? 1 : 1.5;
    context.globalAlpha = curve.faint ? 0.35 : 1;
    if (curve.dashed) context.setLineDash([4, 3]);
    context.beginPath();
    let column = Number.NaN;
    let [least, most, latest] = [0, 0, 0];
    const flush = () => {
      if (Number.isNaN(column)) return;
      context.lineTo(column, level(most));
      if (least !== most) context.lineTo(column, level(least));
      context.lineTo(column, level(latest));
    };
    for (let index = first; index <= last; index++) {
      const x = Math.round(this.x(times[index]) * 2) / 2;
      const value = values[index];
      if (curve.known && !curve.known(value)) continue;
      if (x !== column) {
        flush();
        [column, least, most] = [x, value, value];
      }
      least = Math.min(least, value);
      most = Math.max(most, value);
      latest = value;
    }
    flush();
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  private drawDots(context: CanvasRenderingContext2D, dots: Dot[], level: (value: number) => number): void {
    let last = "";
    for (const { at, value, colour, faint } of dots) {
      if (at < this.from || at > this.to) continue;
      const [x, y] = [Math.round(this.x(at)), Math.round(level(value))];
      const place = `${x} ${y} ${colour}`;
      if (place === last) continue;
      last = place;
      context.fillStyle = colour;
      context.globalAlpha = faint ? 0.25 : 0.8;
      context.fillRect(x - 1, y - 1, 2.5, 2.5);
    }
    context.globalAlpha = 1;
  }

  private drawMarks(context: CanvasRenderingContext2D, marks: Mark[], y: number): void {
    let last = "";
    for (const { at, colour } of marks) {
      if (at < this.from || at > this.to) continue;
      const x = Math.round(this.x(at));
      const place = `${x} ${colour}`;
      if (place === last) continue;
      last = place;
      context.fillStyle = colour;
      context.fillRect(x - 0.75, y - 1, 1.5, 6);
    }
  }

  private drawAxis(context: CanvasRenderingContext2D, scene: Scene): void {
    const { theme } = scene;
    const y = this.surface.height - AXIS;
    context.font = SMALL;
    context.fillStyle = theme.muted;
    context.textBaseline = "top";
    const step = niceStep((this.to - this.from) / Math.max(2, this.surface.width / 130));
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = this.x(time);
      context.textAlign = x > this.surface.width - 40 ? "right" : "center";
      context.fillText(tick(time, step), x, y + 4);
    }
  }
}

/** Whether a flow is one TCP connection, with a window and round trips of its own. */
const isConnection = ({ description }: Run, flow: number) => description.flows[flow]?.tcp && !description.flows[flow].pool;
const isBareCells = ({ description }: Run, flow: number) => !description.flows[flow]?.tcp;
const hasBareCells = (run: Run) => run.description.flows.some((_, flow) => isBareCells(run, flow));
const hasConnections = (run: Run) => run.description.flows.some((_, flow) => isConnection(run, flow));
const hasShortFlows = (run: Run) => run.description.flows.some(({ pool }) => pool);

/** The first sample at or after a time. */
function search(times: number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}
