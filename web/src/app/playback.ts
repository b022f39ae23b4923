/** Time: to run and to pause, how fast, and how one goes to another moment. */

import { byId } from "../dom.ts";
import type { Run } from "../run/run.ts";
import { afterFrame, justAfter } from "../run/steps.ts";
import { MS, S, US } from "../run/types.ts";
import { slotOf, unitOf } from "../run/network.ts";
import { span } from "../text/format.ts";
import type { App } from "./app.ts";
import { say } from "./toast.ts";

/** The slowest and the fastest that the speed's slider goes. */
export const SLOWEST = 10 * US;
const FASTEST = 1 * S;

/** Milliseconds that a worker may take before it answers. */
const BUDGET = 12;

export class Playback {
  /** Simulated picoseconds per second. */
  speed = 1 * MS;
  playing = false;
  private goal = Number.POSITIVE_INFINITY;
  private arrived: (() => void) | undefined;
  private lastAsked = 0;
  private wantedTime: number | undefined;
  /** Counts what seeks: only the last goes on, as the runs of the others may have ended. */
  private seeker = 0;

  constructor(private readonly app: App) {}

  /** The moment that is sought, or else that which is shown. */
  get aim(): number {
    return this.wantedTime ?? this.app.run.now;
  }

  play(goal = Number.POSITIVE_INFINITY, arrived?: () => void): void {
    if (this.aim >= this.app.run.description.duration) return void this.seek(0).then(() => this.play(goal, arrived));
    [this.goal, this.arrived, this.playing, this.lastAsked] = [goal, arrived, true, 0];
    byId("play").textContent = "Pause";
    this.app.stage.redraw();
  }

  pause(): void {
    this.playing = false;
    this.arrived = undefined;
    byId("play").textContent = "Play";
    this.app.stage.announce();
    this.app.stage.redraw();
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Goes to a time, forwards or back; of several in a row only the last counts. */
  async seek(time: number): Promise<void> {
    const { app } = this;
    const busy = this.wantedTime !== undefined;
    this.wantedTime = Math.max(0, Math.min(time, app.run.description.duration));
    if (busy) return;
    const seeker = ++this.seeker;
    while (this.wantedTime !== undefined) {
      const time: number = this.wantedTime;
      const { run, beside } = app;
      const isWanted = () => this.seeker === seeker && this.wantedTime === time;
      const results = await Promise.allSettled([run.seek(time, isWanted), beside?.seek(time, isWanted)]);
      if (this.seeker !== seeker) return;
      // The other run gets there, and what was clicked meanwhile, or is clicked next, is sought all the same.
      for (const one of results) if (one.status === "rejected") say((one.reason as Error).message);
      app.stage.clear();
      if (this.wantedTime === time) this.wantedTime = undefined;
    }
    app.stage.announce();
    app.stage.redraw();
  }

  /** A run that has ended does not answer any more: what was sought in it, or else a time that is given, is sought in the present runs. */
  seekAgain(otherwise?: number): void {
    const time = this.wantedTime ?? otherwise;
    this.wantedTime = undefined;
    if (time !== undefined) void this.seek(time);
  }

  /** Another scenario is shown: nothing is sought in it. */
  forget(): void {
    this.wantedTime = undefined;
  }

  stepCell(): Promise<void> {
    return this.step(this.aim + slotOf(this.app.run.description.links[this.app.port]));
  }

  /** To the end of the next frame that leaves the port, or comes to it. Which one that is can be seen only where the run stands. */
  async stepFrame(): Promise<void> {
    if (this.wantedTime === undefined) await this.step(afterFrame(this.app.run, this.app.port));
  }

  /** To the next loss at any port, which the run ahead has seen already. */
  async stepDiscard(): Promise<void> {
    const { aim } = this;
    const { discards, description, scanned, stopped } = this.app.run;
    const next = discards.find((discard) => discard.at >= aim);
    if (!next) {
      const isWhole = scanned >= description.duration;
      say(isWhole ? "There is no loss from here on." : stopped === undefined ? "The run ahead has found no loss yet." : "The run ahead has stopped before it found a loss.");
      return;
    }
    await this.step(justAfter(next.at));
  }

  private async step(time: number): Promise<void> {
    const from = this.aim;
    this.pause();
    await this.seek(Math.floor(time));
    this.app.stage.sparkSince(from);
  }

  setSpeed(asked: number): void {
    const speed = Math.max(SLOWEST, Math.min(FASTEST, asked));
    this.speed = speed;
    const slider = byId<HTMLInputElement>("speed");
    slider.value = String(Math.round(20 * Math.log10(speed / SLOWEST)));
    byId("speed-text").textContent = span(speed);
    slider.setAttribute("aria-valuetext", `${span(speed)} in one second`);
  }

  /** Names the shortest step after what the port sends. */
  nameStep(): void {
    const unit = unitOf(this.app.run.description.links[this.app.port]);
    const button = byId("step-cell");
    [button.textContent, button.title] = [`+ ${unit}`, `One ${unit} time further (.)`];
  }

  /** A speed at which cells of the main port can be followed. */
  setSpeedFor(): void {
    this.setSpeed(slotOf(this.app.run.description.links[this.app.port]) * 12);
  }

  /** Before each picture: asks the runs for what happens until the next one. */
  advance(time: number): void {
    const { run, beside } = this.app;
    if (!this.playing || run.isBusy || beside?.isBusy || this.wantedTime !== undefined) return;
    const elapsed = this.lastAsked === 0 ? 1 / 60 : Math.min(0.1, (time - this.lastAsked) / 1000);
    this.lastAsked = time;
    const until = Math.min(run.description.duration, this.goal, Math.floor(run.now + this.speed * elapsed) + 1);
    const runs = [run, beside].filter((one): one is Run => one !== undefined);
    Promise.all(runs.map((one) => one.advance(until, BUDGET)))
      .then(() => this.afterAdvance(run))
      .catch((error: Error) => {
        this.pause();
        say(error.message);
      });
  }

  private afterAdvance(run: Run): void {
    this.app.stage.redraw();
    if (run !== this.app.run || !this.playing) return;
    const over = run.now >= run.description.duration;
    if (run.now < this.goal && !over) return;
    const { arrived } = this;
    this.pause();
    arrived?.();
  }
}
