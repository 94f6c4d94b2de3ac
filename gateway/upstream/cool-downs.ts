/** Which credentials of which providers had better be left alone for a while, and until when. */
export class CoolDowns {
  readonly #now: () => number;
  readonly #until = new Map<string, number>();

  /** @param now milliseconds on a clock that only goes forward */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds until the way may be taken again; 0 when it may be now. */
  leftMs(way: CooledWay): number {
    if (this.#until.size === 0) return 0;
    const until = this.#until.get(nameOf(way));
    return until === undefined ? 0 : Math.max(0, until - this.#now());
  }

  /** Never shortens a cool-down that is on already. */
  start(way: CooledWay, ms: number): void {
    const now = this.#now();
    for (const [name, until] of this.#until) if (until <= now) this.#until.delete(name);
    const name = nameOf(way);
    this.#until.set(name, Math.max(this.#until.get(name) ?? 0, now + ms));
  }
}

type CooledWay = { providerId: string; credentialId: string | null };

function nameOf({ providerId, credentialId }: CooledWay): string {
  return `${providerId} ${credentialId ?? ""}`;
}
