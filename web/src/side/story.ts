/** Guided tours: data files that turn the same knobs as everybody else. */

import type { App } from "../app/app.ts";
import { say } from "../app/toast.ts";
import { h } from "../dom.ts";
import { type Step, type Story, library, named } from "../library.ts";
import type { Settings } from "../run/types.ts";
import { readTime } from "../text/format.ts";

export class StoryGuide {
  story: Story | undefined;
  private place = 0;
  private played = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly app: App,
  ) {}

  /** Begins a story, with its first step or another one. */
  async begin(story: Story, step = 1): Promise<void> {
    await this.enter(story, placeOf(story, step));
  }

  /** Goes on with a story at a step. The run is shown already, and may be another one than that of the step. */
  resume(story: Story, step: number): void {
    this.story = story;
    this.place = placeOf(story, step);
    const { play } = this.current!;
    this.played = play !== undefined && this.app.run.now >= readTime(play.to);
    this.look();
    this.render();
  }

  private get current(): Step | undefined {
    return this.story?.steps[this.place];
  }

  /** The step that is shown, from 1 on. */
  get step(): number {
    return this.place + 1;
  }

  /** Whether the runs are those of the step, with nothing changed in them. */
  isAsTold(): boolean {
    const { set, beside } = this.app;
    const { current } = this;
    return current !== undefined && isSame(set, current.set ?? []) && isSame(beside?.request.set, current.beside);
  }

  /** What of the run a step shows. */
  private look(): void {
    const { flows, duration } = this.app.run.description;
    const { focus } = this.current!;
    this.app.focus = focus ? flows.findIndex((flow) => flow.name === focus) : -1;
    const [from, to] = this.current!.zoom?.map(readTime) ?? [0, duration];
    this.app.stage.strip.show(from, to, duration);
  }

  /** Somebody closes the story, and stays where it led. */
  quit(): void {
    if (!this.app.run) return;
    this.app.stay();
    this.leave();
    this.app.refresh();
  }

  leave(): void {
    this.story = undefined;
    this.render();
  }

  /** Returns whether the step is shown, which it is not if something else was chosen meanwhile. Until it is, the story is where it was. */
  private async enter(story: Story, place: number): Promise<boolean> {
    const { app } = this;
    const step = story.steps[place];
    const scenario = named("scenario", story.scenario, library);
    if (!(await app.load(scenario, step.set ?? [], step.at ? readTime(step.at) : 0, step.beside))) return false;
    [this.story, this.place, this.played] = [story, place, false];
    if (step.port !== undefined) app.port = app.run.description.links.findIndex((link) => link.name === step.port);
    this.look();
    if (step.play) app.playback.setSpeed(readTime(step.play.speed));
    app.refresh();
    this.render();
    return true;
  }

  private play(): void {
    const step = this.current;
    if (!step?.play) return;
    const { playback } = this.app;
    playback.setSpeed(readTime(step.play.speed));
    playback.play(readTime(step.play.to), () => {
      this.played = true;
      this.render();
    });
  }

  private render(): void {
    const { story } = this;
    this.root.hidden = !story;
    // While a story waits for its own button, that is the only one that stands out.
    document.body.classList.toggle("touring", story !== undefined);
    if (!story) return;
    const step = story.steps[this.place];
    const last = this.place === story.steps.length - 1;
    const text = this.played && step.then ? step.then : step.text;
    const playFirst = step.play && !this.played;
    // Who pressed the last button with the keyboard finds the next one under the same key.
    const focused = this.root.contains(document.activeElement);
    const go = (place: number) => () => this.enter(story, place).catch((error: Error) => say(error.message));
    const again = () => void go(this.place)().then((entered) => entered && this.play());
    this.root.replaceChildren(
      h("p", { class: "kicker" }, `Story, ${this.place + 1} of ${story.steps.length}`),
      h("h2", {}, story.title),
      h("p", { class: "text" }, ...emphasised(text)),
      h("div", { class: "buttons" },
        step.play && h("button", { class: playFirst ? "primary" : "", click: () => (this.played ? again() : this.play()) }, this.played ? "Again" : step.play.label),
        !last && h("button", { class: playFirst ? "" : "primary", click: go(this.place + 1) }, "Next"),
        last && h("button", { class: playFirst ? "" : "primary", click: () => this.quit() }, "Try it yourself"),
        this.place > 0 && h("button", { class: "quiet", click: go(this.place - 1) }, "Back"),
        this.dots(story.steps.length),
      ),
    );
    if (focused) this.root.querySelector<HTMLElement>("button.primary")?.focus();
  }

  private dots(count: number): HTMLElement {
    const dots = h("span", { class: "dots", "aria-hidden": "true" });
    for (let place = 0; place < count; place++) dots.append(h("i", { class: place === this.place ? "now" : "" }));
    return dots;
  }
}

/** The place of a step, or of that which is nearest to it: an address can name any number. */
function placeOf({ steps }: Story, step: number): number {
  return Math.max(0, Math.min(steps.length, Math.round(step) || 1) - 1);
}

/** Whether the same is set, in whatever order. */
function isSame(one: Settings | undefined, other: Settings | undefined): boolean {
  const sorted = (set: Settings | undefined) => JSON.stringify(set && [...set].sort());
  return sorted(one) === sorted(other);
}

/** `**word**` stands out, and a line does not end between a number and its unit. */
function emphasised(text: string): (Node | string)[] {
  return text.replace(/(\d) (?=%|[kMG]?bit\/s|[mµ]?s\b)/g, "$1\u00a0").split("**").map((part, place) => (place % 2 === 1 ? h("strong", {}, part) : part));
}
