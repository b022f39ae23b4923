/** The network as a whole: hosts, switches, and what travels between them. */

import { Surface, SMALL, drawCells, drawPauseSign, drawStripes, roundedRect } from "./canvas.ts";
import { labelsWithCaptions } from "./layout/captions.ts";
import { type Point, distance } from "./layout/geometry.ts";
import { type Label, SIDES, sidesAway } from "./layout/labels.ts";
import { type Lane, type Segment, awayFrom, idleIn, lanesOf } from "./layout/lanes.ts";
import { SWITCH, isHigh, layOut } from "./layout/layout.ts";
import { type Stop, stopsOf } from "./layout/walk.ts";
import { limitOf } from "../run/network.ts";
import { Densities, type Scene, Sparks, flowOf, pausesIn, styleOfRow } from "./scene.ts";
import { Still } from "./still.ts";
import { colourOf } from "../theme.ts";
import { type Description, Place } from "../run/types.ts";
import { Port, Row } from "../run/view.ts";
import type { Box } from "./walker.ts";

/** What stands between the middle of a host and the edge of the picture beside its name. */
const BESIDE = 14;

/** What the keyboard has is at least so large, and has so much space around it. */
const [LEAST_SPOT, AROUND] = [6, 3];

/** The sign of a pause is at least so high. */
const LEAST_SIGN = 7;

/** Of more links than these nobody sees which one passes below the other. */
const MOST_LANES = 500;

/** What draws the traffic of a link on its lane, trains or the share of each flow, and the links that have any. */
interface Traffic {
  links: Iterable<number>;
  draw(link: number, lane: Lane, segment: Segment): void;
}

/** How a port's small glass stands before its switch, where that has its usual size. */
const GLASS = { away: 11, width: 9, height: 26 };

export class Overview {
  private readonly surface: Surface;
  private places: Point[] = [];
  private lanes: (Lane | undefined)[] = [];
  /** What carries nothing. */
  private idle: Segment[] = [];
  private labels: (Label | undefined)[] = [];
  /** Half of the width of each node: smaller where they stand close together. */
  private sizes: number[] = [];
  /** That of switches. */
  private half = SWITCH;
  /** By host: the first of its flows. */
  private flows = new Map<number, number>();
  private laidOut: unknown;
  /** What stands still below and above the traffic of many links. */
  private readonly below = new Still();
  private readonly above = new Still();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    redraw: () => void,
  ) {
    this.surface = new Surface(canvas, () => {
      this.laidOut = undefined;
      redraw();
    });
  }

  /** The screen has another resolution. */
  rescale(): void {
    this.surface.fit();
  }

  /** Gives the picture the height that a network needs. */
  fit(description: Description): void {
    this.canvas.classList.toggle("high", isHigh(description));
  }

  /** The switch port near a place on the canvas, by its link. */
  portAt(scene: Scene, left: number, top: number): number | undefined {
    this.arrange(scene);
    const [x, y] = this.surface.at(left, top);
    let nearest: number | undefined;
    let least = 26;
    scene.run.description.links.forEach((link, index) => {
      const lane = this.lanes[index];
      if (!lane || scene.run.description.nodes[link.from].host) return;
      const away = awayFrom(lane, 0.5, { x, y });
      if (away < least) [least, nearest] = [away, index];
    });
    return nearest;
  }

  /** The node at a place on the canvas, or so far beside it. */
  nodeAt(scene: Scene, left: number, top: number, reach: number): number | undefined {
    this.arrange(scene);
    const [x, y] = this.surface.at(left, top);
    const beside = (node: number) => distance(this.places[node], { x, y }) - this.sizes[node];
    const nearest = this.places.reduce((best, _, node) => (beside(node) < beside(best) ? node : best), 0);
    return beside(nearest) <= reach ? nearest : undefined;
  }

  /** The link at a place on the canvas, or so far beside it. */
  linkAt(scene: Scene, left: number, top: number, reach: number): number | undefined {
    this.arrange(scene);
    const [x, y] = this.surface.at(left, top);
    let nearest: number | undefined;
    let least = reach;
    this.lanes.forEach((lane, link) => {
      const away = lane ? awayFrom(lane, 1, { x, y }) : Number.POSITIVE_INFINITY;
      if (away < least) [least, nearest] = [away, link];
    });
    return nearest;
  }

  /** What can be reached with the keyboard. */
  stops(scene: Scene): Stop[] {
    this.arrange(scene);
    return stopsOf(scene.run.description, this.places, this.lanes);
  }

  /** Whether what was reached is still drawn. */
  has({ kind, index }: Stop): boolean {
    return kind === "node" || this.lanes[index] !== undefined;
  }

  /** Where a stop is on the canvas, with a little space around it. */
  boxOf({ kind, index }: Stop): Box {
    const lane = kind === "link" ? this.lanes[index] : undefined;
    const around = 2 * this.sizes[index];
    const { from, to, length, angle } = lane?.segments[0] ?? { from: this.places[index], to: this.places[index], length: around, angle: 0 };
    const { zoom } = this.surface;
    const [width, height] = [length, lane?.thickness ?? around].map((side) => (Math.max(side, LEAST_SPOT) + 2 * AROUND) * zoom);
    return { x: ((from.x + to.x) / 2) * zoom, y: ((from.y + to.y) / 2) * zoom, width, height, angle };
  }

  draw(scene: Scene, sparks: Sparks, densities: Densities, now: number): void {
    this.arrange(scene);
    const context = this.surface.begin();
    const trains = Overview.showsTrains(scene);
    const traffic = this.traffic(context, scene, trains ? undefined : densities);
    const pauses = pausesIn(scene, trains ? undefined : densities);
    if (this.lanes.length > MOST_LANES) this.drawMany(context, scene, traffic, pauses);
    else {
      this.drawIdle(context, scene);
      this.lanes.forEach((_, link) => this.drawLane(context, scene, link, traffic, pauses.get(link)));
      this.drawNodes(context, scene);
    }
    this.drawPorts(context, scene);
    for (const [link, strength] of pauses) this.drawPauseSign(context, scene, link, strength);
    this.labels.forEach((label) => label && this.drawLabel(context, scene, label));
    this.drawSparks(context, scene, sparks, now);
  }

  /** Of many links only what they carry is drawn anew. */
  private drawMany(context: CanvasRenderingContext2D, scene: Scene, traffic: Traffic, pauses: Map<number, number>): void {
    this.below.draw(this.surface, [this.laidOut, scene.theme], (context) => {
      this.drawIdle(context, scene);
      this.lanes.forEach((_, link) => this.drawLane(context, scene, link));
    });
    for (const [link, strength] of pauses) {
      const lane = this.lanes[link];
      for (const segment of lane?.segments ?? []) this.along(context, segment, () => this.drawPause(context, scene, lane!, segment, strength));
    }
    for (const link of traffic.links) {
      const lane = this.lanes[link];
      for (const segment of lane?.segments ?? []) this.along(context, segment, () => traffic.draw(link, lane!, segment));
    }
    this.above.draw(this.surface, [this.laidOut, scene.theme, scene.focus], (context) => this.drawNodes(context, scene));
  }

  private drawIdle(context: CanvasRenderingContext2D, { theme }: Scene): void {
    for (const segment of this.idle) {
      this.along(context, segment, () => {
        context.fillStyle = theme.line;
        context.fillRect(segment.start, -0.75, segment.length, 1.5);
      });
    }
  }

  private drawLane(context: CanvasRenderingContext2D, scene: Scene, link: number, traffic?: Traffic, paused = 0): void {
    const lane = this.lanes[link];
    const { theme } = scene;
    for (const segment of lane?.segments ?? []) {
      this.along(context, segment, () => {
        const { start, length } = segment;
        const { thickness } = lane!;
        // Where two links cross, one passes below the other.
        context.fillStyle = theme.paper;
        if (thickness >= 2.5) context.fillRect(start, -thickness / 2 - 1, length, thickness + 2);
        context.fillStyle = theme.line;
        context.fillRect(start, -thickness / 2, length, thickness);
        if (paused > 0) this.drawPause(context, scene, lane!, segment, paused);
        traffic?.draw(link, lane!, segment);
        if (lane!.segments.length > 1) this.drawCut(context, scene, lane!, segment);
      });
    }
  }

  /** A paused lane is striped; what is on it already goes on. */
  private drawPause(context: CanvasRenderingContext2D, { theme }: Scene, { thickness }: Lane, { start, length }: Segment, strength: number): void {
    drawStripes(context, [start, -thickness / 2, length, thickness], theme.accent, strength);
  }

  /** The sign of a pause, where the lane leaves its port. */
  private drawPauseSign(context: CanvasRenderingContext2D, { theme, run }: Scene, link: number, strength: number): void {
    const lane = this.lanes[link];
    if (!lane) return;
    const { from } = run.description.links[link];
    // Behind the glass of a switch's port, if there is space.
    const glass = run.description.nodes[from].host ? 3 : (GLASS.away + GLASS.width) * (this.half / SWITCH);
    const height = Math.max(LEAST_SIGN, lane.thickness + 4);
    const x = Math.min(glass, Math.max(1, 0.6 * lane.segments[0].length - height));
    this.along(context, lane.segments[0], () => drawPauseSign(context, x, 0, height, { ink: theme.accent, paper: theme.paper }, strength));
  }

  private drawNodes(context: CanvasRenderingContext2D, scene: Scene): void {
    scene.run.description.nodes.forEach((_, node) => this.drawNode(context, scene, node));
  }

  /** Whether single trains can still be seen on the links at this speed. */
  static showsTrains(scene: Scene): boolean {
    const delays = scene.run.description.links.map((link) => link.delay).filter((delay) => delay > 0);
    return scene.speed / 60 < Math.max(...delays, 1) / 5;
  }

  /** With `densities`, the share of each flow where trains are too fast. */
  private traffic(context: CanvasRenderingContext2D, scene: Scene, densities: Densities | undefined): Traffic {
    if (densities) {
      return { links: densities.links.keys(), draw: (link, lane, segment) => this.drawDensity(context, scene, densities.links.get(link), lane, segment) };
    }
    const { rows } = scene.run.view;
    const byLink = new Map<number, number[]>();
    for (let row = 0; row < rows.length; row++) {
      const link = rows.get(row, Row.link);
      const known = byLink.get(link);
      if (known) known.push(row);
      else byLink.set(link, [row]);
    }
    return { links: byLink.keys(), draw: (link, lane, segment) => byLink.get(link)?.forEach((row) => this.drawTrain(context, scene, row, lane, segment)) };
  }

  private drawTrain(context: CanvasRenderingContext2D, scene: Scene, row: number, lane: Lane, { start, length }: Segment): void {
    const { rows } = scene.run.view;
    const { delay, rate } = scene.run.description.links[rows.get(row, Row.link)];
    const place = rows.get(row, Row.place);
    const slot = (rows.get(row, Row.octets) * 8e12) / rate;
    const after = rows.get(row, Row.after);
    if (delay === 0 || place === Place.Stored || place === Place.Shaper) return;
    // What is being transmitted already reaches into the link.
    if (place === Place.Buffer && after >= slot) return;
    const scale = lane.length / delay;
    const x = (place === Place.Buffer ? -after : delay - after) * scale;
    const count = place === Place.Buffer ? 1 : rows.get(row, Row.count);
    drawCells(context, [x, -lane.thickness / 2, slot * scale, lane.thickness], count, rows.get(row, Row.step) * scale, [start, start + length], styleOfRow(scene, row));
  }

  private drawDensity(context: CanvasRenderingContext2D, scene: Scene, shares: Map<number, number> | undefined, lane: Lane, { start, length }: Segment): void {
    if (!shares) return;
    let y = -lane.thickness / 2;
    const order = [...shares].sort((a, b) => a[0] - b[0]);
    const sum = Math.max(1, order.reduce((total, [, share]) => total + share, 0));
    for (const [vc, share] of order) {
      const height = (share / sum) * lane.thickness;
      context.globalAlpha = scene.focus >= 0 && scene.focus !== flowOf(vc) ? 0.25 : 0.9;
      context.fillStyle = colourOf(flowOf(vc), scene.theme);
      context.fillRect(start, y, length, height);
      y += height;
    }
    context.globalAlpha = 1;
  }

  /** A lane that leaves the picture at one edge and comes back at another fades there. */
  private drawCut(context: CanvasRenderingContext2D, { theme }: Scene, { thickness }: Lane, { start, length }: Segment): void {
    const [open, inwards] = start === 0 ? [length, -1] : [start, 1];
    context.fillStyle = theme.paper;
    for (const [away, width] of [[0, 2], [3.5, 1.5], [7, 1]]) {
      const from = open + inwards * away;
      context.fillRect(Math.min(from, from + inwards * width), -thickness / 2 - 0.5, width, thickness + 1);
    }
  }

  private drawNode(context: CanvasRenderingContext2D, scene: Scene, node: number): void {
    const { description } = scene.run;
    const { x, y } = this.places[node];
    const { theme } = scene;
    if (description.nodes[node].host) {
      const flow = this.flows.get(node) ?? -1;
      context.beginPath();
      context.arc(x, y, this.sizes[node], 0, 7);
      context.fillStyle = flow < 0 ? theme.muted : colourOf(flow, theme);
      context.globalAlpha = scene.focus >= 0 && scene.focus !== flow ? 0.3 : 1;
      context.fill();
      context.globalAlpha = 1;
      // An edge of paper keeps it apart from its links; a small dot would vanish below it.
      context.lineWidth = Math.min(2, this.sizes[node] / 2);
      context.strokeStyle = theme.paper;
      context.stroke();
    } else {
      const { half } = this;
      roundedRect(context, x - half, y - half, 2 * half, 2 * half, (7 * half) / SWITCH);
      context.fillStyle = theme.raised;
      context.fill();
      context.lineWidth = 1.5;
      context.strokeStyle = theme.ink;
      context.stroke();
    }
  }

  /** A name that can be read on whatever it lies. */
  private drawLabel(context: CanvasRenderingContext2D, { theme }: Scene, { text, x, y, align }: Label): void {
    [context.font, context.textBaseline, context.textAlign] = [SMALL, "middle", align];
    [context.lineWidth, context.lineJoin] = [4, "round"];
    [context.strokeStyle, context.fillStyle] = [theme.paper, theme.muted];
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }

  /** How full the buffers of switches are: small glasses where their links begin. */
  private drawPorts(context: CanvasRenderingContext2D, scene: Scene): void {
    const { ports } = scene.run.view;
    const { links, nodes } = scene.run.description;
    const { theme } = scene;
    for (let index = 0; index < ports.length; index++) {
      const number = ports.get(index, Port.link);
      const lane = this.lanes[number];
      const chosen = number === scene.port;
      if (!lane || nodes[links[number].from].host || ports.get(index, Port.inSwitch) === 0) continue;
      const occupancy = ports.get(index, Port.occupancy);
      const limit = limitOf(links[number]);
      if (!chosen && (occupancy < 2 || limit === null)) continue;
      const scale = this.half / SWITCH;
      const [{ from, angle }] = lane.segments;
      const x = from.x + Math.cos(angle) * GLASS.away * scale;
      const y = from.y + Math.sin(angle) * GLASS.away * scale;
      const least = chosen ? 0.45 : 0.25;
      const [width, height] = [GLASS.width * Math.max(least, scale), GLASS.height * Math.max(least, scale)];
      const full = Math.min(1, occupancy / (limit ?? Math.max(100, occupancy)));
      roundedRect(context, x - width / 2, y - height / 2, width, height, 2.5 * Math.min(1, width / 9));
      context.fillStyle = theme.paper;
      context.fill();
      context.fillStyle = chosen ? theme.accent : theme.ink;
      context.fillRect(x - width / 2, y + height / 2 - full * height, width, full * height);
      roundedRect(context, x - width / 2, y - height / 2, width, height, 2.5 * Math.min(1, width / 9));
      context.lineWidth = chosen ? 1.75 : 1;
      context.strokeStyle = chosen ? theme.accent : theme.ink;
      context.stroke();
    }
  }

  private drawSparks(context: CanvasRenderingContext2D, scene: Scene, sparks: Sparks, now: number): void {
    for (const spark of sparks.all) {
      const lane = this.lanes[spark.link];
      if (!lane) continue;
      const progress = Sparks.progress(spark, now, scene.reducedMotion);
      const at = spark.underway ? lane.segments.at(-1)!.to : lane.segments[0].from;
      const radius = scene.reducedMotion ? 12 : 6 + 14 * progress;
      context.globalAlpha = 1 - progress;
      context.strokeStyle = scene.theme.accent;
      context.lineWidth = 2;
      context.beginPath();
      for (let ray = 0; ray < 8; ray++) {
        const angle = (ray * Math.PI) / 4;
        context.moveTo(at.x + Math.cos(angle) * radius * 0.55, at.y + Math.sin(angle) * radius * 0.55);
        context.lineTo(at.x + Math.cos(angle) * radius, at.y + Math.sin(angle) * radius);
      }
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  /** Draws in the lane's own direction, from where the lane begins. */
  private along(context: CanvasRenderingContext2D, { from, angle, start }: Segment, draw: () => void): void {
    context.save();
    context.translate(from.x, from.y);
    context.rotate(angle);
    context.translate(-start, 0);
    draw();
    context.restore();
  }

  private arrange(scene: Scene): void {
    const { description } = scene.run;
    if (this.laidOut === description) return;
    this.laidOut = description;
    const { width, height } = this.surface;
    this.surface.context.font = SMALL;
    const measure = (text: string) => this.surface.context.measureText(text).width;
    const longest = Math.max(0, ...description.nodes.filter(({ host }) => host).map(({ name }) => measure(name)));
    const layout = layOut(description, [width, height], longest + BESIDE);
    [this.places, this.sizes, this.half] = [layout.places, layout.sizes, layout.half];
    this.flows = new Map();
    description.flows.forEach(({ from, to }, flow) => {
      for (const node of [from, to]) if (!this.flows.has(node)) this.flows.set(node, flow);
    });
    const hangsOn = new Map(description.links.map(({ from, to }) => [from, to]));
    const named = description.nodes.map(({ name, host }, index) => ({
      ...this.places[index], name, host, radius: this.sizes[index], sides: host ? sidesAway(this.places[hangsOn.get(index) ?? index], this.places[index]) : SIDES,
    }));
    const { labels, captions } = labelsWithCaptions(named, [width, height], measure);
    this.labels = [...labels, ...captions];
    this.lanes = lanesOf(description, layout);
    this.idle = idleIn(description, layout, this.lanes);
  }
}
