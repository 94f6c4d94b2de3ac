/** The beginning of a list that may be long, and how long it is: enough for an entry of the audit log. */
export function listSome(items: readonly string[]): { count: number; items: readonly string[] } {
  return { count: items.length, items: items.slice(0, itemsMax) };
}

const itemsMax = 50;
