/**
 * The probable costs of requests in flight, in nano-dollars, by the ID of the budget's holder. They are in memory
 * only, so that a restart has none.
 */
export class Reservations {
  readonly #sums = new Map<string, number>();

  /** The number of holders with a reservation. */
  get size(): number {
    return this.#sums.size;
  }

  of(id: string): number {
    return this.#sums.get(id) ?? 0;
  }

  /** Returns a function that ends the reservation. Its further calls have no effect. */
  add(ids: readonly string[], cost: number): () => void {
    for (const id of ids) this.#sums.set(id, this.of(id) + cost);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const id of ids) {
        const left = this.of(id) - cost;
        if (left > 0) this.#sums.set(id, left);
        else this.#sums.delete(id);
      }
    };
  }
}
