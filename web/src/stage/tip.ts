/** A note on what somebody has tapped or dragged in a picture: below the network, so that it covers nothing of it, and where a threshold was
 * let go. It stays until it is closed: fingers do not hover. */

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

  /** `step` leads to a note on what comes before or next, where there is such a thing; `closed` hears when there is no note any more, and
   * whether the keyboard was in it. */
  constructor(
    private readonly kind: "told" | "refused",
    private readonly closed: (held: boolean) => void = () => {},
    step?: (by: 1 | -1) => void,
  ) {
    this.text = h("div", { role: kind === "told" ? "status" : undefined });
    const button = (name: string, title: string, sign: string, click: () => void) => h("button", { class: "quiet", type: "button", "aria-label": name, title, click }, sign);
    this.root = h("div", { class: `tip ${kind}`, hidden: true }, this.text,
      step && button("The one before", "The one before", "‹", () => step(-1)),
      step && button("The next", "The next", "›", () => step(1)),
      button("Close the note", "Close (Esc)", "×", () => this.close()));
  }

  get isOpen(): boolean {
    return this.facts !== undefined;
  }

  /** Tells something beside a place of the picture that it stands in. `heard` unless something else on the page says the same to those who
   * hear it. */
  open(facts: () => Facts, x: number, y: number, heard = true): void {
    this.tell(facts, heard);
    // Where it stood before would limit its width.
    [this.root.style.left, this.root.style.right] = ["0", ""];
    const { clientWidth: width, clientHeight: height } = this.root.parentElement!;
    const { offsetWidth, offsetHeight } = this.root;
    this.root.style.left = `${Math.max(0, Math.min(x - offsetWidth / 2, width - offsetWidth))}px`;
    if (this.kind === "told") return;
    const below = y + AWAY + offsetHeight <= height || y < height / 2;
    this.root.style.top = `${below ? y + AWAY : y - AWAY - offsetHeight}px`;
  }

  /** Tells something else where the note stands already: what was pressed at its right stays under the finger, however long the text is. */
  retell(facts: () => Facts): void {
    const right = this.root.parentElement!.getBoundingClientRect().right - this.root.getBoundingClientRect().right;
    [this.root.style.left, this.root.style.right] = ["auto", `${right}px`];
    this.tell(facts, true);
  }

  private tell(facts: () => Facts, heard: boolean): void {
    [this.facts, this.shown] = [facts, ""];
    this.text.replaceChildren();
    // Who hears the page is told once, not at every picture.
    if (this.text.role) this.text.setAttribute("aria-live", heard ? "polite" : "off");
    this.root.hidden = false;
    this.update();
  }

  close(): void {
    if (!this.facts) return;
    // The pointer leaves the focus on what it presses; nobody goes on from there.
    const held = this.root.querySelector(":focus-visible") !== null;
    this.facts = undefined;
    this.root.hidden = true;
    this.text.replaceChildren();
    this.closed(held);
  }

  update(): void {
    if (!this.facts) return;
    const [name, ...rest] = this.facts();
    const shown = [name, ...rest].join("\n");
    if (shown === this.shown) return;
    this.shown = shown;
    if (this.text.role && this.text.childElementCount > 0) this.text.setAttribute("aria-live", "off");
    this.text.replaceChildren(h("b", {}, name), ...rest.map((line) => h("span", {}, line)));
  }
}
