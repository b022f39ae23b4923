/** The command that repeats on the command line what the page shows. */

import type { Scenario } from "../library.ts";
import type { Settings } from "../run/types.ts";

/** What a copy of the scenario is saved as. */
export const COPY = "copied.toml";

/** A run of the first replication, whose fingerprint is that of the page. A scenario that is not of the library has to be copied: where
 * its file is and what was set when it was read is not known here. */
export function commandOf({ id }: Pick<Scenario, "id">, set: Settings): string {
  const settings = set.flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  const file = id ? [`scenarios/teaching/${id}.toml`, ...settings] : [COPY];
  return ["celltrain", "run", ...file, "--replications", "1", "--json"].map(quoted).join(" ");
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./=%:+-]+$/.test(word) && !word.startsWith("=") ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
