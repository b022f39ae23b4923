/** One port close up: cells that come, the buffer as a glass, thresholds that can be dragged, cells that go. */

import { FONT, SMALL, Surface, drawCells } from "./canvas.ts";
import { firstThatFits, fitted } from "./layout/labels.ts";
import { Densities, type Scene, type Spark, Sparks, flowOf, heldUnit, isBack, slotOf, styleOf, styleOfRow } from "./scene.ts";
import { colourOf, mix } from "../theme.ts";
import { type LevelInfo, Place } from "../run/types.ts";
import { Port, Row } from "../run/view.ts";

/** Where things are on the canvas. */
interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** Width of a cell of the port's own link. */
  cell: number;
  /** Units that the glass holds to its rim, and what one is called. */
  capacity: number;
  limited: boolean;
}

/** A run of units in the buffer, the first to leave first. */
interface Held {
  vc: number;
  flags: number;
  from: number;
  units: number;
}

export interface Drag {
  level: LevelInfo;
  /** In units of the buffer. */
  value: number;
}

/** The most cells of a buffer that are drawn one by one. */
const MOST_CELLS = 5000;
const LANE_GAP = 3;
/** Space above the glass, for what has just been lost. */
const HEAD = 58;

export class CloseUp {
  private readonly surface: Surface;
  /** The input link of each VC that crosses the port, by VC. */
  private inputs = new Map<number, number>();
  private lanes: number[] = [];
  private prepared: unknown;
  private preparedPort = -1;
  /** The threshold that is being dragged. */
  drag: Drag | undefined;

  constructor(
    readonly canvas: HTMLCanvasElement,
    redraw: () => void,
  ) {
    this.surface = new Surface(canvas, redraw);
  }

  /** Whether single cells can be followed at this speed. */
  static showsCells(scene: Scene): boolean {
    return scene.speed / 60 < slotOf(scene.run.description.links[scene.port]) * 8;
  }

  /** The threshold near a height on the canvas. */
  levelAt(scene: Scene, left: number, top: number, reach: number): LevelInfo | undefined {
    const [x, y] = this.surface.at(left, top);
    const frame = this.frame(scene);
    if (x < frame.left - 24 || x > frame.right + 130) return undefined;
    const { levels } = scene.run.description.links[scene.port];
    const distance = (level: LevelInfo) => Math.abs(this.height(frame, level.units) - y);
    return levels.filter((level) => distance(level) < reach).sort((a, b) => distance(a) - distance(b))[0];
  }

  /** What a height on the canvas means in units of the buffer. */
  unitsAt(scene: Scene, top: number): number {
    const [, y] = this.surface.at(0, top);
    const frame = this.frame(scene);
    const share = (frame.bottom - y) / (frame.bottom - frame.top);
    return Math.max(1, Math.min(frame.capacity, Math.round(share * frame.capacity)));
  }

  draw(scene: Scene, sparks: Sparks, densities: Densities, now: number): void {
    this.prepare(scene);
    const context = this.surface.begin();
    const frame = this.frame(scene);
    const cells = CloseUp.showsCells(scene);
    this.drawLanes(context, scene, frame);
    if (cells) this.drawCells(context, scene, frame);
    else this.drawFlowing(context, scene, frame, densities);
    this.drawPlates(context, scene, frame);
    this.drawGlass(context, scene, frame, cells ? undefined : densities);
    this.drawLevels(context, scene, frame);
    this.drawSparks(context, scene, frame, sparks, now);
  }

  private prepare(scene: Scene): void {
    const { description } = scene.run;
    if (this.prepared === description && this.preparedPort === scene.port) return;
    [this.prepared, this.preparedPort] = [description, scene.port];
    this.inputs = new Map();
    description.flows.forEach((flow, index) => {
      [flow.route, flow.back].forEach((route, back) => {
        const at = route.indexOf(scene.port);
        if (at > 0 && flow.circuit === index) this.inputs.set(2 * index + back, route[at - 1]);
      });
    });
    this.lanes = [...new Set(this.inputs.values())];
  }

  private frame(scene: Scene): Frame {
    const { width, height } = this.surface;
    const { capacity } = scene.run.description.links[scene.port];
    const glass = Math.max(64, Math.min(120, width * 0.12));
    const left = width * 0.5 - glass / 2;
    const seen = Math.max(50, this.occupancy(scene) * 1.2);
    return {
      left, right: left + glass, top: HEAD, bottom: height - 30,
      cell: Math.max(7, Math.min(15, width / 60)),
      capacity: capacity ?? 100 * Math.ceil(seen / 100), limited: capacity !== null,
    };
  }

  private occupancy(scene: Scene): number {
    const { ports } = scene.run.view;
    for (let row = 0; row < ports.length; row++) {
      if (ports.get(row, Port.link) === scene.port) return ports.get(row, Port.occupancy);
    }
    return 0;
  }

  private height(frame: Frame, units: number): number {
    return frame.bottom - (units / frame.capacity) * (frame.bottom - frame.top);
  }

  /** The lane that cells of an input come on: its top and its height. */
  private lane(frame: Frame, place: number): [number, number] {
    const room = frame.bottom - frame.top - 20;
    const pitch = Math.min(30, room / Math.max(1, this.lanes.length));
    const height = Math.max(2, Math.min(13, pitch - LANE_GAP));
    return [frame.top + 12 + place * pitch + (pitch - height) / 2, height];
  }

  private drawLanes(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
    const { theme } = scene;
    this.lanes.forEach((_, place) => {
      const [y, height] = this.lane(frame, place);
      context.fillStyle = theme.line;
      context.fillRect(0, y, frame.left - 10, height);
    });
    const [y, height] = [frame.bottom - 15, 13];
    context.fillStyle = theme.line;
    context.fillRect(frame.right + 10, y, this.reach(scene, frame) - frame.right - 10, height);
    this.drawGates(context, scene, frame);
  }

  /** Where the outgoing lane ends: a short link is shorter than the canvas, and what it carries does not vanish half-way. */
  private reach(scene: Scene, frame: Frame): number {
    const link = scene.run.description.links[scene.port];
    const length = link.delay * (frame.cell / slotOf(link));
    return Math.min(this.surface.width, frame.right + 10 + Math.max(60, length));
  }

  /** Where lanes come from and lead to: small plates at their far ends. */
  private drawPlates(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
    const { nodes, links } = scene.run.description;
    const { theme } = scene;
    context.font = SMALL;
    context.textBaseline = "middle";
    const measure = (text: string) => context.measureText(text).width;
    // A name takes no more than half of the way to the buffer.
    const short = (node: number) => fitted(nodes[node].name, frame.left / 2, measure);
    const plate = (text: string, x: number, y: number, right: boolean) => {
      const width = measure(text) + 8;
      const left = right ? x - width : x;
      context.fillStyle = theme.paper;
      context.fillRect(left, y - 8, width, 16);
      context.fillStyle = theme.muted;
      context.textAlign = "left";
      context.fillText(text, right ? left + 6 : left + 1, y + 0.5);
    };
    const to = short(links[scene.port].to);
    const end = this.reach(scene, frame);
    const beyond = end + measure(to) + 10 < this.surface.width;
    plate(to, beyond ? end + 2 : this.surface.width, frame.bottom - 8.5, !beyond);
    if (this.lanes.length > 10) return;
    this.lanes.forEach((link, place) => {
      const [y, height] = this.lane(frame, place);
      plate(short(links[link].from), 0, y + height / 2, false);
    });
  }

  /** A VC that the policy holds back finds its gate closed. */
  private drawGates(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
    const { captured } = scene.run.view;
    for (let row = 0; row < captured.length; row++) {
      const input = this.inputs.get(captured.get(row, 1));
      if (captured.get(row, 0) !== scene.port || input === undefined) continue;
      const [y, height] = this.lane(frame, this.lanes.indexOf(input));
      context.fillStyle = scene.theme.accent;
      context.fillRect(frame.left - 12, y - 3, 4, height + 6);
      if (this.lanes.length > 8) continue;
      context.font = SMALL;
      context.textAlign = "right";
      context.textBaseline = "bottom";
      context.fillText("captured", frame.left - 16, y - 1);
    }
  }

  private drawCells(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
    const { rows } = scene.run.view;
    const { links } = scene.run.description;
    const scale = frame.cell / slotOf(links[scene.port]);
    const [out, outHeight] = [frame.bottom - 15, 13];
    for (let index = 0; index < rows.length; index++) {
      const link = rows.get(index, Row.link);
      const place = rows.get(index, Row.place);
      const vc = rows.get(index, Row.vc);
      const after = rows.get(index, Row.after);
      const width = ((rows.get(index, Row.octets) * 8e12) / links[link].rate) * scale;
      const step = rows.get(index, Row.step) * scale;
      const style = styleOfRow(scene, index);
      if (link === scene.port) {
        if (place === Place.Stored || place === Place.Shaper || (place === Place.Buffer && after * scale >= width)) continue;
        const gone = place === Place.Buffer ? -after : links[link].delay - after;
        const count = place === Place.Buffer ? 1 : rows.get(index, Row.count);
        drawCells(context, [frame.right + 10 + gone * scale, out, width, outHeight], count, step, [frame.right + 10, this.reach(scene, frame)], style);
      } else if (place !== Place.Stored && place !== Place.Shaper && this.inputs.get(vc) === link) {
        const lane = this.lanes.indexOf(link);
        const [y, height] = this.lane(frame, lane);
        const end = frame.left - 10;
        // In the port before, cells line up behind its link.
        const away = place === Place.Buffer ? after + links[link].delay : after;
        drawCells(context, [end - away * scale, y, width, height], rows.get(index, Row.count), step, [0, end], style);
      }
    }
  }

  /** Lanes as bands where cells are too fast. */
  private drawFlowing(context: CanvasRenderingContext2D, scene: Scene, frame: Frame, densities: Densities): void {
    const band = (link: number, x: number, y: number, width: number, height: number, mine: (vc: number) => boolean) => {
      const shares = [...(densities.links.get(link) ?? [])].filter(([vc]) => mine(vc)).sort((a, b) => a[0] - b[0]);
      const sum = Math.max(1, shares.reduce((total, [, share]) => total + share, 0));
      for (const [vc, share] of shares) {
        const part = (share / sum) * height;
        context.globalAlpha = scene.focus >= 0 && scene.focus !== flowOf(vc) ? 0.25 : 0.9;
        context.fillStyle = colourOf(flowOf(vc), scene.theme);
        context.fillRect(x, y, width, part);
        y += part;
      }
      context.globalAlpha = 1;
    };
    this.lanes.forEach((link, place) => {
      const [y, height] = this.lane(frame, place);
      band(link, 0, y, frame.left - 10, height, (vc) => this.inputs.get(vc) === link);
    });
    band(scene.port, frame.right + 10, frame.bottom - 15, this.reach(scene, frame) - frame.right - 10, 13, () => true);
  }

  private drawGlass(context: CanvasRenderingContext2D, scene: Scene, frame: Frame, densities: Densities | undefined): void {
    const { theme } = scene;
    const width = frame.right - frame.left;
    context.fillStyle = theme.raised;
    context.fillRect(frame.left, frame.top, width, frame.bottom - frame.top);
    const held = densities ? this.heldSmoothed(scene, densities) : this.held(scene);
    const unit = (frame.bottom - frame.top) / frame.capacity;
    for (const { vc, flags, from, units } of held) {
      const low = Math.max(0, from);
      const gap = unit >= 3 && !densities ? 0.75 : 0;
      const y = frame.bottom - (from + units) * unit;
      const height = (from + units - low) * unit - gap;
      if (height <= 0) continue;
      const style = styleOf(scene, vc, flags);
      context.globalAlpha = style.faint ? 0.25 : isBack(vc) ? 0.6 : 1;
      context.fillStyle = style.broken ? mix(style.colour, theme.raised, 0.78) : style.colour;
      context.fillRect(frame.left + 2, y, width - 4, height);
      if (style.broken && height > 2.5) {
        context.strokeStyle = style.colour;
        context.lineWidth = 1;
        context.strokeRect(frame.left + 2.5, y + 0.5, width - 5, height - 1);
      }
      context.globalAlpha = 1;
    }
    context.lineWidth = 2;
    context.strokeStyle = theme.ink;
    context.beginPath();
    context.moveTo(frame.left, frame.limited ? frame.top : frame.top - 8);
    context.lineTo(frame.left, frame.bottom + 1);
    context.lineTo(frame.right, frame.bottom + 1);
    context.lineTo(frame.right, frame.limited ? frame.top : frame.top - 8);
    context.stroke();
    this.labelGlass(context, scene, frame);
  }

  private labelGlass(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
    const { theme } = scene;
    const link = scene.run.description.links[scene.port];
    const occupancy = this.occupancy(scene);
    context.font = FONT;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillStyle = theme.ink;
    const name = heldUnit(link);
    const text = frame.limited && link.unit !== "bytes" ? `${occupancy} of ${frame.capacity} ${name}` : `${occupancy} ${name}`;
    context.fillText(text, (frame.left + frame.right) / 2, frame.bottom + 9);
  }

  /** What is in the buffer, from the bottom up. */
  private held(scene: Scene): Held[] {
    const { rows } = scene.run.view;
    const link = scene.run.description.links[scene.port];
    const slot = slotOf(link);
    const held: Held[] = [];
    const stored: Held[] = [];
    for (let index = 0; index < rows.length && held.length < MOST_CELLS; index++) {
      const place = rows.get(index, Row.place);
      if (rows.get(index, Row.link) !== scene.port || (place !== Place.Buffer && place !== Place.Stored)) continue;
      const [vc, flags] = [rows.get(index, Row.vc), rows.get(index, Row.flags)];
      const [after, step, count] = [rows.get(index, Row.after), rows.get(index, Row.step), rows.get(index, Row.count)];
      if (place === Place.Stored) {
        for (let cell = 0; cell < count; cell++) stored.push({ vc, flags, from: 0, units: 1 });
      } else {
        for (let cell = 0; cell < count; cell++) held.push({ vc, flags, from: (after + cell * step) / slot - 1, units: 1 });
      }
    }
    // Packets take different times, and what the scheduler has not chosen has none yet: they lie on each other.
    if (link.packets) {
      held.sort((a, b) => a.from - b.from);
      held.forEach((one, place) => (one.from = place));
    }
    const top = held.reduce((most, one) => Math.max(most, one.from + one.units), 0);
    stored.forEach((one, place) => (one.from = top + place));
    return held.concat(stored);
  }

  private heldSmoothed(scene: Scene, densities: Densities): Held[] {
    let from = 0;
    const shares = [...(densities.buffers.get(scene.port) ?? [])].sort((a, b) => a[0] - b[0]);
    return shares.map(([vc, units]) => {
      const held = { vc, flags: 0, from, units };
      from += units;
      return held;
    });
  }

  private drawLevels(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
    const { theme } = scene;
    context.font = SMALL;
    context.textBaseline = "middle";
    context.textAlign = "left";
    const placed: number[] = [];
    for (const level of scene.run.description.links[scene.port].levels) {
      const dragged = this.drag?.level.key === level.key ? this.drag : undefined;
      const units = dragged ? dragged.value : level.units;
      const y = this.height(frame, units);
      context.strokeStyle = theme.accent;
      context.lineWidth = dragged ? 2 : 1.5;
      context.setLineDash([5, 3]);
      context.beginPath();
      context.moveTo(frame.left - 6, y);
      context.lineTo(frame.right + 12, y);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = theme.accent;
      context.beginPath();
      context.arc(frame.right + 16, y, dragged ? 7 : 5.5, 0, 7);
      context.fill();
      context.strokeStyle = theme.paper;
      context.stroke();
      const at = freeHeight(placed, y, frame.bottom - 24);
      placed.push(at);
      const share = Math.round((1000 * units) / frame.capacity) / 10;
      const text = firstThatFits([`${level.key} ${units} (${share} %)`, `${level.key} ${units}`, `${units}`], this.surface.width - frame.right - 27, (one) => context.measureText(one).width);
      context.fillStyle = theme.paper;
      context.fillRect(frame.right + 24, at - 7, context.measureText(text).width + 6, 14);
      context.fillStyle = theme.accent;
      context.fillText(text, frame.right + 27, at);
    }
  }

  private drawSparks(context: CanvasRenderingContext2D, scene: Scene, frame: Frame, sparks: Sparks, now: number): void {
    const mine = sparks.all.filter((spark) => spark.link === scene.port);
    mine.slice(-3).reverse().forEach((spark, place) => this.drawSpark(context, scene, frame, spark, place, now));
  }

  private drawSpark(context: CanvasRenderingContext2D, scene: Scene, frame: Frame, spark: Spark, place: number, now: number): void {
    const { theme } = scene;
    const progress = Sparks.progress(spark, now, scene.reducedMotion);
    const lane = this.lanes.indexOf(this.inputs.get(spark.vc) ?? -1);
    context.globalAlpha = Math.min(1, 2 * (1 - progress));
    if (lane >= 0) {
      const [y, height] = this.lane(frame, lane);
      const x = frame.left - 10;
      const fall = scene.reducedMotion ? 10 : 4 + 26 * progress * progress;
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(x - 4, y + height / 2 - 4 + fall, 8, 8);
      context.beginPath();
      context.moveTo(x - 7, y + height / 2 - 7 + fall);
      context.lineTo(x + 7, y + height / 2 + 7 + fall);
      context.moveTo(x + 7, y + height / 2 - 7 + fall);
      context.lineTo(x - 7, y + height / 2 + 7 + fall);
      context.stroke();
    }
    const centre = (frame.left + frame.right) / 2;
    const y = 40 - place * 16;
    const { packets } = scene.run.description.links[scene.port];
    const unit = packets ? "packet" : "cell";
    // On a packet-framed link a frame is the packet itself.
    const reason = packets ? spark.text.replace("frame ", "") : spark.text;
    const text = `${spark.count} ${unit}${spark.count === 1 ? "" : "s"}: ${reason}`;
    context.font = place === 0 ? `600 ${FONT}` : FONT;
    const width = context.measureText(text).width;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = theme.accent;
    context.fillText(text, centre - width / 2 + 8, y);
    context.fillStyle = colourOf(flowOf(spark.vc), theme);
    context.beginPath();
    context.arc(centre - width / 2, y, 4.5, 0, 7);
    context.fill();
    context.globalAlpha = 1;
  }
}

/** The height nearest to `y`, above `lowest`, at which no other label stands. */
function freeHeight(placed: number[], y: number, lowest: number): number {
  const free = (at: number) => at <= lowest && placed.every((other) => Math.abs(other - at) >= 14);
  for (let away = 0; away < 300; away++) {
    if (free(y + away)) return y + away;
    if (free(y - away)) return y - away;
  }
  return y;
}
