import type { GatewayError } from "../../errors.ts";
import type { Scope } from "./scope.ts";

/** Counts for all processes together, such as in Valkey. */
export type ExactCounts = {
  readonly isThere: boolean;
  /** False while requests may be under way of which it does not know. */
  readonly knowsAll: boolean;
  /** Null when it does not answer. */
  take(scopes: readonly Scope[], tokens: number): Promise<ExactTake | ExactRefusal | null>;
  /** The place of a request that is let in without being counted there. */
  untold(scopes: readonly Scope[]): ExactPlace;
};

/** What of a scope's limits per minute is used, in all processes. */
export type ScopeUse = { requests: number; tokens: number };

/** The place of a request that is let in; it is ended once. */
export type ExactPlace = {
  /** @param tokens how many more it had than it was thought to have */
  end(tokens: number): void;
  /** It was not made after all. */
  undo(): void;
};

/** What was counted for it; of each scope what is used. */
export type ExactTake = ExactPlace & { used: ScopeUse[] };

/** Nothing was counted. */
export type ExactRefusal = { used: ScopeUse[]; error: GatewayError };
