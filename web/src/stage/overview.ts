/** The network as a whole: hosts, switches, and what travels between them. */

import { Surface, SMALL, drawCells, roundedRect } from "./canvas.ts";
import { type Label, placeLabels } from "./labels.ts";
import { type Point, layOut } from "./layout.ts";
import { Densities, type Scene, Sparks, flowOf, styleOfRow } from "./scene.ts";
import { colourOf } from "../theme.ts";
import { Place } from "../run/types.ts";
import { Port, Row } from "../run/view.ts";

/** A link's lane on the picture: from where to where, and its thickness. */
interface Lane {
  from: Point;
  to: Point;
  angle: number;
  length: number;
  thickness: number;
}

/** Half of the width of a switch, at most and at least. */
const SWITCH = 15;
const SMALLEST = 5;

export class Overview {
  private readonly surface: Surface;
  private places: Point[] = [];
  private lanes: (Lane | undefined)[] = [];
  private labels: (Label | undefined)[] = [];
  /** Half of the width of a switch: smaller where they stand close together. */
  private half = SWITCH;
  private hostRadius = 0;
  private laidOut: unknown;

  constructor(canvas: HTMLCanvasElement, redraw: () => void) {
    this.surface = new Surface(canvas, () => {
      this.laidOut = undefined;
      redraw();
    });
  }

  /** The switch port near a place on the canvas, by its link. */
  portAt(scene: Scene, x: number, y: number): number | undefined {
    this.arrange(scene);
    let nearest: number | undefined;
    let least = 26;
    scene.run.description.links.forEach((link, index) => {
      const lane = this.lanes[index];
      if (!lane || scene.run.description.nodes[link.from].host) return;
      const t = Math.max(0, Math.min(0.5, ((x - lane.from.x) * Math.cos(lane.angle) + (y - lane.from.y) * Math.sin(lane.angle)) / lane.length));
      const distance = Math.hypot(lane.from.x + (lane.to.x - lane.from.x) * t - x, lane.from.y + (lane.to.y - lane.from.y) * t - y);
      if (distance < least) [least, nearest] = [distance, index];
    });
    return nearest;
  }

  /** The whole name of the node at a place on the canvas: what its label has no room for. */
  nameAt(scene: Scene, x: number, y: number): string | undefined {
    this.arrange(scene);
    const { nodes } = scene.run.description;
    const distance = (place: Point) => Math.hypot(place.x - x, place.y - y);
    const nearest = this.places.reduce((best, place, index) => (distance(place) < distance(this.places[best]) ? index : best), 0);
    return distance(this.places[nearest]) <= this.half + 4 ? nodes[nearest].name : undefined;
  }

  draw(scene: Scene, sparks: Sparks, densities: Densities, now: number): void {
    this.arrange(scene);
    const context = this.surface.begin();
    const { theme } = scene;
    this.lanes.forEach((lane) => {
      if (!lane) return;
      this.along(context, lane, () => {
        context.fillStyle = theme.line;
        context.fillRect(0, -lane.thickness / 2, lane.length, lane.thickness);
      });
    });
    this.drawTraffic(context, scene, densities);
    scene.run.description.nodes.forEach((_, node) => this.drawNode(context, scene, node));
    this.labels.forEach((label) => label && this.drawLabel(context, scene, label));
    this.drawPorts(context, scene);
    this.drawSparks(context, scene, sparks, now);
  }

  /** Whether single trains can still be seen on the links at this speed. */
  static showsTrains(scene: Scene): boolean {
    const delays = scene.run.description.links.map((link) => link.delay).filter((delay) => delay > 0);
    return scene.speed / 60 < Math.max(...delays, 1) / 5;
  }

  private drawTraffic(context: CanvasRenderingContext2D, scene: Scene, densities: Densities): void {
    const { rows } = scene.run.view;
    const { links } = scene.run.description;
    if (!Overview.showsTrains(scene)) return this.drawDensities(context, scene, densities);
    for (let index = 0; index < rows.length; index++) {
      const number = rows.get(index, Row.link);
      const lane = this.lanes[number];
      const place = rows.get(index, Row.place);
      const { delay, rate } = links[number];
      const slot = (rows.get(index, Row.octets) * 8e12) / rate;
      const after = rows.get(index, Row.after);
      if (!lane || delay === 0 || place === Place.Stored || place === Place.Shaper) continue;
      // What is being transmitted already reaches into the link.
      if (place === Place.Buffer && after >= slot) continue;
      const scale = lane.length / delay;
      const x = (place === Place.Buffer ? -after : delay - after) * scale;
      const style = styleOfRow(scene, index);
      const count = place === Place.Buffer ? 1 : rows.get(index, Row.count);
      this.along(context, lane, () => {
        drawCells(context, [x, -lane.thickness / 2, slot * scale, lane.thickness], count, rows.get(index, Row.step) * scale, [0, lane.length], style);
      });
    }
  }

  private drawDensities(context: CanvasRenderingContext2D, scene: Scene, densities: Densities): void {
    this.lanes.forEach((lane, link) => {
      const shares = densities.links.get(link);
      if (!lane || !shares) return;
      this.along(context, lane, () => {
        let y = -lane.thickness / 2;
        const order = [...shares].sort((a, b) => a[0] - b[0]);
        const sum = Math.max(1, order.reduce((total, [, share]) => total + share, 0));
        for (const [vc, share] of order) {
          const height = (share / sum) * lane.thickness;
          context.globalAlpha = scene.focus >= 0 && scene.focus !== flowOf(vc) ? 0.25 : 0.9;
          context.fillStyle = colourOf(flowOf(vc), scene.theme);
          context.fillRect(0, y, lane.length, height);
          y += height;
        }
        context.globalAlpha = 1;
      });
    });
  }

  private drawNode(context: CanvasRenderingContext2D, scene: Scene, node: number): void {
    const { description } = scene.run;
    const { x, y } = this.places[node];
    const { theme } = scene;
    if (description.nodes[node].host) {
      const flow = description.flows.findIndex((one) => one.from === node || one.to === node);
      context.beginPath();
      context.arc(x, y, this.hostRadius, 0, 7);
      context.fillStyle = flow < 0 ? theme.muted : colourOf(flow, theme);
      context.globalAlpha = scene.focus >= 0 && scene.focus !== flow ? 0.3 : 1;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = 2;
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
      if (!chosen && (occupancy < 2 || links[number].capacity === null)) continue;
      const x = lane.from.x + (Math.cos(lane.angle) * 11 * this.half) / SWITCH;
      const y = lane.from.y + (Math.sin(lane.angle) * 11 * this.half) / SWITCH;
      const height = Math.max(12, (26 * this.half) / SWITCH);
      const full = Math.min(1, occupancy / (links[number].capacity ?? Math.max(100, occupancy)));
      roundedRect(context, x - 4.5, y - height / 2, 9, height, 2.5);
      context.fillStyle = theme.paper;
      context.fill();
      context.fillStyle = chosen ? theme.accent : theme.ink;
      context.fillRect(x - 4.5, y + height / 2 - full * height, 9, full * height);
      roundedRect(context, x - 4.5, y - height / 2, 9, height, 2.5);
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
      const lost = spark.text.startsWith("lost");
      const at = lost ? lane.to : lane.from;
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

  private along(context: CanvasRenderingContext2D, lane: Lane, draw: () => void): void {
    context.save();
    context.translate(lane.from.x, lane.from.y);
    context.rotate(lane.angle);
    draw();
    context.restore();
  }

  private arrange(scene: Scene): void {
    const { description } = scene.run;
    if (this.laidOut === description) return;
    this.laidOut = description;
    const { width, height } = this.surface;
    const [left, top] = [46, 20];
    this.places = layOut(description).map(({ x, y }) => ({ x: left + x * (width - 2 * left), y: top + y * (height - 2 * top - 8) }));
    const hosts = description.nodes.filter((node) => node.host).length;
    this.hostRadius = hosts > 40 ? 2.5 : hosts > 16 ? 4.5 : 7;
    this.half = this.halfOfSwitches(description.nodes.map(({ host }) => !host));
    const named = description.nodes.map(({ name, host }, index) => ({ ...this.places[index], name, host, radius: host ? this.hostRadius : this.half }));
    this.surface.context.font = SMALL;
    this.labels = placeLabels(named, [width, height], (text) => this.surface.context.measureText(text).width);
    const used = new Set(description.flows.flatMap((flow) => [...flow.route, ...flow.back]));
    this.lanes = description.links.map((link, index) => {
      if (!used.has(index)) return undefined;
      return this.lane(this.places[link.from], this.places[link.to], hosts, description.nodes[link.from].host || description.nodes[link.to].host);
    });
  }

  /** Half of the width of switches that do not touch each other. */
  private halfOfSwitches(isSwitch: boolean[]): number {
    const places = this.places.filter((_, index) => isSwitch[index]);
    let least = Number.POSITIVE_INFINITY;
    places.forEach((a, place) => {
      for (const b of places.slice(place + 1)) least = Math.min(least, Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)));
    });
    return Math.max(SMALLEST, Math.min(SWITCH, 0.35 * least));
  }

  /** The lane on the right of the line between two nodes, in the direction of the link. */
  private lane(from: Point, to: Point, hosts: number, access: boolean): Lane {
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    const thickness = access && hosts > 40 ? 1.5 : access && hosts > 16 ? 4 : Math.max(3, (9 * this.half) / SWITCH);
    const aside = thickness * 0.5 + (thickness > 2 ? 1.5 : 0.5);
    const trim = access ? (hosts > 16 ? 8 : 12) : this.half;
    const shift = (point: Point, ahead: number) => ({
      x: point.x - Math.sin(angle) * aside + Math.cos(angle) * ahead,
      y: point.y + Math.cos(angle) * aside + Math.sin(angle) * ahead,
    });
    const length = Math.max(1, Math.hypot(to.x - from.x, to.y - from.y) - 2 * trim);
    return { from: shift(from, trim), to: shift(to, -trim), angle, length, thickness };
  }
}
