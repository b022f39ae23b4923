/** The lab: which scenario is loaded, and what of it is chosen. Its parts do the rest: `playback` time, `changes` what is set,
 * `address` the address, `stage` the pictures, `panel` and `guide` what stands beside them. */

import { byId } from "../dom.ts";
import type { Scenario } from "../library.ts";
import type { Client } from "../run/client.ts";
import { portNamed } from "../run/network.ts";
import { Run } from "../run/run.ts";
import { mainPort } from "../run/steps.ts";
import type { Settings } from "../run/types.ts";
import { Panel } from "../side/panel.ts";
import { StoryGuide } from "../side/story.ts";
import { Stage } from "../stage/stage.ts";
import { COPY } from "../text/command.ts";
import { setting } from "../text/format.ts";
import { wordedForPage } from "../text/messages.ts";
import { readTheme } from "../theme.ts";
import { Address, copy } from "./address.ts";
import { Changes } from "./changes.ts";
import { Controls } from "./controls.ts";
import { Playback } from "./playback.ts";
import { hush, say } from "./toast.ts";

/** The text of a file; anything else is refused with a sentence. */
function textOf(bytes: ArrayBuffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${name} is no text in UTF-8: a scenario is a TOML file.`);
  }
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
  theme = readTheme();
  readonly playback = new Playback(this);
  readonly changes = new Changes(this);
  readonly address = new Address(this);
  readonly stage: Stage;
  readonly panel: Panel;
  readonly guide: StoryGuide;
  /** Counts what was chosen to be loaded: the last choice wins, however long each one takes. */
  private choice = 0;
  /** Whether the last choice is still to be shown or refused: until then all of the page is of what was chosen before. */
  isOpening = false;

  constructor(private readonly startClient: () => Client) {
    this.stage = new Stage(this);
    this.panel = new Panel(byId("panel"), this);
    this.guide = new StoryGuide(byId("story"), this);
    new Controls(this);
  }

  /** Says later whether nothing else was chosen since. */
  lastChoice(): () => boolean {
    const { choice } = this;
    return () => choice === this.choice;
  }

  /** Whatever is being opened is not wanted any more. */
  stay(): void {
    this.choice++;
    this.isOpening = false;
  }

  async openScenario(scenario: Scenario): Promise<void> {
    if (!(await this.load(scenario, [], 0))) return;
    this.guide.leave();
    this.playback.setSpeedFor();
    this.refresh();
  }

  /** Runs a file that somebody has dropped or opened. */
  async openFile(file: File): Promise<void> {
    const isLast = this.lastChoice();
    try {
      const toml = textOf(await file.arrayBuffer(), file.name);
      if (isLast()) await this.openScenario({ id: "", title: file.name, toml });
    } catch (error) {
      say((error as Error).message);
    }
  }

  /** Loads a scenario and shows it at a time; returns whether it is shown, which it is not if another was chosen meanwhile. If it is
   * refused the old run stays, with its story and its address, and the error says why. */
  async load(scenario: Scenario, set: Settings, at: number, pinned?: Settings): Promise<boolean> {
    this.stay();
    this.isOpening = true;
    const isLast = this.lastChoice();
    const runs: Run[] = [];
    try {
      for (const settings of pinned ? [set, pinned] : [set]) runs.push(await this.start(scenario, settings, at));
    } catch (error) {
      runs.forEach((run) => run.end());
      if (!isLast()) return false;
      this.isOpening = false;
      // The menus name what is shown, and no longer what was chosen in them.
      if (this.run) this.refresh();
      throw error;
    }
    if (!isLast()) {
      runs.forEach((run) => run.end());
      return false;
    }
    this.show(scenario, set, runs);
    return true;
  }

  private show(scenario: Scenario, set: Settings, [run, beside]: Run[]): void {
    const { ghost, beside: besideBefore, run: before } = this;
    const same = before && this.scenario.toml === scenario.toml;
    this.isOpening = false;
    [this.run, this.scenario, this.set, this.beside, this.ghost] = [run, scenario, set, beside, undefined];
    for (const old of [ghost, besideBefore, before]) old?.end();
    this.changes.forget();
    this.playback.forget();
    if (!same) {
      this.port = mainPort(run);
      this.focus = -1;
      this.panel.forget();
      this.stage.strip.show(0, run.description.duration, run.description.duration);
    }
    this.playback.pause();
    // What was said of what was opened before is past.
    hush();
    this.refresh();
  }

  /** A run of a scenario, at a time. */
  async start(scenario: Scenario, set: Settings, at: number): Promise<Run> {
    const name = scenario.id ? `${scenario.id}.toml` : scenario.title;
    const run = new Run(this.startClient, { name, toml: scenario.toml, set }, () => this.stage.redraw());
    try {
      await run.load(at);
    } catch (error) {
      run.end();
      throw error instanceof Error ? new Error(wordedForPage(error.message, set)) : error;
    }
    return run;
  }

  /** The port of a run that is shown: that of the same name, or else its main one, as what is set may make another network. */
  portIn(run: Run, chosen = this.run.description.links[this.port].name): number {
    if (run.description.links[this.port]?.name === chosen) return this.port;
    return portNamed(run.description, chosen) ?? mainPort(run);
  }

  /** The flow that is chosen, in a run that is shown: that of the same name; -1 if none is, or it has none. */
  focusIn({ description: { flows } }: Run): number {
    const chosen = this.run.description.flows[this.focus]?.name;
    return flows[this.focus]?.name === chosen ? this.focus : flows.findIndex(({ name }) => name === chosen);
  }

  /** Another run of the scenario is shown, after a change: what was chosen in the one before is chosen in it, and as much of it is seen. */
  replaceRun(run: Run): void {
    const { flows, links, duration } = this.run.description;
    const { strip } = this.stage;
    const isWhole = strip.from === 0 && strip.to === duration;
    const [port, flow] = [this.portIn(run, links[this.port].name), this.focus < 0 ? undefined : flows[this.focus].name];
    [this.run, this.port, this.focus] = [run, port, run.description.flows.findIndex(({ name }) => name === flow)];
    strip.show(strip.from, isWhole ? run.description.duration : strip.to, run.description.duration);
  }

  choosePort(link: number): void {
    this.port = link;
    this.refresh();
  }

  chooseFlow(flow: number): void {
    this.focus = this.focus === flow ? -1 : flow;
    this.refresh();
  }

  /** Sets a threshold of the port; returns what is wrong with the value if it is refused. */
  dragLevel(key: string, units: number): Promise<string | undefined> {
    const link = this.run.description.links[this.port];
    return this.panel.change(`level-${key}`, `switch.discard.${link.policy}.${key}`, setting(units, link.unit));
  }

  /** Everything that does not change from frame to frame. */
  refresh(): void {
    this.playback.setSpeed(this.playback.speed);
    this.playback.nameStep();
    this.stage.refresh();
    this.showNames();
    this.panel.render();
    this.address.follow();
  }

  /** Lets the menus name what is shown. */
  showNames(): void {
    byId<HTMLSelectElement>("stories").value = this.guide.story?.id ?? "";
    const menu = byId<HTMLSelectElement>("scenarios");
    // Nothing is shown before the first run is there.
    const { id, title } = this.scenario ?? { id: "", title: "Own file" };
    menu.value = id;
    menu.options[0].text = id ? "Own file" : title;
  }

  async copyScenario(): Promise<void> {
    try {
      await copy(await this.run.scenario(), `The scenario is copied: save it as ${COPY} for celltrain run.`);
    } catch (error) {
      say((error as Error).message);
    }
  }

  switchTheme(): void {
    document.documentElement.dataset.theme = this.theme.dark ? "light" : "dark";
    this.retheme();
  }

  retheme(): void {
    this.theme = readTheme();
    if (this.run) this.refresh();
  }
}
