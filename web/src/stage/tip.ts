/** A note beside what somebody has tapped or dragged in a picture. It stays until it is closed: fingers do not hover. */

import { h } from "../dom.ts";
import type { Facts } from "./facts.ts";

/** From the tapped place to the note: a finger does not cover it. */
const AWAY = 18;

export class Tip {
  readonly root: HTMLElement;
  private readonly text: HTMLElement;
  /** What it tells, asked anew as the run goes on. */
  private facts: (() => Facts) | undefined;
  private shown = "";

  /** `heard` where nothing else on the page says the same to those who hear it. */
  constructor(heard: boolean) {
    this.text = h("div", { role: heard ? "status" : undefined });
    this.root = h("div", { class: heard ? "tip" : "tip refused", hidden: true }, this.text, h("button", { class: "quiet", "aria-label": "Close the note", title: "Close (Esc)", click: () => this.close() }, "×"));
  }

  get isOpen(): boolean {
    return this.facts !== undefined;
  }

  /** Tells something beside a place of the picture that it stands in. */
  open(facts: () => Facts, x: number, y: number): void {
    this.close();
    [this.facts, this.shown] = [facts, ""];
    this.root.hidden = false;
    this.update();
    const { clientWidth: width, clientHeight: height } = this.root.parentElement!;
    const { offsetWidth, offsetHeight } = this.root;
    const below = y + AWAY + offsetHeight <= height || y < height / 2;
    this.root.style.left = `${Math.max(0, Math.min(x - offsetWidth / 2, width - offsetWidth))}px`;
    this.root.style.top = `${below ? y + AWAY : y - AWAY - offsetHeight}px`;
  }

  close(): void {
    this.facts = undefined;
    this.root.hidden = true;
    this.text.replaceChildren();
  }

  update(): void {
    if (!this.facts) return;
    const [name, ...rest] = this.facts();
    const shown = [name, ...rest].join("\n");
    if (shown === this.shown) return;
    this.shown = shown;
    // Who hears the page is told once, not at every picture.
    if (this.text.role) this.text.setAttribute("aria-live", this.text.childElementCount === 0 ? "polite" : "off");
    this.text.replaceChildren(h("b", {}, name), ...rest.map((line) => h("span", {}, line)));
  }
}
