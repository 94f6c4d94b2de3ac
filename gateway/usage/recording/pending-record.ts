import type { Log } from "../../log.ts";
import type { UsageRecord } from "./record-format.ts";
import type { StartedRequest } from "./started-requests.ts";

/** The record of a request that is over, on its way to safety, and what waits for that. */
export class PendingRecord {
  readonly record: UsageRecord;
  readonly started: StartedRequest | null;
  readonly #proceed: () => void;
  readonly #log: Log;
  #hasProceeded = false;

  constructor(record: UsageRecord, started: StartedRequest | null, proceed: () => void, log: Log) {
    this.record = record;
    this.started = started;
    this.#proceed = proceed;
    this.#log = log;
  }

  get hasProceeded(): boolean {
    return this.#hasProceeded;
  }

  /** Once. A mistake in one answer must not reach the others that wait with it. */
  proceed(): void {
    if (this.#hasProceeded) return;
    this.#hasProceeded = true;
    try {
      this.#proceed();
    } catch (error) {
      this.#log.error({ requestId: this.record.id, error }, "an answer could not be ended");
    }
  }
}
