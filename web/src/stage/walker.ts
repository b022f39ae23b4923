/** The place in a picture that the keyboard has: a button that stands on it, seen when it has the focus or a note is about it. There is one
 * at a time, as a network may have thousands of nodes: the next takes its place, and with it the focus, so that it is heard. */

import { h } from "../dom.ts";
import { type Direction, type Stop, following, isSame, nearest } from "./layout/walk.ts";

/** Where a stop is on the page's element, and how it lies there. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  /** In radians. */
  angle: number;
}

export interface WalkerEvents {
  stops(): Stop[];
  box(stop: Stop): Box;
  /** What is said of a stop. */
  name(stop: Stop): string;
  /** Whether it is what is shown close up. */
  isChosen(stop: Stop): boolean;
  /** The focus has come to a stop, or has left them all, to another element or to none. */
  entered(stop: Stop): void;
  left(to: Node | null): void;
  chosen(stop: Stop): void;
}

export class Walker {
  readonly root = h("div", {
    class: "walk", role: "application", "aria-roledescription": "network",
    "aria-label": "Nodes and links: arrow keys go to the nearest, Page Down to the next, Enter chooses, Escape leaves",
    keydown: (event: KeyboardEvent) => this.onKey(event),
  });
  private button: HTMLButtonElement | undefined;
  private stop: Stop | undefined;
  private placed = "";

  constructor(private readonly events: WalkerEvents) {}

  get current(): Stop | undefined {
    return this.stop;
  }

  get hasFocus(): boolean {
    return this.button !== undefined && this.button === document.activeElement;
  }

  /** Goes to a stop. The focus follows if it was on the stop before, or if `focus` is set. */
  go(stop: Stop, focus = this.hasFocus): void {
    const before = this.button;
    this.stop = stop;
    const button = h("button", {
      class: "spot", type: "button", click: () => this.events.chosen(stop), focus: () => this.events.entered(stop),
      blur: ({ relatedTarget }: FocusEvent) => button === this.button && this.events.left(relatedTarget as Node | null),
    });
    this.button = button;
    this.rename();
    this.root.append(button);
    this.placed = "";
    this.follow();
    if (focus) button.focus();
    before?.remove();
  }

  /** Forgets where it was: another network is shown. */
  forget(): void {
    [this.button, this.stop] = [undefined, undefined];
    this.root.replaceChildren();
  }

  /** Shows the place though the focus is elsewhere, or no longer. */
  mark(shown: boolean): void {
    this.button?.classList.toggle("shown", shown);
  }

  /** Says what is there now: not at every picture, as those who hear the page would hear each. */
  rename(): void {
    if (!this.button || !this.stop) return;
    const name = this.events.name(this.stop);
    // Attributes: not every browser of 2023 has the properties of the same names.
    if (this.button.getAttribute("aria-label") !== name) this.button.setAttribute("aria-label", name);
    if (this.events.isChosen(this.stop)) this.button.setAttribute("aria-current", "true");
    else this.button.removeAttribute("aria-current");
  }

  /** Stays on its place when the picture is laid out anew. */
  follow(): void {
    if (!this.button || !this.stop) return;
    const { x, y, width, height, angle } = this.events.box(this.stop);
    const style = `left:${x - width / 2}px;top:${y - height / 2}px;width:${width}px;height:${height}px;transform:rotate(${angle}rad)`;
    if (style === this.placed) return;
    this.placed = style;
    this.button.style.cssText = style;
  }

  private onKey(event: KeyboardEvent): void {
    const { stop } = this;
    if (!stop || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = this.after(stop, event.key);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isSame(next, stop)) this.go(next, true);
  }

  /** Where a key leads; undefined for one that leads nowhere. */
  private after(current: Stop, key: string): Stop | undefined {
    const stops = this.events.stops();
    // The picture may have been laid out anew since.
    const stop = stops.find((one) => isSame(one, current)) ?? current;
    if (key.startsWith("Arrow")) return nearest(stops, stop, key as Direction) ?? stop;
    if (key === "PageDown") return following(stops, stop, 1);
    if (key === "PageUp") return following(stops, stop, -1);
    return undefined;
  }

  /** Takes the focus back. */
  enter(): void {
    this.button?.focus();
  }

  /** Takes the focus away; returns whether it was here. */
  leave(): boolean {
    const had = this.hasFocus;
    if (had) this.button!.blur();
    return had;
  }
}
