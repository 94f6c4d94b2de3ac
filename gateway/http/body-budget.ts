import { GatewayError } from "../errors.ts";

/**
 * Bounds the bytes of request bodies that this process holds at one time, from their first byte until their requests end.
 * One holder, such as an API key, may hold half of them, so that others still get in.
 */
export class BodyBudget {
  readonly #bytesMax: number;
  readonly #bytesByHolder = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Begins to count one body. Whoever calls it releases the body. */
  hold(holder: string): HeldBody {
    return new HeldBody(this, holder);
  }

  /** Throws `service_unavailable` where the bytes do not fit. */
  add(holder: string, bytes: number): void {
    const held = (this.#bytesByHolder.get(holder) ?? 0) + bytes;
    if (held > this.#bytesMax / 2 || this.#bytes + bytes > this.#bytesMax) throw bodiesInFlight();
    this.#bytesByHolder.set(holder, held);
    this.#bytes += bytes;
  }

  subtract(holder: string, bytes: number): void {
    const held = (this.#bytesByHolder.get(holder) ?? 0) - bytes;
    // A Map that is filled and emptied with every request keeps V8's garbage collector busy.
    if (held > 0 || this.#bytesByHolder.size <= holdersKept) this.#bytesByHolder.set(holder, held);
    else this.#bytesByHolder.delete(holder);
    this.#bytes -= bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }
}

/** The bytes of one body. */
export class HeldBody {
  readonly #budget: BodyBudget;
  readonly #holder: string;
  #bytes = 0;
  #isReleased = false;

  constructor(budget: BodyBudget, holder: string) {
    this.#budget = budget;
    this.#holder = holder;
  }

  /** Throws `service_unavailable` where the bytes do not fit, or the request has ended. */
  add(bytes: number): void {
    if (this.#isReleased) throw bodiesInFlight();
    this.#budget.add(this.#holder, bytes);
    this.#bytes += bytes;
  }

  /** Can be called again. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    if (this.#bytes > 0) this.#budget.subtract(this.#holder, this.#bytes);
  }
}

/** Holders that stay in the Map without bytes. */
const holdersKept = 1_000;

function bodiesInFlight(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "Too many bytes of request bodies are in flight. Wait for other requests to end, then retry.",
    { retryAfterSeconds: 1 },
  );
}
