/** What people turn and press: buttons, menus, keys, files, the strip. */

import { byId } from "../dom.ts";
import { library, tours } from "../library.ts";
import type { App } from "./app.ts";
import { SLOWEST } from "./playback.ts";
import { hush, say } from "./toast.ts";

/** The value of the entry of the menu of scenarios that opens a file; no scenario has this name. */
const OPEN = "open a file";

export class Controls {
  constructor(private readonly app: App) {
    this.fillMenus();
    this.listen();
  }

  private fillMenus(): void {
    const { app } = this;
    const [stories, scenarios] = [byId<HTMLSelectElement>("stories"), byId<HTMLSelectElement>("scenarios")];
    stories.append(new Option("No story", ""), ...tours.map((story) => new Option(story.title, story.id)));
    // The file that is shown, if one is, and the entry that opens one.
    const shown = new Option("Own file", "");
    shown.hidden = true;
    scenarios.append(shown, new Option("Open a file…", OPEN), ...library.map((one) => new Option(one.title, one.id)));
    const failed = (error: Error) => say(error.message);
    stories.addEventListener("change", () => {
      const story = tours.find((one) => one.id === stories.value);
      if (story) app.guide.begin(story).catch(failed);
      else app.guide.quit();
    });
    scenarios.addEventListener("change", () => {
      const scenario = library.find((one) => one.id === scenarios.value);
      if (scenario) return void app.openScenario(scenario).catch(failed);
      // Nothing is chosen before a file is: the menu names what is shown, and the entry can be chosen again.
      app.showNames();
      this.chooseFile();
    });
  }

  private chooseFile(): void {
    const file = byId<HTMLInputElement>("file");
    // The same file may be opened again after it was edited.
    file.value = "";
    file.click();
  }

  private listen(): void {
    const { app } = this;
    const click = (id: string, work: () => unknown) => byId(id).addEventListener("click", () => void work());
    // Before the first run is there nothing can be done with it.
    const clickOnRun = (id: string, work: () => unknown) => click(id, () => app.run && work());
    clickOnRun("play", () => app.playback.toggle());
    clickOnRun("restart", () => app.playback.seek(0));
    clickOnRun("step-cell", () => app.playback.stepCell());
    clickOnRun("step-frame", () => app.playback.stepFrame());
    clickOnRun("step-discard", () => app.playback.stepDiscard());
    clickOnRun("share", () => app.address.share());
    click("open", () => this.chooseFile());
    // Who selects the text wants to copy it.
    click("toast", () => getSelection()?.isCollapsed !== false && hush());
    click("theme", () => app.switchTheme());
    byId("speed").addEventListener("input", (event) => app.playback.setSpeed(SLOWEST * 10 ** (Number((event.target as HTMLInputElement).value) / 20)));
    byId("file").addEventListener("change", (event) => {
      const file = (event.target as HTMLInputElement).files?.[0];
      if (file) void app.openFile(file);
    });
    byId("home").addEventListener("click", (event) => {
      event.preventDefault();
      void app.address.open("");
    });
    // The address may have followed what is shown since then.
    addEventListener("hashchange", ({ newURL }) => void app.address.visit(new URL(newURL).hash));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.retheme());
    addEventListener("keydown", (event) => this.onKey(event));
    this.listenForFiles();
    this.listenToStrip(byId<HTMLCanvasElement>("strip"));
  }

  private onKey(event: KeyboardEvent): void {
    const { playback, stage } = this.app;
    if (event.key === "Escape" && (stage.closeTips() || hush() || stage.leaveNetwork())) return;
    const target = event.target as HTMLElement;
    if (target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Record<string, () => unknown> = {
      " ": () => playback.toggle(), ".": () => playback.stepCell(), f: () => playback.stepFrame(), d: () => playback.stepDiscard(), Home: () => playback.seek(0),
      "[": () => playback.setSpeed(playback.speed / 2), "]": () => playback.setSpeed(playback.speed * 2),
    };
    const work = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!work || (event.key === " " && target.closest("button, a, summary"))) return;
    event.preventDefault();
    if (this.app.run) void work();
  }

  private listenForFiles(): void {
    const { app } = this;
    const drop = byId("drop");
    // A text that is dragged goes into the field that it is dropped on.
    const hasFile = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      drop.hidden = false;
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) drop.hidden = true;
    });
    addEventListener("drop", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      drop.hidden = true;
      const file = event.dataTransfer?.files[0];
      if (file) void app.openFile(file);
    });
  }

  private listenToStrip(canvas: HTMLCanvasElement): void {
    const { app } = this;
    const { strip } = app.stage;
    const down = new Map<number, number>();
    const duration = () => app.run.description.duration;
    const zoomAtNow = (factor: number) => {
      const half = ((strip.to - strip.from) * factor) / 2;
      strip.show(app.run.now - half, app.run.now + half, duration());
      app.stage.redraw();
    };
    const move = (by: number) => void app.playback.seek(app.playback.aim + by);
    const listen = <Kind extends keyof HTMLElementEventMap>(kind: Kind, work: (event: HTMLElementEventMap[Kind]) => void) =>
      canvas.addEventListener(kind, (event) => app.run && work(event), { passive: false });
    listen("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      down.set(event.pointerId, event.offsetX);
      if (down.size === 1) void app.playback.seek(strip.timeAt(event.offsetX));
    });
    listen("pointermove", (event) => {
      if (!down.has(event.pointerId)) return;
      if (down.size === 2) {
        const [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
        const before = Math.abs(down.get(event.pointerId)! - other);
        const after = Math.max(8, Math.abs(event.offsetX - other));
        strip.zoom((event.offsetX + other) / 2, Math.max(8, before) / after, duration());
        app.stage.redraw();
      } else void app.playback.seek(strip.timeAt(event.offsetX));
      down.set(event.pointerId, event.offsetX);
    });
    const up = (event: PointerEvent) => down.delete(event.pointerId);
    listen("pointerup", up);
    listen("pointercancel", up);
    listen("wheel", (event) => {
      event.preventDefault();
      strip.zoom(event.offsetX, Math.exp(event.deltaY / 400), duration());
      app.stage.redraw();
    });
    listen("dblclick", () => {
      strip.show(0, duration(), duration());
      app.stage.redraw();
    });
    listen("keydown", (event) => {
      const step = (strip.to - strip.from) / (event.shiftKey ? 20 : 400);
      const keys: Record<string, () => void> = {
        ArrowLeft: () => move(-step),
        ArrowDown: () => move(-step),
        ArrowRight: () => move(step),
        ArrowUp: () => move(step),
        PageDown: () => move((strip.from - strip.to) / 10),
        PageUp: () => move((strip.to - strip.from) / 10),
        End: () => void app.playback.seek(duration()),
        "+": () => zoomAtNow(0.5),
        "-": () => zoomAtNow(2),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    });
  }
}
