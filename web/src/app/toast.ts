/** A sentence that stands on the page for a while. */

import { byId } from "../dom.ts";

/** Milliseconds that a sentence stands: by its length, as it has to be read. */
const [SHORTEST, LONGEST, PER_LETTER] = [4000, 20_000, 60];

let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(hush, Math.max(SHORTEST, Math.min(LONGEST, PER_LETTER * text.length)));
}

/** Takes the sentence away; returns whether there was one. */
export function hush(): boolean {
  const toast = byId("toast");
  const stood = !toast.hidden;
  toast.hidden = true;
  return stood;
}
