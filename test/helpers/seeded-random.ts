/** Mulberry32. Its 32 bits of state are enough for test data. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const upTo = (most: number) => Math.floor(next() * (most + 1));
  return {
    upTo,
    chance: (probability) => next() < probability,
    pick: (items) => items[upTo(items.length - 1)] ?? items[0],
  };
}

/** Repeatable random choices, so that a failed run can be reproduced. */
export type SeededRandom = {
  /** Returns an integer from 0 to `most`. */
  upTo(most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
};

export function cutAnywhere(bytes: Buffer, random: SeededRandom, pieceBytesMax: number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + random.upTo(pieceBytesMax - 1);
    pieces.push(bytes.subarray(from, to));
    from = to;
  }
  return pieces.length > 0 ? pieces : [bytes];
}
