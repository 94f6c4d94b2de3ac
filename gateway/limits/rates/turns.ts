/** Waiting items of several keys. The keys take turns, so that a busy key cannot block the others. */
export class Turns<Item extends { readonly keyId: string }> {
  /** The items by key, in the order of turns. */
  readonly #waiting = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  countOf(keyId: string): number {
    return this.#waiting.get(keyId)?.length ?? 0;
  }

  add(item: Item): void {
    const queue = this.#waiting.get(item.keyId);
    if (queue) queue.push(item);
    else this.#waiting.set(item.keyId, [item]);
  }

  first(): Item | null {
    for (const [item] of this.#waiting.values()) return item ?? null;
    return null;
  }

  /** Removes the first item, and moves its key to the end of the order. */
  shift(): Item | null {
    for (const [keyId, queue] of this.#waiting) {
      const item = queue.shift();
      // Deleting and adding the key moves it to the end of the order.
      this.#waiting.delete(keyId);
      if (queue.length > 0) this.#waiting.set(keyId, queue);
      return item ?? null;
    }
    return null;
  }

  remove(item: Item): void {
    const queue = this.#waiting.get(item.keyId) ?? [];
    const index = queue.indexOf(item);
    if (index >= 0) queue.splice(index, 1);
    if (queue.length === 0) this.#waiting.delete(item.keyId);
  }
}
