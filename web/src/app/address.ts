/** The address: what it asks for is shown, and what is shown it names. Each scenario and each step of a story that is opened is a page of the
 * browser's history, whose state says what it shows; what is changed in it is not. */

import { h } from "../dom.ts";
import { library, named, tours } from "../library.ts";
import { portsOf } from "../run/network.ts";
import type { Settings } from "../run/types.ts";
import { unknown } from "../text/names.ts";
import { decode, encode } from "../text/share.ts";
import type { App } from "./app.ts";
import { say } from "./toast.ts";

export class Address {
  /** What is going to write the address, or is writing it; undefined if nothing is. */
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly app: App) {}

  /** The browser has gone to an address, forwards or back: what was shown before has no share in it. */
  async visit(fragment: string): Promise<void> {
    clearTimeout(this.timer);
    await this.open(fragment);
  }

  /** Shows what a fragment of an address asks for; the first story if it asks for nothing, or for something that is not there. */
  async open(fragment: string): Promise<void> {
    const { app } = this;
    const asked = new URLSearchParams(fragment.replace(/^#/, ""));
    const [[kind, value] = ["", ""]] = asked;
    try {
      if (kind === "run") await this.openShared(value);
      else if (kind === "scenario") await app.openScenario(named("scenario", value, library));
      else if (kind === "story") await app.guide.begin(named("story", value, tours), Number(asked.get("step") ?? 1));
      else if (kind === "") await app.guide.begin(tours[0]);
      else throw new Error(unknown("fragment", `#${fragment.replace(/^#/, "")}`, ["#scenario=NAME", "#story=NAME", "#story=NAME&step=NUMBER", "#run=STATE"]));
    } catch (error) {
      if (app.run) this.follow();
      else await app.guide.begin(tours[0]);
      say((error as Error).message);
    }
  }

  private async openShared(state: string): Promise<void> {
    const { app } = this;
    const isLast = app.lastChoice();
    const shared = await decode(state);
    if (!isLast()) return;
    const story = shared.story === undefined ? undefined : named("story", shared.story, tours);
    const scenario = shared.toml === undefined ? named("scenario", shared.scenario, library) : { id: "", title: shared.scenario, toml: shared.toml };
    if (story && story.scenario !== scenario.id) throw new Error(`This link is damaged: the story "${story.id}" is told with another scenario.`);
    if (!(await app.load(scenario, shared.set, shared.at, shared.pinned))) return;
    const { port, speed } = shared;
    if (port !== undefined && portsOf(app.run.description).includes(port)) app.port = port;
    if (speed) app.playback.setSpeed(speed);
    else app.playback.setSpeedFor();
    if (story) app.guide.resume(story, shared.step ?? 1);
    else app.guide.leave();
    app.refresh();
  }

  /** Keeps the address true: a reload opens what is shown. Not at once, as browsers count how often a page changes its address. */
  follow(): void {
    clearTimeout(this.timer);
    const timer = setTimeout(async () => {
      await this.write();
      if (this.timer === timer) this.timer = undefined;
    }, 250);
    this.timer = timer;
  }

  private async write(): Promise<void> {
    // What is being opened is followed when it is shown, or refused: the browser may name it already.
    if (this.app.isOpening) return;
    const isLast = this.app.lastChoice();
    const address = await this.ofWhatIsShown();
    if (!isLast()) return;
    const page = this.pageShown();
    // An address that somebody has typed or followed has a page already, but no state.
    if (history.state === null || history.state === page) history.replaceState(page, "", address);
    else history.pushState(page, "", address);
  }

  /** Names what is opened, whatever was changed in it. */
  private pageShown(): string {
    const { guide, scenario } = this.app;
    return guide.story ? `${guide.story.id} ${guide.step}` : scenario.toml;
  }

  private async ofWhatIsShown(): Promise<string> {
    const { guide, scenario, set, beside } = this.app;
    if (guide.story && guide.isAsTold()) return `#story=${guide.story.id}${guide.step > 1 ? `&step=${guide.step}` : ""}`;
    const asItComes = scenario.id !== "" && set.length === 0 && !beside && !guide.story;
    return asItComes ? `#scenario=${scenario.id}` : this.link();
  }

  /** The address of what is seen, with its moment. */
  async link(): Promise<string> {
    const { scenario, set, port, playback, beside, guide } = this.app;
    const own = library.some((one) => one.id === scenario.id);
    const state = {
      scenario: own ? scenario.id : scenario.title, toml: own ? undefined : scenario.toml, set,
      at: playback.aim, port, speed: playback.speed, pinned: beside ? (beside.request.set as Settings) : undefined,
      story: guide.story?.id, step: guide.story && guide.step,
    };
    return `${location.href.split("#")[0]}#run=${await encode(state)}`;
  }

  /** Puts a link to what is seen into the address and on the clipboard. */
  async share(): Promise<void> {
    const link = await this.link();
    history.replaceState(history.state, "", link);
    await copy(link, "The link is copied: it opens the lab at this moment.");
  }
}

/** Puts a text on the clipboard, or on the page where that is not allowed. */
export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say(copySelected(text) ? done : text);
  }
}

/** Copies a text as one that is selected, the way of pages that a browser does not take for secure: such as one from a server without
 * encryption. Returns whether it is copied. */
function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null;
  const field = h("textarea", { readonly: true, "aria-hidden": "true", class: "visually-hidden" });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return done;
}
