/** Where a policy is written: the rule of the scenario, what it may name, and what is wrong with it. */

import type { App } from "../app/app.ts";
import { h } from "../dom.ts";
import type { LinkInfo } from "../run/types.ts";

const KEY = "switch.discard.script.rule";

/** Rules to begin with. */
const EXAMPLES: [string, string][] = [
  ["EPD", "occupancy < high"],
  ["Like ESPD", "// A VC that was refused waits until the queue is short.\nif refused { occupancy < low } else { occupancy < high }"],
  ["Fair share", "// Above the low threshold no VC may hold more than its share.\nlet share = occupancy / max(active_vcs, 1);\noccupancy < low || vc_occupancy <= share"],
];

export class RuleEditor {
  /** What is written and does not run yet. */
  private draft: string | undefined;
  private refused = "";
  /** Whether the names that a rule may use are shown. */
  private unfolded = false;

  constructor(
    private readonly app: App,
    private readonly render: () => void,
  ) {}

  /** Another scenario is shown: what was written was not meant for it. */
  forget(): void {
    [this.draft, this.refused] = [undefined, ""];
  }

  /** The rows of the port's settings. */
  rows(link: LinkInfo): HTMLElement[] {
    if (link.rule === null) return [];
    const text = h("textarea", {
      id: "rule", rows: "6", spellcheck: "false", autocapitalize: "off", "aria-describedby": "rule-error",
      input: (event) => (this.draft = event.target.value),
      keydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void this.run(text.value),
    });
    text.value = this.draft ?? link.rule.trim();
    const examples = EXAMPLES.map(([title, rule], place) => h("button", { id: `example-${place}`, click: () => void this.run(rule) }, title));
    const names = this.app.run.description.rule_names;
    return [
      h("label", { for: "rule" }, "Admits if"),
      h("div", { class: "rule" }, text,
        h("p", { id: "rule-error", class: "note wrong", role: "alert" }, this.refused),
        h("div", { class: "chips" }, h("button", { id: "run-rule", click: () => void this.run(text.value) }, "Run this rule"), ...examples),
        h("details", { open: this.unfolded, toggle: (event) => (this.unfolded = event.target.open) }, h("summary", {}, "Names it may use"),
          h("p", { class: "note" }, names.join(", "), ". Signs: + - * / %, < <= > >= == !=, && || !, min(a, b), max(a, b), if a { b } else { c }, let a = b;"),
          h("p", { class: "note" }, "It is evaluated at the first cell of each frame. Numbers are whole: write a share as in 10 * occupancy < 8 * capacity."))),
    ];
  }

  private async run(rule: string): Promise<void> {
    this.draft = rule;
    // A quoted text in JSON is one in TOML too.
    const message = await this.app.changes.set(KEY, JSON.stringify(rule));
    // The place in the rule is what helps; the rest of the message names the key.
    this.refused = message === undefined ? "" : (/line \d+, column \d+: .*/s.exec(message)?.[0] ?? message);
    if (message === undefined && this.draft === rule) this.draft = undefined;
    this.render();
  }
}
