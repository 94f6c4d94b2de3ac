const waiting: (() => void)[] = [];

/**
 * Waits until other events had their turn. Each turn of the event loop lets one caller continue, so that many long
 * tasks together delay a stream no more than one.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueFirst);
  });
}

function continueFirst(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueFirst);
}

/** Yields the items, with a turn of the event loop before each part of them. */
export async function* inTurns<Item>(items: readonly Item[], itemsPerTurn: number): AsyncGenerator<Item> {
  for (let from = 0; from < items.length; from += itemsPerTurn) {
    await nextTurn();
    yield* items.slice(from, from + itemsPerTurn);
  }
}
