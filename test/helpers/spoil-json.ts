/**
 * Yields copies of a JSON value in which one of the texts, valid JSON or not, replaces one value. Of the values at
 * the same path in a list's items, only the first is replaced.
 */
export function* spoilJson(json: unknown, texts: readonly string[]): Generator<string> {
  const marks = new Map<string, string>();
  mark(json, "", (place, marked) => marks.has(place) || marks.set(place, JSON.stringify(marked())));
  for (const marked of marks.values())
    for (const text of texts) yield marked.replace(`"${spot}"`, () => text);
}

/** Calls `found` for `json` and each value inside it. `marked` returns `json` with a mark instead of that value. */
function mark(json: unknown, place: string, found: (place: string, marked: () => unknown) => void): void {
  found(place, () => spot);
  if (Array.isArray(json)) {
    for (const [index, item] of (json as unknown[]).entries())
      mark(item, `${place}[]`, (at, marked) => found(at, () => json.with(index, marked())));
  } else if (typeof json === "object" && json !== null) {
    for (const [name, member] of Object.entries(json))
      mark(member, `${place}.${name}`, (at, marked) => found(at, () => ({ ...json, [name]: marked() })));
  }
}

const spot = "the place that is spoilt";
