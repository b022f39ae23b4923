/** The name that somebody probably meant. */

/** What is wrong with a name that does not exist, with the nearest that does. */
export function unknown(what: string, name: string, known: string[]): string {
  const near = nearest(name.toLowerCase(), known);
  return `unknown ${what} "${shown(name)}": ${near === undefined ? "" : `did you mean "${near}"? `}known: ${known.join(", ")}`;
}

/** As much of a name as shows which one is meant: an address may hold any text. */
function shown(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

/** The known name to which the fewest letters have to be changed, if no more than a third of them are. */
export function nearest(name: string, known: string[]): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3));
  // A long text is no mistyped name, and would be slow to compare.
  if (limit > 20) return undefined;
  const near = known.map((candidate) => ({ candidate, distance: editDistance(name, candidate) })).filter(({ distance }) => distance <= limit);
  return near.sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Letters to insert, delete, replace or swap with their neighbour to make `b` of `a` (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + Number(a[i - 1] !== b[j - 1]);
      rows[i][j] = Math.min(replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
