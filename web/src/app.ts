/** The lab: what is loaded, what is shown, and what happens when somebody turns something. */

import type { Client } from "./client.ts";
import { COPY } from "./command.ts";
import { byId } from "./dom.ts";
import { moment, readTime, span } from "./format.ts";
import { Controls, SLOWEST } from "./controls.ts";
import { type Scenario, type Story, library, tours } from "./library.ts";
import { Pane } from "./pane.ts";
import { unknown } from "./names.ts";
import { Panel } from "./panel.ts";
import { Run } from "./run.ts";
import { type Scene, heldUnit, slotOf } from "./scene.ts";
import { decode, encode } from "./share.ts";
import { StoryGuide } from "./story.ts";
import { afterCell, afterFrame, mainPort } from "./steps.ts";
import { Strip } from "./strip.ts";
import { prefersReducedMotion, readTheme } from "./theme.ts";
import { MS, US } from "./types.ts";

export type Settings = [string, string][];

/** Milliseconds that a worker may take before it answers. */
const BUDGET = 12;

/** What the engine says of a setting, without the option of the command line that it takes settings for. */
function wordedForPage(message: string, set: Settings): string {
  const option = set.map(([key, value]) => `--set ${key}=${value}: `).find((start) => message.startsWith(start));
  return option === undefined ? message.replace(/^--set /, "") : message.slice(option.length);
}

/** A scenario or a story by its name; an unknown one fails with a sentence. */
function named<Kind extends { id: string }>(what: string, id: string, among: Kind[]): Kind {
  const found = among.find((one) => one.id === id);
  if (!found) throw new Error(unknown(what, id, among.map((one) => one.id)));
  return found;
}

export class App {
  scenario!: Scenario;
  set: Settings = [];
  run!: Run;
  /** The run that stands beside this one. */
  beside: Run | undefined;
  /** The run before the last change. */
  ghost: Run | undefined;
  port = 0;
  focus = -1;
  speed = 1 * MS;
  playing = false;
  theme = readTheme();
  private goal = Number.POSITIVE_INFINITY;
  private arrived: (() => void) | undefined;
  private panes: Pane[] = [];
  private dirty = true;
  private lastAsked = 0;
  /** Counts what was chosen to be loaded, and what was chosen to stand beside it: the last choice wins, however long each one takes. */
  private choice = 0;
  private besideChoice = 0;
  /** Keys to set next, and their values. */
  private wanted = new Map<string, string>();
  private changing: Promise<Map<string, string | undefined>> | undefined;
  private wantedTime: number | undefined;
  private toastTimer = 0;
  private addressTimer = 0;
  private lastPanel = 0;
  readonly strip: Strip;
  private readonly panel: Panel;
  private readonly guide: StoryGuide;

  constructor(private readonly startClient: () => Client) {
    this.strip = new Strip(byId<HTMLCanvasElement>("strip"), () => this.redraw());
    this.panel = new Panel(byId("panel"), this);
    this.guide = new StoryGuide(byId("story"), this);
    new Controls(this);
    requestAnimationFrame((time) => this.frame(time));
  }

  /** Shows what a fragment of an address asks for; the first story if it asks for nothing, or for something that is not there. */
  async open(fragment: string): Promise<void> {
    const [kind, value = ""] = fragment.replace(/^#/, "").split("=", 2);
    try {
      if (kind === "run") await this.openShared(value);
      else if (kind === "scenario") await this.openScenario(named(kind, value, library));
      else if (kind === "story") await this.guide.begin(named(kind, value, tours));
      else if (kind === "") await this.guide.begin(tours[0]);
      else throw new Error(unknown("fragment", `#${fragment.replace(/^#/, "")}`, ["#scenario=NAME", "#story=NAME", "#run=STATE"]));
    } catch (error) {
      this.say((error as Error).message);
      if (this.run) this.readdress();
      else await this.guide.begin(tours[0]);
    }
  }

  private async openShared(state: string): Promise<void> {
    const choice = ++this.choice;
    const shared = await decode(state);
    if (choice !== this.choice) return;
    const scenario = shared.toml === undefined ? named("scenario", shared.scenario, library) : { id: "", title: shared.scenario, toml: shared.toml };
    this.guide.leave();
    if (!(await this.load(scenario, shared.set, shared.at, shared.pinned))) return;
    const { port, speed } = shared;
    if (port !== undefined && port in this.run.description.links) this.port = port;
    if (speed) this.speed = speed;
    else this.setSpeedFor();
    this.refresh();
  }

  async openScenario(scenario: Scenario): Promise<void> {
    this.guide.leave();
    if (!(await this.load(scenario, [], 0))) return;
    this.setSpeedFor();
    this.refresh();
  }

  beginStory(story: Story): Promise<void> {
    return this.guide.begin(story);
  }

  /** Loads a scenario and shows it at a time; returns whether it is shown, which it is not if another was chosen meanwhile. If it is
   * refused the old run stays, and the error says why. */
  async load(scenario: Scenario, set: Settings, at: number, pinned?: Settings): Promise<boolean> {
    const choice = ++this.choice;
    const runs: Run[] = [];
    try {
      for (const settings of pinned ? [set, pinned] : [set]) runs.push(await this.start(scenario, settings, at));
    } catch (error) {
      runs.forEach((run) => run.end());
      if (choice !== this.choice) return false;
      throw error;
    }
    if (choice !== this.choice) {
      runs.forEach((run) => run.end());
      return false;
    }
    this.show(scenario, set, runs);
    return true;
  }

  private show(scenario: Scenario, set: Settings, [run, beside]: Run[]): void {
    const { ghost, beside: besideBefore, run: before } = this;
    const same = before && this.scenario.toml === scenario.toml;
    [this.run, this.scenario, this.set, this.beside, this.ghost] = [run, scenario, set, beside, undefined];
    for (const old of [ghost, besideBefore, before]) old?.end();
    // What was asked of the runs before is not asked of these.
    this.wanted.clear();
    this.besideChoice++;
    this.wantedTime = undefined;
    if (!same) {
      this.port = mainPort(run);
      this.focus = -1;
      this.panel.forget();
      this.strip.show(0, run.description.duration, run.description.duration);
    }
    this.pause();
    this.refresh();
  }

  private async start(scenario: Scenario, set: Settings, at: number): Promise<Run> {
    const run = new Run(this.startClient, { name: scenario.id ? `${scenario.id}.toml` : scenario.title, toml: scenario.toml, set }, () => this.redraw());
    try {
      await run.load(at);
    } catch (error) {
      run.end();
      throw error instanceof Error ? new Error(wordedForPage(error.message, set)) : error;
    }
    return run;
  }

  /** Sets a key of the scenario, or takes it back if the value is empty: the scenario runs again from the start, under the same seed,
   * and shows the same moment. Of several values in a row only the last counts. Returns what is wrong with the value if it is refused. */
  async changeKey(key: string, value: string): Promise<string | undefined> {
    this.wanted.set(key, value);
    this.changing ??= this.changeAll();
    return (await this.changing).get(key);
  }

  /** Returns what is wrong, by the key that was set last. */
  private async changeAll(): Promise<Map<string, string | undefined>> {
    const refused = new Map<string, string | undefined>();
    while (this.wanted.size > 0) {
      const wanted = this.wanted;
      this.wanted = new Map();
      const kept = this.set.filter(([key]) => !wanted.has(key));
      const set = [...kept, ...[...wanted].filter(([, value]) => value !== "")];
      // What is set already needs no other run, as where a threshold is let go after it was dragged.
      const settled = [...wanted].every(([key, value]) => (this.set.find(([other]) => other === key)?.[1] ?? "") === value);
      const message = await (settled ? undefined : this.replace(set));
      for (const key of wanted.keys()) refused.set(key, message);
    }
    this.changing = undefined;
    return refused;
  }

  private async replace(set: Settings): Promise<string | undefined> {
    const before = this.run;
    try {
      const at = before.now;
      const run = await this.start(this.scenario, set, at);
      // Another scenario was loaded meanwhile: the change was not meant for it.
      if (this.run !== before) return void run.end();
      this.run = run;
      this.set = set;
      before.end();
      // What one compares with is the last run that was seen whole.
      if (before.outcome || !this.ghost) this.ghost = before;
      // The run before may have moved on meanwhile.
      if (before.now !== at) this.wantedTime ??= before.now;
      this.seekAgain();
      this.refresh();
    } catch (error) {
      if (this.run === before) return (error as Error).message;
    }
  }

  /** Keeps the present run beside what comes next, or takes it away. */
  async pin(set: Settings | undefined): Promise<void> {
    const choice = ++this.besideChoice;
    this.beside?.end();
    this.beside = undefined;
    this.seekAgain();
    try {
      const beside = set && (await this.start(this.scenario, set, this.run.now));
      if (choice !== this.besideChoice) return beside?.end();
      this.beside = beside;
    } catch (error) {
      if (choice !== this.besideChoice) return;
      this.say((error as Error).message);
    }
    this.refresh();
  }

  play(goal = Number.POSITIVE_INFINITY, arrived?: () => void): void {
    if (this.run.now >= this.run.description.duration) return void this.seek(0).then(() => this.play(goal, arrived));
    [this.goal, this.arrived, this.playing, this.lastAsked] = [goal, arrived, true, 0];
    byId("play").textContent = "Pause";
    this.redraw();
  }

  pause(): void {
    this.playing = false;
    this.arrived = undefined;
    byId("play").textContent = "Play";
    this.announce();
    this.redraw();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Goes to a time, forwards or back; of several in a row only the last counts. */
  async seek(time: number): Promise<void> {
    const busy = this.wantedTime !== undefined;
    this.wantedTime = Math.max(0, Math.min(time, this.run.description.duration));
    if (busy) return;
    while (this.wantedTime !== undefined) {
      const time: number = this.wantedTime;
      const { run, beside } = this;
      await Promise.all([run.seek(time), beside?.seek(time)]);
      this.panes.forEach((pane) => pane.clear());
      if (this.wantedTime === time) this.wantedTime = undefined;
    }
    this.announce();
    this.redraw();
  }

  /** A run that has ended does not answer any more: what was sought in it is sought in the present runs. */
  private seekAgain(): void {
    const time = this.wantedTime;
    this.wantedTime = undefined;
    if (time !== undefined) void this.seek(time);
  }

  stepCell(): Promise<void> {
    return this.step(afterCell(this.run, this.port));
  }

  /** To the end of the next frame that leaves the port, or comes to it. */
  stepFrame(): Promise<void> {
    return this.step(afterFrame(this.run, this.port));
  }

  /** To the next discarded cell, which the run ahead has seen already. */
  async stepDiscard(): Promise<void> {
    const { discards, now, description, scanned } = this.run;
    const next = discards.find((discard) => discard.at >= now);
    if (!next) {
      this.say(scanned < description.duration ? "The run ahead has found no loss yet." : "No cell is lost from here on.");
      return;
    }
    await this.step(next.at + 1);
  }

  private async step(time: number): Promise<void> {
    const from = this.run.now;
    this.pause();
    await this.seek(Math.floor(time));
    const now = performance.now() / 1000;
    [this.run, this.beside].forEach((run, place) => {
      const seen = run?.discards.filter((discard) => discard.at >= from && discard.at < run.now) ?? [];
      this.panes[place]?.spark(seen.slice(-24), now);
    });
    this.redraw();
  }

  choosePort(link: number): void {
    this.port = link;
    this.refresh();
  }

  chooseFlow(flow: number): void {
    this.focus = this.focus === flow ? -1 : flow;
    this.refresh();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    byId<HTMLInputElement>("speed").value = String(Math.round(20 * Math.log10(speed / SLOWEST)));
    byId("speed-text").textContent = span(speed);
  }

  /** A speed at which cells of the main port can be followed. */
  private setSpeedFor(): void {
    this.setSpeed(Math.max(SLOWEST, slotOf(this.run.description.links[this.port]) * 12));
  }

  redraw(): void {
    this.dirty = true;
  }

  /** Shows a sentence for a while. */
  say(text: string): void {
    const toast = byId("toast");
    toast.textContent = text;
    toast.hidden = false;
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => (toast.hidden = true), Math.max(4000, 60 * text.length)) as unknown as number;
  }

  /** Everything that does not change from frame to frame. */
  refresh(): void {
    const runs = [this.run, this.beside].filter((run): run is Run => run !== undefined);
    const views = byId("views");
    if (this.panes.length !== runs.length) {
      const events = {
        redraw: () => this.redraw(),
        choosePort: (link: number) => this.choosePort(link),
        dragLevel: (level: { key: string }, value: number) => void this.dragLevel(level.key, value),
      };
      this.panes = runs.map((run, place) => new Pane(run, events, place === 0));
      views.replaceChildren(...this.panes.map((pane) => pane.root));
      views.classList.toggle("two", runs.length > 1);
    }
    this.panes.forEach((pane, place) => {
      if (pane.run !== runs[place]) {
        pane.run = runs[place];
        pane.clear();
      }
      pane.heading.hidden = runs.length === 1;
      if (runs.length > 1) pane.name(place === 0 ? "This run" : "Beside it", runs[place].request.set, runs[1 - place].request.set);
    });
    this.setSpeed(this.speed);
    this.showScenario();
    this.strip.fit(this.run);
    this.panel.render();
    this.redraw();
    this.readdress();
  }

  /** Keeps the address true: a reload opens what is shown. Not at once, as browsers count how often a page changes its address. */
  private readdress(): void {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(async () => {
      const { choice } = this;
      const address = await this.address();
      if (choice === this.choice) history.replaceState(null, "", address);
    }, 250) as unknown as number;
  }

  private async address(): Promise<string> {
    const { story } = this.guide;
    if (story) return `#story=${story.id}`;
    const asItComes = this.scenario.id !== "" && this.set.length === 0 && !this.beside;
    return asItComes ? `#scenario=${this.scenario.id}` : this.link();
  }

  /** Lets the menu of scenarios name what is shown. */
  showScenario(): void {
    const menu = byId<HTMLSelectElement>("scenarios");
    menu.value = this.scenario.id;
    menu.options[0].text = this.scenario.id ? "Own file" : this.scenario.title;
  }

  dragLevel(key: string, units: number): Promise<void> {
    const link = this.run.description.links[this.port];
    return this.panel.change(`level-${key}`, `switch.discard.${link.policy}.${key}`, `${units} ${link.unit}`);
  }

  private frame(time: number): void {
    requestAnimationFrame((next) => this.frame(next));
    if (!this.run?.view || !this.run.samples) return;
    if (this.playing && !this.run.isBusy && !this.beside?.isBusy && this.wantedTime === undefined) this.advance(time);
    if (!this.dirty) return;
    const now = time / 1000;
    const scene = (run: Run): Scene => ({
      run, theme: this.theme, speed: this.playing ? this.speed : 0, port: this.port, focus: this.focus, reducedMotion: prefersReducedMotion(),
    });
    this.dirty = this.panes.map((pane) => pane.draw(scene(pane.run), now)).some(Boolean);
    this.strip.draw(scene(this.run), this.beside ?? this.ghost);
    this.showTime();
    if (time - this.lastPanel > 150) {
      this.lastPanel = time;
      this.panel.update();
      this.describe();
    } else if (!this.playing) this.dirty = true;
  }

  private showTime(): void {
    const { now, description } = this.run;
    byId("clock").textContent = moment(now);
    const { canvas } = this.strip;
    canvas.setAttribute("aria-valuemax", String(description.duration / US));
    canvas.setAttribute("aria-valuenow", String(now / US));
    canvas.setAttribute("aria-valuetext", moment(now));
  }

  private advance(time: number): void {
    const elapsed = this.lastAsked === 0 ? 1 / 60 : Math.min(0.1, (time - this.lastAsked) / 1000);
    this.lastAsked = time;
    const { run, beside } = this;
    const until = Math.min(run.description.duration, this.goal, Math.floor(run.now + this.speed * elapsed) + 1);
    const runs = [run, beside].filter((one): one is Run => one !== undefined);
    Promise.all(runs.map((one) => one.advance(until, BUDGET)))
      .then(() => this.afterAdvance(run))
      .catch((error: Error) => {
        this.pause();
        this.say(error.message);
      });
  }

  private afterAdvance(run: Run): void {
    this.redraw();
    if (run !== this.run || !this.playing) return;
    const over = run.now >= run.description.duration;
    if (run.now < this.goal && !over) return;
    const { arrived } = this;
    this.pause();
    arrived?.();
  }

  private describe(): void {
    for (const pane of this.panes) {
      const { description, scanned, outcome } = pane.run;
      const link = description.links[this.port];
      const far = outcome ? `fingerprint ${outcome.fingerprint}` : `running ahead: ${Math.round((100 * scanned) / description.duration)} %`;
      pane.describe(`Port ${link.name}: ${link.policy}`, far);
    }
  }

  private announce(): void {
    if (!this.run?.view) return;
    const { description, view, now } = this.run;
    const link = description.links[this.port];
    let held = 0;
    for (let row = 0; row < view.ports.length; row++) if (view.ports.get(row, 0) === this.port) held = view.ports.get(row, 2);
    byId("status").textContent = `${moment(now)}: port ${link.name} holds ${held}${link.capacity === null || link.unit === "bytes" ? "" : ` of ${link.capacity}`} ${heldUnit(link)}.`;
  }

  /** The address of what is seen. */
  async link(): Promise<string> {
    const own = library.some((one) => one.id === this.scenario.id);
    const state = {
      scenario: own ? this.scenario.id : this.scenario.title, toml: own ? undefined : this.scenario.toml, set: this.set,
      at: this.run.now, port: this.port, speed: this.speed, pinned: this.beside ? (this.beside.request.set as Settings) : undefined,
    };
    return `${location.href.split("#")[0]}#run=${await encode(state)}`;
  }

  leaveStory(): void {
    this.guide.leave();
    if (this.run) this.readdress();
  }

  /** Puts a link to what is seen into the address and on the clipboard. */
  async share(): Promise<void> {
    const link = this.link();
    history.replaceState(null, "", await link);
    await this.copy(link, "The link is copied: it opens the lab at this moment.");
  }

  copyScenario(): Promise<void> {
    return this.copy(this.run.scenario(), `The scenario is copied: save it as ${COPY} for celltrain run.`);
  }

  /** Runs a file that somebody has dropped or opened. */
  async openFile(file: File): Promise<void> {
    const choice = ++this.choice;
    try {
      const toml = await file.text();
      if (choice === this.choice) await this.openScenario({ id: "", title: file.name, toml });
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  private async copy(text: Promise<string>, done: string): Promise<void> {
    const value = await text;
    try {
      await navigator.clipboard.writeText(value);
      this.say(done);
    } catch {
      this.say(value);
    }
  }

  switchTheme(): void {
    document.documentElement.dataset.theme = this.theme.dark ? "light" : "dark";
    this.retheme();
  }

  retheme(): void {
    this.theme = readTheme();
    this.refresh();
  }

  /** Shows more or less of the run around the present moment. */
  zoomAtNow(factor: number): void {
    const half = ((this.strip.to - this.strip.from) * factor) / 2;
    this.strip.show(this.run.now - half, this.run.now + half, this.run.description.duration);
    this.redraw();
  }

  /** The number of the link with a name, such as "switch1 > switch2". */
  linkNamed(name: string): number {
    return this.run.description.links.findIndex((link) => link.name === name);
  }

  timeOf(text: string): number {
    return readTime(text);
  }
}
