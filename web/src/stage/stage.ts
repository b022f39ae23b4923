/** The stage: the runs that stand on it, the strip below them, and the pictures that follow each other. */

import type { App } from "../app/app.ts";
import { byId } from "../dom.ts";
import { Port } from "../run/view.ts";
import type { Run } from "../run/run.ts";
import { US } from "../run/types.ts";
import { amount, count, moment } from "../text/format.ts";
import { prefersReducedMotion } from "../theme.ts";
import { pausedLinks } from "./facts.ts";
import { Pane } from "./pane.ts";
import { heldUnit, limitOf } from "../run/network.ts";
import { type Scene } from "./scene.ts";
import { Strip } from "./strip/strip.ts";

/** Milliseconds between two times that the numbers beside the stage are written anew. */
const WRITTEN = 150;

export class Stage {
  readonly strip: Strip;
  private panes: Pane[] = [];
  private dirty = true;
  private written = 0;
  private resolution = devicePixelRatio;

  constructor(private readonly app: App) {
    this.strip = new Strip(byId<HTMLCanvasElement>("strip"), () => this.redraw());
    requestAnimationFrame((time) => this.frame(time));
  }

  redraw(): void {
    this.dirty = true;
  }

  /** The runs of the lab, or what is chosen in them, are other ones. */
  refresh(): void {
    const { app } = this;
    const runs = [app.run, app.beside].filter((run): run is Run => run !== undefined);
    const views = byId("views");
    if (this.panes.length !== runs.length) {
      const events = {
        redraw: () => this.redraw(),
        port: (run: Run) => app.portIn(run),
        // The other run may be one of another network.
        choosePort: (run: Run, link: number) => app.choosePort(app.portIn(app.run, run.description.links[link].name)),
        dragLevel: (level: { key: string }, value: number) => app.dragLevel(level.key, value),
      };
      this.panes = runs.map((run, place) => new Pane(run, events, place === 0));
      views.replaceChildren(...this.panes.map((pane) => pane.root));
      views.classList.toggle("two", runs.length > 1);
    }
    this.panes.forEach((pane, place) => {
      pane.show(runs[place]);
      pane.heading.hidden = runs.length === 1;
      if (runs.length > 1) pane.name(place === 0 ? "This run" : "Beside it", runs[place].request.set, runs[1 - place].request.set);
    });
    this.panes.forEach((pane) => pane.announce());
    this.strip.fit(app.run);
    this.redraw();
  }

  /** Closes notes on the pictures; returns whether there was one. */
  closeTips(): boolean {
    return this.panes.map((pane) => pane.closeTips()).some(Boolean);
  }

  /** Takes the focus out of the network; returns whether it was there. */
  leaveNetwork(): boolean {
    return this.panes.some((pane) => pane.leave());
  }

  /** Forgets what was seen: the runs stand somewhere else now. */
  clear(): void {
    this.panes.forEach((pane) => pane.clear());
  }

  /** Shows what the runs have discarded since a time as if it had just happened. */
  sparkSince(from: number): void {
    const now = performance.now() / 1000;
    [this.app.run, this.app.beside].forEach((run, place) => {
      const seen = run?.discards.filter((discard) => discard.at >= from && discard.at < run.now) ?? [];
      this.panes[place]?.spark(seen.slice(-24), now);
    });
    this.redraw();
  }

  private frame(time: number): void {
    requestAnimationFrame((next) => this.frame(next));
    const { app } = this;
    if (!app.run?.view || !app.run.samples) return;
    app.playback.advance(time);
    if (devicePixelRatio !== this.resolution) this.rescale();
    if (!this.dirty) return;
    const now = time / 1000;
    this.dirty = this.panes.map((pane) => pane.draw(this.scene(pane.run), now)).some(Boolean);
    this.strip.draw(this.scene(app.run), app.beside ?? app.ghost);
    this.showTime();
    if (time - this.written > WRITTEN) {
      this.written = time;
      app.panel.update();
      this.describe();
    } else if (!app.playback.playing) this.dirty = true;
  }

  /** A page that moves to another screen, or is magnified, may keep its size: no element reports that, and pictures need other pixels. */
  private rescale(): void {
    this.resolution = devicePixelRatio;
    for (const picture of [...this.panes, this.strip]) picture.rescale();
  }

  private scene(run: Run): Scene {
    const { theme, playback } = this.app;
    const focus = this.app.focusIn(run);
    return { run, theme, speed: playback.playing ? playback.speed : 0, port: this.app.portIn(run), focus, reducedMotion: prefersReducedMotion() };
  }

  private showTime(): void {
    const { now, description } = this.app.run;
    byId("clock").textContent = moment(now, description.duration);
    // Who hears the page would hear each picture.
    if (this.app.playback.playing) return;
    const { canvas } = this.strip;
    canvas.setAttribute("aria-valuemax", String(description.duration / US));
    canvas.setAttribute("aria-valuenow", String(now / US));
    canvas.setAttribute("aria-valuetext", moment(now, description.duration));
  }

  private describe(): void {
    for (const pane of this.panes) {
      const { description, scanned, outcome, stopped } = pane.run;
      const link = description.links[this.app.portIn(pane.run)];
      const share = `${Math.round((100 * scanned) / description.duration)} %`;
      const far = outcome ? `fingerprint ${outcome.fingerprint}` : stopped === undefined ? `running ahead: ${share}` : `the run ahead has stopped at ${share}`;
      pane.describe(`Port ${link.name}: ${link.policy}`, far);
    }
  }

  /** Says the moment and the queue to those who hear the page. */
  announce(): void {
    const { run, port } = this.app;
    if (!run?.view) return;
    this.panes.forEach((pane) => pane.announce());
    const { description, view, now } = run;
    const link = description.links[port];
    let held = 0;
    for (let row = 0; row < view.ports.length; row++) if (view.ports.get(row, Port.link) === port) held = view.ports.get(row, Port.occupancy);
    const limit = limitOf(link);
    const text = limit === null ? amount(held, heldUnit(link)) : `${count(held)} of ${amount(limit, heldUnit(link))}`;
    byId("status").textContent = `${moment(now, description.duration)}: port ${link.name} holds ${text}${pausedLinks(run).includes(port) ? " and is paused" : ""}.`;
  }
}
