import type { GatewayError } from "../../errors.ts";
import type { HolderLimits } from "./holder-limits.ts";

/** Counts for all processes together, such as in Valkey. */
export type ExactCounts = {
  readonly isThere: boolean;
  /** False while requests may be under way of which it does not know. */
  readonly knowsAll: boolean;
  /** Null when it does not answer. */
  take(holders: readonly HolderLimits[], tokens: number): Promise<ExactTake | ExactRefusal | null>;
  /** The place of a request that is let in without being counted there. */
  untold(holders: readonly HolderLimits[]): ExactPlace;
};

/** What is used of a holder's limits per minute, in all processes. */
export type HolderUse = { requests: number; tokens: number };

/** The place of a request that is let in; it is ended once. */
export type ExactPlace = {
  /** @param tokens how many more it had than it was thought to have */
  end(tokens: number): void;
  /** It was not made after all. */
  undo(): void;
};

/** What was counted for it, and what each holder uses. */
export type ExactTake = ExactPlace & { used: HolderUse[] };

/** Nothing was counted. */
export type ExactRefusal = { used: HolderUse[]; error: GatewayError };
