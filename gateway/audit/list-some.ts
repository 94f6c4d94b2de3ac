/** The first items of a list and its length, for an audit entry. */
export function listSome(items: readonly string[]): { count: number; items: readonly string[] } {
  return { count: items.length, items: items.slice(0, itemsMax) };
}

const itemsMax = 50;
