/** What comes with the page: scenarios and stories. */

import scenarios from "virtual:scenarios";
import stories from "virtual:stories";
import type { Settings } from "./run/types.ts";
import { unknown } from "./text/names.ts";

export interface Scenario {
  id: string;
  title: string;
  toml: string;
}

/** One stop of a guided tour: how the lab is set up, what is said, and what one button does. */
export interface Step {
  text: string;
  /** Where the run stands when the step begins, as in "39.4 ms". */
  at?: string;
  set?: Settings;
  /** The name of the port that is shown close up. */
  port?: string;
  /** The name of the flow that stands out. */
  focus?: string;
  /** The part of the strip that is seen. */
  zoom?: [string, string];
  /** What is set in a second run beside this one. */
  beside?: Settings;
  play?: { to: string; speed: string; label: string };
  /** What is said when it has been played. */
  then?: string;
  /** The measures that the texts tell of, for the test that they are true. */
  measured?: Record<"now" | "beside", Record<string, number>>;
}

export interface Story {
  id: string;
  title: string;
  order: number;
  scenario: string;
  steps: Step[];
}

export const library: Scenario[] = scenarios;
export const tours: Story[] = stories;

/** A scenario or a story by its name; an unknown one fails with a sentence. */
export function named<Kind extends { id: string }>(what: string, id: string, among: Kind[]): Kind {
  const found = among.find((one) => one.id === id);
  if (!found) throw new Error(unknown(what, id, among.map((one) => one.id)));
  return found;
}
