/**
 * Yields copies of a JSON value with one value replaced by one of the texts, which may be invalid JSON.
 * Replaces only one of several equivalent values, such as the members of list items.
 */
export function* spoilJson(json: unknown, texts: readonly string[]): Generator<string> {
  const marks = new Map<string, string>();
  mark(json, "", (place, marked) => marks.has(place) || marks.set(place, JSON.stringify(marked())));
  for (const marked of marks.values())
    for (const text of texts) yield marked.replace(`"${spot}"`, () => text);
}

/** Calls `found` for this value and each value in it. `marked` returns the whole JSON value with a mark there. */
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
