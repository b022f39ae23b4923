/** One run on the stage: the network, one of its ports close up, and the sparks between them. */

import { CloseUp } from "./closeup/closeup.ts";
import type { Drag } from "./closeup/frame.ts";
import { h } from "../dom.ts";
import { type Facts, factsOfLink, factsOfNode, pausedLinks, sentenceOf } from "./facts.ts";
import { type Stop, following } from "./layout/walk.ts";
import { Overview } from "./overview.ts";
import type { Run } from "../run/run.ts";
import { Densities, type Scene, Sparks } from "./scene.ts";
import { Tip } from "./tip.ts";
import { Walker } from "./walker.ts";
import { setting } from "../text/format.ts";
import type { LevelInfo, Settings } from "../run/types.ts";

export interface PaneEvents {
  redraw(): void;
  /** The link whose port is shown close up. */
  port(run: Run): number;
  choosePort(run: Run, link: number): void;
  /** A threshold is being dragged, or let go. Returns what is wrong with the value if it is refused. */
  dragLevel(level: LevelInfo, value: number): Promise<string | undefined>;
}

export class Pane {
  readonly root: HTMLElement;
  readonly heading: HTMLElement;
  private readonly caption: HTMLElement;
  private readonly overview: Overview;
  private readonly closeup: CloseUp;
  private readonly tip = new Tip("told", (held) => this.untold(held), (by) => this.step(by));
  /** Why a threshold may not stand where it was dragged to. The settings say it too, far below on a phone: those are heard. */
  private readonly refusal = new Tip("refused");
  private readonly walker = new Walker({
    stops: () => this.overview.stops(this.scene!),
    box: (stop) => this.overview.boxOf(stop),
    name: (stop) => sentenceOf(this.run, stop),
    isChosen: ({ kind, index }) => kind === "link" && index === this.events.port(this.run),
    // The place itself is heard, and seen with a note that is not.
    entered: (stop) => {
      const { x, y } = this.overview.boxOf(stop);
      this.tell(stop, x, y, false);
    },
    // The note has buttons of its own.
    left: (to) => {
      if (!this.tip.root.contains(to)) this.tip.close();
    },
    chosen: (stop) => this.choose(stop),
  });
  private readonly sparks = new Sparks();
  private readonly densities = new Densities();
  private scene: Scene | undefined;
  private drawn = 0;
  /** The port that was shown in the last picture. */
  private port = -1;

  constructor(
    public run: Run,
    private readonly events: PaneEvents,
    mayDrag: boolean,
  ) {
    const network = h("canvas", { class: "overview", role: "img", "aria-label": "The network and the cells on its links" });
    const port = h("canvas", { class: "closeup", role: "img", "aria-label": "One port close up: its buffer, and cells that come and go" });
    this.heading = h("h2");
    this.caption = h("p", { class: "caption" });
    this.root = h("div", { class: "view" }, this.heading,
      h("div", { class: "network" }, network, this.walker.root, this.tip.root),
      h("div", { class: "port" }, port, this.refusal.root), this.caption);
    this.overview = new Overview(network, events.redraw);
    this.overview.fit(run.description);
    this.closeup = new CloseUp(port, events.redraw);
    network.addEventListener("click", (event) => this.tap(event as PointerEvent));
    network.addEventListener("pointermove", (event) => {
      const node = this.scene && this.overview.nodeAt(this.scene, event.offsetX, event.offsetY, 4);
      network.title = node === undefined ? this.pausedAt(event.offsetX, event.offsetY) : this.run.description.nodes[node].name;
    });
    if (mayDrag) this.listen(port);
  }

  /** Shows a run. */
  show(run: Run): void {
    if (this.run === run) return;
    // A change shows the same network: what is told of it stays.
    const { request, description } = this.run;
    const same = request.toml === run.request.toml && description.nodes.length === run.description.nodes.length && description.links.length === run.description.links.length;
    if (!same) {
      this.tip.close();
      this.walker.forget();
    }
    this.refusal.close();
    this.run = run;
    this.clear();
    this.overview.fit(run.description);
  }

  /** Draws the moment that the run shows; returns whether something still moves on its own. */
  draw(scene: Scene, now: number): boolean {
    this.scene = scene;
    this.sparks.add(this.run.takeFresh(), this.run.description.reasons, now);
    // Shares follow within a fifth of a second, however many pictures that is.
    const weight = scene.speed > 0 ? 1 - Math.exp(-(now - this.drawn) / 0.2) : 1;
    this.densities.update(scene, weight);
    this.drawn = now;
    const alive = this.sparks.age(now, scene.reducedMotion);
    this.overview.draw(scene, this.sparks, this.densities, now);
    this.closeup.draw(scene, this.sparks, this.densities, now);
    this.place(scene);
    return alive;
  }

  /** The screen has another resolution. */
  rescale(): void {
    this.overview.rescale();
    this.closeup.rescale();
  }

  /** Forgets what was seen: the run stands somewhere else now. */
  clear(): void {
    this.sparks.clear();
    this.densities.clear();
  }

  /** Shows a discard as if it had just happened. */
  spark(discards: Parameters<Sparks["add"]>[0], now: number): void {
    this.sparks.add(discards, this.run.description.reasons, now);
  }

  /** Keeps the place of the keyboard in the picture. */
  private place(scene: Scene): void {
    const { current } = this.walker;
    // A change may have left the link without anything to carry.
    const gone = current !== undefined && !this.overview.has(current);
    const chosenElsewhere = scene.port !== this.port && !this.walker.hasFocus && !this.tip.isOpen;
    this.port = scene.port;
    if (!current || gone || chosenElsewhere) this.start(scene);
    else this.walker.follow();
    if (gone && !this.walker.hasFocus) this.tip.close();
  }

  /** What the keyboard comes to first: the link whose port is shown. */
  private start(scene: Scene): void {
    const stops = this.overview.stops(scene);
    this.walker.go(stops.find(({ kind, index }) => kind === "link" && index === scene.port) ?? stops[0]);
  }

  /** Tells what is at a place of the network, and chooses the port that begins there; a tap beside everything closes the note. */
  private tap({ offsetX: x, offsetY: y, pointerType }: PointerEvent): void {
    if (!this.scene) return;
    const finger = pointerType !== "mouse";
    const node = this.overview.nodeAt(this.scene, x, y, finger ? 10 : 4);
    const link = node === undefined ? this.overview.linkAt(this.scene, x, y, finger ? 16 : 8) : undefined;
    const port = this.overview.portAt(this.scene, x, y);
    const stop = this.overview.stops(this.scene).find(({ kind, index }) => (kind === "node" ? index === node : index === link));
    if (stop) this.point(stop, x, y);
    else this.tip.close();
    if (port !== undefined) this.events.choosePort(this.run, port);
  }

  /** What the pointer says of a paused link. */
  private pausedAt(x: number, y: number): string {
    const link = this.scene && this.overview.linkAt(this.scene, x, y, 4);
    return link !== undefined && pausedLinks(this.run).includes(link) ? `${this.run.description.links[link].name}: paused` : "";
  }

  /** Shows which thing a note is about; the keyboard goes on from there. */
  private point(stop: Stop, x: number, y: number): void {
    this.walker.go(stop);
    this.tell(stop, x, y);
  }

  private tell(stop: Stop, x: number, y: number, heard = true): void {
    this.tip.open(() => this.factsOf(stop), x, y, heard);
    this.walker.mark(true);
  }

  /** There is no note any more: the keyboard that was in it is where the note was about, without another note. */
  private untold(held: boolean): void {
    this.walker.mark(false);
    if (!held) return;
    this.walker.enter();
    this.tip.close();
  }

  private factsOf({ kind, index }: Stop): Facts {
    return kind === "node" ? factsOfNode(this.run, index) : factsOfLink(this.run, index);
  }

  /** The note goes to the next thing of its kind, or to the one before: fingers do not always hit what is small. */
  private step(by: 1 | -1): void {
    const { current } = this.walker;
    if (!this.scene || !current) return;
    const stop = following(this.overview.stops(this.scene), current, by, true);
    this.walker.go(stop, false);
    this.tip.retell(() => this.factsOf(stop));
    this.walker.mark(true);
  }

  /** Does for the keyboard what a click does: tells what is there, and chooses the port where a link leaves a switch. */
  private choose(stop: Stop): void {
    const { x, y } = this.overview.boxOf(stop);
    this.tell(stop, x, y);
    const { links, nodes } = this.run.description;
    if (stop.kind === "link" && !nodes[links[stop.index].from].host) this.events.choosePort(this.run, stop.index);
  }

  /** Says what the place of the keyboard shows now. */
  announce(): void {
    if (this.scene) this.walker.rename();
  }

  /** Takes the focus out of the network; returns whether it was there. */
  leave(): boolean {
    return this.walker.leave();
  }

  /** Closes the notes on the pictures; returns whether there was one. */
  closeTips(): boolean {
    const open = [this.tip, this.refusal].filter((tip) => tip.isOpen);
    open.forEach((tip) => tip.close());
    return open.length > 0;
  }

  /** Says which of two runs this is: by what is set in it alone, or by all that is set if it has nothing of its own. */
  name(title: string, mine: Settings, others: Settings): void {
    const own = mine.filter(([key, value]) => !others.some(([key2, value2]) => key === key2 && value === value2));
    const text = (own.length > 0 ? own : mine).map(([key, value]) => `${key} = ${value}`).join(", ");
    this.heading.title = text;
    this.heading.replaceChildren(h("b", {}, title), " ", text || "as the scenario says");
  }

  describe(text: string, aside: string): void {
    this.caption.replaceChildren(h("span", {}, text), h("span", {}, aside));
    this.tip.update();
  }

  /** Sets a threshold where it was dragged to, and says there why that is refused. */
  private async setLevel({ level, value }: Drag, { offsetX, offsetY }: PointerEvent): Promise<void> {
    const reason = await this.events.dragLevel(level, value);
    if (reason === undefined) this.refusal.close();
    else this.refusal.open(() => [`${level.key} = ${setting(value, this.run.description.links[this.scene!.port].unit)} is refused`, reason], offsetX, offsetY);
  }

  private listen(canvas: HTMLCanvasElement): void {
    const reach = (event: PointerEvent) => (event.pointerType === "mouse" ? 9 : 22);
    const levelAt = (event: PointerEvent) => this.scene && this.closeup.levelAt(this.scene, event.offsetX, event.offsetY, reach(event));
    const drag = (): Drag | undefined => this.closeup.drag;
    canvas.addEventListener("pointerdown", (event) => {
      const level = levelAt(event);
      // Behind the menu of the other button nobody lets go.
      if (!level || event.button !== 0) return;
      event.preventDefault();
      canvas.setPointerCapture(event.pointerId);
      this.closeup.drag = { level, value: level.units };
      this.refusal.close();
      this.events.redraw();
    });
    canvas.addEventListener("pointermove", (event) => {
      const dragged = drag();
      if (!dragged || !this.scene) {
        canvas.style.cursor = levelAt(event) ? "ns-resize" : "";
        canvas.style.touchAction = levelAt(event) ? "none" : "";
        return;
      }
      dragged.value = this.closeup.unitsAt(this.scene, event.offsetY);
      void this.setLevel(dragged, event);
      this.events.redraw();
    });
    // A finger that begins on a threshold must not scroll the page.
    canvas.addEventListener("touchstart", (event) => {
      const touch = event.touches[0];
      const { left, top } = canvas.getBoundingClientRect();
      if (this.scene && this.closeup.levelAt(this.scene, touch.clientX - left, touch.clientY - top, 22)) event.preventDefault();
    }, { passive: false });
    const release = (event: PointerEvent) => {
      const dragged = drag();
      if (!dragged) return;
      this.closeup.drag = undefined;
      if (event.type === "pointerup") void this.setLevel(dragged, event);
      this.events.redraw();
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
  }
}
