/** A sentence that stands on the page for a while. */

import { byId } from "../dom.ts";

let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => (toast.hidden = true), Math.max(4000, 60 * text.length));
}
