/** Beside the stage: the port's settings, the flows, the measures. */

import type { App } from "../app/app.ts";
import { COPY, commandOf } from "../text/command.ts";
import { h } from "../dom.ts";
import { change, count, growing, metric, metrics, setting, span } from "../text/format.ts";
import { hopsOf, portsOf } from "../run/network.ts";
import type { Run } from "../run/run.ts";
import { RuleEditor } from "./rule.ts";
import { colourOf } from "../theme.ts";
import type { LevelInfo, LinkInfo, Metric } from "../run/types.ts";
import { Flow } from "../run/view.ts";

/** The measures that are shown first. */
const SHOWN = 12;
/** The most flows that have a row. */
const MOST_FLOWS = 60;

export class Panel {
  private cells: HTMLElement[][] = [];
  private tags: HTMLElement[] = [];
  private shown = "";
  private readonly portMenu: HTMLSelectElement;
  private portsMade: unknown;
  private readonly rule: RuleEditor;
  /** What is written in a field and not set, and why it was refused, by the field's id. */
  private readonly drafts = new Map<string, string>();
  private readonly refusals = new Map<string, string>();
  /** Whether a slider is being dragged: one that took its place would not follow the pointer. */
  private dragged = false;
  /** Whether all measures are shown. */
  private allMeasures = false;

  constructor(
    private readonly root: HTMLElement,
    private readonly app: App,
  ) {
    this.rule = new RuleEditor(app, () => this.render());
    this.portMenu = h("select", { id: "port", change: (event) => app.choosePort(Number(event.target.value)) });
    root.append(h("section", {}, h("h2", {}, "Port"), h("div", { class: "row" }, h("label", { for: "port" }, "Port"), this.portMenu)));
  }

  /** Everything anew; who is writing goes on writing, and who has scrolled stays there. */
  render(): void {
    const active = this.root.contains(document.activeElement) ? (document.activeElement as HTMLInputElement) : undefined;
    const selected = active && ["text", "textarea"].includes(active.type) ? [active.selectionStart, active.selectionEnd] : undefined;
    const chips = active ? [...this.root.querySelectorAll(".set button")].indexOf(active) : -1;
    const scrolled = this.root.querySelector(".flows")?.scrollTop ?? 0;
    this.fillPorts();
    if (!this.dragged) {
      while (this.portMenu.parentElement!.nextSibling) this.portMenu.parentElement!.nextSibling.remove();
      this.portMenu.parentElement!.after(this.port());
    }
    while (this.root.children.length > 1) this.root.lastElementChild!.remove();
    this.root.append(this.settings(), this.flows(), this.measures(), help());
    this.root.querySelector(".flows")!.scrollTop = scrolled;
    const field = active && this.successor(active.id, chips);
    field?.focus({ preventScroll: true });
    if (selected) field?.setSelectionRange(selected[0], selected[1]);
    this.shown = this.outcomes();
    this.update();
  }

  /** What stands where an element was: for a setting that was taken back the next one, or where one is written. */
  private successor(id: string, chip: number): HTMLInputElement | null {
    const same = id ? document.getElementById(id) : null;
    const chips = this.root.querySelectorAll(".set button");
    return (same ?? (chip >= 0 ? (chips[Math.min(chip, chips.length - 1)] ?? document.getElementById("setting")) : null)) as HTMLInputElement | null;
  }

  /** Another scenario is shown: what was written was not meant for it. */
  forget(): void {
    this.drafts.clear();
    this.refusals.clear();
    this.rule.forget();
    this.dragged = false;
  }

  /** Sets a key. What a field holds that is refused stays in it, and the reason stands below it; it is returned too. A slider goes back. */
  async change(field: string, key: string, value: string): Promise<string | undefined> {
    const { scenario } = this.app;
    const draft = this.drafts.get(field);
    const refusal = await this.app.changes.set(key, value);
    const isOther = scenario !== this.app.scenario;
    if ((field.startsWith("level-") || (refusal === undefined && !isOther)) && this.drafts.get(field) === draft) this.drafts.delete(field);
    if (isOther) return void this.render();
    // What was refused and stands in no field is past.
    if (refusal === undefined) for (const other of this.refusals.keys()) if (!this.drafts.has(other)) this.refusals.delete(other);
    this.refuse(field, refusal);
    return refusal;
  }

  private refuse(field: string, refusal: string | undefined): void {
    if (refusal === undefined) this.refusals.delete(field);
    else this.refusals.set(field, refusal);
    this.render();
  }

  /** A line to write in. */
  private field(id: string, value: string, attributes: Record<string, string | ((event: any) => void)> = {}): HTMLInputElement {
    const input = h("input", { id, type: "text", ...this.marked(id), input: () => void this.drafts.set(id, input.value), ...attributes });
    input.value = this.drafts.get(id) ?? value;
    return input;
  }

  /** That a field holds something that was refused, for those who hear the page. */
  private marked(field: string): Record<string, string> {
    return this.refusals.has(field) ? { "aria-invalid": "true", "aria-describedby": `${field}-error` } : {};
  }

  /** Why what stands in a field was refused. */
  private refusal(field: string): HTMLElement | undefined {
    const text = this.refusals.get(field);
    return text === undefined ? undefined : h("p", { id: `${field}-error`, class: "note wrong", role: "alert" }, text);
  }

  /** What changes while a run goes on. */
  update(): void {
    const { run } = this.app;
    const captured = new Set<number>();
    for (let row = 0; row < run.view.captured.length; row++) captured.add(run.view.captured.get(row, 1));
    this.cells.forEach(([window, delivered, timeouts], flow) => {
      const get = (column: number) => run.view.flows.get(flow, column);
      const { tcp, pool } = run.description.flows[flow];
      // Short flows have no common window.
      window.textContent = tcp && !pool ? growing(get(Flow.cwnd)) : "–";
      delivered.textContent = growing(get(Flow.delivered));
      timeouts.textContent = String(get(Flow.timeouts));
      this.tags[flow].textContent = captured.has(2 * flow) ? "captured" : "";
    });
    const outcomes = this.outcomes();
    if (outcomes === this.shown) return;
    this.shown = outcomes;
    const before = document.getElementById("measures");
    const focused = before?.contains(document.activeElement) ? document.activeElement!.id : "";
    before?.replaceWith(this.measures());
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /** Tells whether the measures that are shown are still those of the runs. */
  private outcomes(): string {
    const known = ({ outcome, stopped }: Run) => outcome?.fingerprint ?? stopped;
    const other = this.other();
    return `${known(this.app.run)} ${other && known(other)}`;
  }

  /** The menu of ports, of which there may be thousands: filled once for a run, and it stays on the page, as to put it there takes long. */
  private fillPorts(): void {
    const { app } = this;
    const { description } = app.run;
    if (this.portsMade !== description) {
      this.portsMade = description;
      this.portMenu.replaceChildren(...portsOf(description).map((index) => new Option(description.links[index].name, String(index))));
    }
    this.portMenu.value = String(app.port);
  }

  /** The settings of the port. */
  private port(): HTMLElement {
    const { app } = this;
    const { links, nodes, policies } = app.run.description;
    const link = links[app.port];
    // What follows is set for the ports of switches.
    if (nodes[link.from].host) return h("div", { class: "row" });
    const policy = h("select", { id: "policy", ...this.marked("policy"), change: (event) => void this.change("policy", "switch.discard.policy", event.target.value) });
    policies.forEach((name) => policy.append(new Option(name, name, false, name === link.policy)));
    const buffer = this.field("buffer", link.capacity === null ? "unlimited" : setting(link.capacity, link.unit), {
      change: (event) => void this.change("buffer", "switch.buffer", event.target.value.trim()),
    });
    const rows: (HTMLElement | undefined)[] = [
      h("label", { for: "policy" }, "Policy"), policy, this.refusal("policy"),
      h("label", { for: "buffer" }, "Buffer"), buffer, this.refusal("buffer"),
    ];
    // The ports of a switch share it: it limits a buffer that has no limit of its own.
    const memory = app.run.description.scenario.switch.memory?.size;
    if (memory !== undefined) {
      const size = this.field("memory", memory, { change: (event) => void this.change("memory", "switch.memory.size", event.target.value.trim()) });
      rows.push(h("label", { for: "memory" }, "Memory"), size, this.refusal("memory"));
    }
    for (const level of link.levels) rows.push(...this.level(link, level));
    rows.push(...this.rule.rows(link));
    return h("div", { class: "row" }, ...rows);
  }

  /** A threshold of the port. */
  private level(link: LinkInfo, { key, units }: LevelInfo): (HTMLElement | undefined)[] {
    const id = `level-${key}`;
    const value = this.drafts.get(id) ?? String(units);
    const text = setting(value, link.unit);
    // The slider says it too, to those who hear the page.
    const output = h("output", { "aria-hidden": "true" }, text);
    const slider = h("input", {
      id, ...this.marked(id), type: "range", min: "1", max: String(link.capacity ?? units * 2), value, "aria-valuetext": text,
      input: () => {
        output.textContent = setting(slider.value, link.unit);
        slider.setAttribute("aria-valuetext", output.textContent);
        this.drafts.set(id, slider.value);
        void this.app.dragLevel(key, Number(slider.value));
      },
      pointerdown: (event) => this.drag(event),
    });
    return [h("label", { for: id }, key), h("div", { class: "level" }, slider, output), this.refusal(id)];
  }

  /** Leaves the sliders on the page until this pointer lets go. */
  private drag({ pointerId, button }: PointerEvent): void {
    if (button !== 0) return;
    this.dragged = true;
    const over = new AbortController();
    const release = (event: PointerEvent) => {
      if (event.pointerId !== pointerId) return;
      over.abort();
      this.dragged = false;
      this.render();
    };
    for (const kind of ["pointerup", "pointercancel"] as const) addEventListener(kind, release, { signal: over.signal });
  }

  private settings(): HTMLElement {
    const { app } = this;
    const key = this.field("setting", "", { placeholder: "tcp.recovery = sack", "aria-label": "Set a key of the scenario" });
    const apply = (event: Event) => {
      event.preventDefault();
      const [name, ...value] = key.value.split("=");
      if (value.length === 0) return this.refuse("setting", 'Write a key and a value, such as "seed = 7" or "tcp.recovery = sack".');
      return void this.change("setting", name.trim(), value.join("=").trim());
    };
    const chips = app.set.map(([name, value]) =>
      h("button", { id: `set-${name}`, title: "Take this back", click: () => void this.change("chips", name, "") }, `${name} = ${value}  ×`),
    );
    const pinned = app.beside !== undefined;
    return h("section", {},
      h("h2", {}, "Change anything", h("small", {}, `seed ${app.run.description.seed}`)),
      h("form", { submit: apply }, key, h("button", {}, "Set")),
      this.refusal("setting"),
      chips.length > 0 && h("div", { class: "chips set" }, ...chips),
      this.refusal("chips"),
      h("p", { class: "note" }, "A change runs the scenario again from the start, with the same seed, and shows the same moment. The previous run stays on the strip, dashed."),
      h("div", { class: "chips" }, h("button", { id: "pin", "aria-pressed": String(pinned), click: () => void app.changes.pin(pinned ? undefined : [...app.set]) },
        pinned ? "Remove the other run" : "Keep this run beside the next"),
        h("button", { id: "copy", title: "As a TOML file for celltrain run", click: () => void app.copyScenario() }, "Copy scenario")),
    );
  }

  private flows(): HTMLElement {
    const { app } = this;
    const { flows, nodes } = app.run.description;
    this.cells = [];
    this.tags = [];
    const body = h("tbody");
    const between = new Map<string, number>();
    for (const { from, to } of flows) {
      const ends = `${nodes[from].name} → ${nodes[to].name}`;
      between.set(ends, (between.get(ends) ?? 0) + 1);
    }
    flows.slice(0, MOST_FLOWS).forEach((flow, index) => {
      const cells = [h("td"), h("td"), h("td")];
      const tag = h("span", { class: "tag" });
      const swatch = h("i");
      swatch.style.background = colourOf(index, app.theme);
      // Several flows between the same hosts are told apart by their names.
      const ends = `${nodes[flow.from].name} → ${nodes[flow.to].name}`;
      const text = between.get(ends) === 1 ? ends : `${ends}: ${flow.name}`;
      const name = h("button", { id: `flow-${index}`, "aria-pressed": String(app.focus === index), title: `Flow ${flow.name}`, click: () => app.chooseFlow(index) }, swatch, text);
      body.append(h("tr", {}, h("td", {}, name, " ", tag), ...cells));
      this.cells.push(cells);
      this.tags.push(tag);
    });
    const head = h("tr", {}, ...["Flow", "Window", "Delivered", "RTOs"].map((title) => h("th", { scope: "col" }, title)));
    const more = flows.length > MOST_FLOWS && h("p", { class: "note" }, `and ${flows.length - MOST_FLOWS} more`);
    return h("section", {}, h("h2", {}, "Flows", h("small", {}, "choose one to follow it")),
      h("div", { class: "flows" }, h("table", {}, h("thead", {}, head), body)), more);
  }

  /** The run that this one is compared with. */
  private other(): Run | undefined {
    return this.app.beside ?? this.app.ghost;
  }

  private measures(): HTMLElement {
    const { run } = this.app;
    const { outcome } = run;
    const heading = h("h2", {}, "Measures", h("small", {}, `${span(run.description.warm_up, 6)} to ${span(run.description.duration, 6)}`));
    if (!outcome) return h("section", { id: "measures" }, heading, h("p", { class: "note" }, awaited(run)));
    const other = this.other()?.outcome;
    const body = h("tbody");
    const known = outcome.summary.filter((one) => one.value !== null);
    const beforeOf = ({ name }: Metric) => other?.summary.find((same) => same.name === name)?.value ?? null;
    const first = known.filter((one, place) => place < SHOWN || (other && beforeOf(one) !== one.value));
    const shown = this.allMeasures ? known : first;
    for (const one of shown) {
      const before = beforeOf(one);
      const kind = { class: other && /^[a-z]{6,}$/.test(one.unit) ? "count" : "" };
      const [then, now] = other ? metrics(before, one.value, one.unit) : ["", metric(one.value, one.unit)];
      const cells = [h("td", {}, one.title), other && h("td", kind, then), h("td", kind, now), other && h("td", {}, change(before, one.value))];
      body.append(h("tr", {}, ...cells));
    }
    const titles = other ? ["", this.app.beside ? "beside" : "before", "now", "change"] : ["", ""];
    return h("section", { id: "measures" }, heading,
      h("table", {}, other && h("thead", {}, h("tr", {}, ...titles.map((title) => (title === "" ? h("td") : h("th", { scope: "col" }, title))))), body),
      first.length < known.length && h("div", { class: "chips" }, h("button", {
        id: "all-measures", "aria-expanded": String(this.allMeasures),
        click: () => {
          this.allMeasures = !this.allMeasures;
          this.render();
        },
      }, this.allMeasures ? "Fewer measures" : `All ${known.length} measures`)),
      h("p", { class: "note" }, `${count(outcome.cell_hops)} ${hopsOf(run.description)}. `, this.parted(run)),
      h("p", { class: "note" }, "Fingerprint ", h("span", { class: "print" }, outcome.fingerprint), ": the first of the ", h("code", {}, "fingerprints"), ` that this command prints${this.app.scenario.id ? "" : ` of a copy of the scenario, saved as ${COPY}`}:`),
      h("p", { class: "note" }, h("code", { id: "command" }, ...wordByWord(commandOf(this.app.scenario, this.app.set)))),
    );
  }

  /** Since when two runs differ. */
  private parted(run: Run): string {
    const other = this.other();
    if (!other?.outcome || !run.outcome) return "";
    if (other.outcome.fingerprint === run.outcome.fingerprint) return "Both runs are the same to the last cell.";
    // Runs of other networks, or of another length, have other samples.
    const sampled = ({ period, samples: { ports, cwnd } }: Run) => `${period} ${ports} ${cwnd.length}`;
    if (sampled(other) !== sampled(run)) return "";
    const columns = (one: Run) => [...one.samples.occupancy, ...one.samples.cwnd, ...one.samples.delivered];
    const [mine, theirs] = [columns(run), columns(other)];
    const { times } = run.samples;
    const first = times.findIndex((_, index) => mine.some((values, column) => values[index] !== theirs[column]?.[index]));
    return first < 0 ? "" : `The runs part at ${span(times[first])}.`;
  }
}

/** A command whose lines end between words: a line that ends in the hyphens of an option would be read as another command. */
function wordByWord(command: string): (Node | string)[] {
  return command.split(" ").flatMap((word, place) => [...(place > 0 ? [" "] : []), h("span", {}, word)]);
}

/** Why there are no measures. */
function awaited({ stopped }: Run): string {
  if (stopped === undefined) return "The run ahead has not reached the end yet.";
  return `The engine that runs ahead has stopped, so that there are no measures. Please report this: ${stopped}`;
}

function help(): HTMLElement {
  const keys: [string, string][] = [["space", "run or pause"], [".", "one cell or packet"], ["F", "one frame"], ["D", "next loss"], ["[ ]", "slower, faster"], ["Home", "start"], ["arrows", "in the network: the nearest node or link"], ["Enter", "chooses it"], ["Esc", "leaves"]];
  const items = keys.flatMap(([key, text]) => [h("kbd", {}, key), ` ${text}  `]);
  return h("section", {},
    h("p", { class: "note legend" }, h("b", {}, "Legend. "), "A cell with a dot ends its frame. Hollow cells belong to a frame that has lost a cell: they are carried for nothing. Grey cells manage rates. On the strip, strokes above the queue are losses, and above the windows timeouts; a dot is a short flow that has ended. Two bars and stripes mark a link that the switch at its end has paused."),
    h("p", { class: "note" }, ...items),
    h("p", { class: "note" }, "Drop a scenario file on the page to run it. Nothing leaves the page: the simulator runs in it."),
  );
}
