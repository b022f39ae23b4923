/** What is changed in a scenario that is shown. A change makes another run, which shows the same moment. */

import type { Run } from "../run/run.ts";
import type { Settings } from "../run/types.ts";
import type { App } from "./app.ts";
import { say } from "./toast.ts";

export class Changes {
  /** Keys to set next, and their values. */
  private wanted = new Map<string, string>();
  private under: Promise<Map<string, string | undefined>> | undefined;
  /** Counts what was chosen to stand beside the run: the last choice wins, however long each one takes. */
  private besideChoice = 0;

  constructor(private readonly app: App) {}

  /** Sets a key of the scenario, or takes it back if the value is empty: the scenario runs again from the start, under the same seed,
   * and shows the same moment. Of several values in a row only the last counts. Returns what is wrong with the value if it is refused. */
  async set(key: string, value: string): Promise<string | undefined> {
    this.wanted.set(key, value);
    this.under ??= this.setAll();
    return (await this.under).get(key);
  }

  /** Another scenario is shown: what was asked of the runs before is not asked of these. */
  forget(): void {
    this.wanted.clear();
    this.besideChoice++;
  }

  /** Returns what is wrong, by the key that was set last. */
  private async setAll(): Promise<Map<string, string | undefined>> {
    const { app } = this;
    const refused = new Map<string, string | undefined>();
    while (this.wanted.size > 0) {
      const wanted = this.wanted;
      this.wanted = new Map();
      const { scenario } = app;
      const message = await this.setThese(wanted);
      for (const key of wanted.keys()) refused.set(key, message);
      if (message === undefined || wanted.size === 1) continue;
      // One of them is at fault: the others are set all the same.
      for (const [key, value] of wanted) if (app.scenario === scenario) refused.set(key, await this.setThese(new Map([[key, value]])));
    }
    this.under = undefined;
    return refused;
  }

  private async setThese(wanted: Map<string, string>): Promise<string | undefined> {
    const { app } = this;
    const kept = app.set.filter(([key]) => !wanted.has(key));
    const set = [...kept, ...[...wanted].filter(([, value]) => value !== "")];
    // What is set already needs no other run, as where a threshold is let go after it was dragged.
    const settled = [...wanted].every(([key, value]) => (app.set.find(([other]) => other === key)?.[1] ?? "") === value);
    return settled ? undefined : this.replace(set);
  }

  private async replace(set: Settings): Promise<string | undefined> {
    const { app } = this;
    const before = app.run;
    try {
      const at = before.now;
      const run = await app.start(app.scenario, set, at);
      // Another scenario was loaded meanwhile: the change was not meant for it.
      if (app.run !== before) return void run.end();
      app.replaceRun(run);
      app.set = set;
      before.end();
      // What one compares with is the last run that was seen whole.
      if (before.outcome || !app.ghost) app.ghost = before;
      // The run before may have moved on meanwhile.
      app.playback.seekAgain(before.now === at ? undefined : before.now);
      app.refresh();
    } catch (error) {
      if (app.run === before) return (error as Error).message;
    }
  }

  /** Keeps the present run beside what comes next, or takes it away. */
  async pin(set: Settings | undefined): Promise<void> {
    const { app } = this;
    const choice = ++this.besideChoice;
    app.beside?.end();
    app.beside = undefined;
    app.playback.seekAgain();
    try {
      const beside: Run | undefined = set && (await app.start(app.scenario, set, app.run.now));
      if (choice !== this.besideChoice) return beside?.end();
      app.beside = beside;
      // The run may have moved on meanwhile.
      if (beside) app.playback.seekAgain(beside.now === app.run.now ? undefined : app.run.now);
    } catch (error) {
      if (choice !== this.besideChoice) return;
      say((error as Error).message);
    }
    app.refresh();
  }
}
