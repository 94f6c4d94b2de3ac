import { type GatewayError, toGatewayError } from "../../errors.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";
import type { Admission, QueueSlot } from "./admission.ts";
import type { HolderLimits, TokenEstimate } from "./holder-limits.ts";
import type { LimitedKey } from "./limit-holders.ts";
import type { Blocking, Waiter } from "./waiting-room.ts";

/** A request as the limiter sees it. */
export type Asking = {
  readonly key: LimitedKey;
  /** Runs before the decision, because a rejected request has an admission too. */
  admitting(admission: Admission): void;
  fail(error: GatewayError): void;
};

/** The part of `Budgets` that the limiter uses. Costs are in nano-dollars. */
export type LimitingBudgets = {
  applyTo(key: LimitedKey): boolean;
  check(key: LimitedKey): void;
  findBlocking(key: LimitedKey, cost: number, mustWait: (line: string) => boolean): Blocking | null;
  reserve(key: LimitedKey, cost: number): (() => void) | null;
  linesOf(key: LimitedKey): string[];
  spend(key: LimitedKey, record: UsageRecord): void;
};

/** A request and what it needs, until it is admitted or refused. */
export type Counting = {
  asking: Asking;
  admission: Admission;
  holders: readonly HolderLimits[];
  tokens: TokenEstimate;
  /** The probable cost in nano-dollars. 0 without a budget or a price. */
  cost: number;
  slot: QueueSlot;
  waiter: Waiter;
};

/** A queued request has no caller that catches its error. */
export function startSafely(asking: Asking, start: () => void): void {
  try {
    start();
  } catch (error) {
    asking.fail(toGatewayError(error));
  }
}

/** English prose and JSON have about four bytes per token. The real count follows when the request ends. */
export function estimateTokens(bodyBytes: number): number {
  return Math.ceil(bodyBytes / 4);
}

/** The name of the line in which requests wait for a holder's tokens. */
export const tokenLine = (id: string): string => `tokens ${id}`;
