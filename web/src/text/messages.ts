/** What the engine says, in words for somebody who has a page and no command line. */

import type { Settings } from "../run/types.ts";

/** Without the option of the command line that the engine takes settings for, and with a way out where a file names another one. */
export function wordedForPage(message: string, set: Settings): string {
  const option = set.map(([key, value]) => `--set ${key}=${value}: `).find((start) => message.startsWith(start));
  const text = option === undefined ? message.replace(/^--set /, "") : message.slice(option.length);
  return text.replace(/^([^:]+)(.*) (".*"): cannot be read: .*$/s, "$1$2 $3 is another file, which the page does not see: `celltrain check --resolved $1` writes one file of both");
}
