import { GatewayError, type LimitHolder, type LimitReason } from "../../errors.ts";
import { holderNames } from "../key-limits.ts";
import type { Meter } from "./meter.ts";

/** The limits of one holder, and its meter; 0 = no limit. */
export type HolderLimits = {
  /** Of the key or the person, or `gateway`. */
  id: string;
  holder: LimitHolder;
  meter: Meter;
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrentRequests: number;
};

/** Which of a holder's limits a request would exceed. */
export type LimitKind = "concurrent" | "requests" | "tokens";

/**
 * Throws the error of the limit that a request would pass.
 * @param sharedBy how many processes divide the limits per minute among them, because none knows what the others do
 */
export function checkLimits(limits: HolderLimits, tokens: number, now: number, sharedBy = 1): void {
  const { meter, requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  if (concurrentRequests > 0 && meter.concurrent >= concurrentRequests) {
    throw refusalOf(limits, "concurrent", { tokens, usedTokens: 0, waitMs: 0 });
  }
  const second = Math.floor(now / 1000);
  const refuse = (kind: LimitKind, freeAtSecond: number, usedTokens = 0) =>
    refusalOf(limits, kind, { tokens, usedTokens, waitMs: freeAtSecond * 1000 - now });
  if (requestsPerMinute > 0 && meter.requests.used(second) >= requestsPerMinute) {
    throw refuse("requests", meter.requests.freeAt(second, requestsPerMinute - 1));
  }
  if (sharedBy > 1 && requestsPerMinute > 0) {
    if (meter.requests.ownUsed(second) >= requestsPerMinute / sharedBy) throw refuse("requests", second + 1);
  }
  if (tokensPerMinute === 0) return;
  const used = meter.tokens.used(second);
  if (used + tokens <= tokensPerMinute && used < tokensPerMinute) {
    const isWithinShare = sharedBy === 1 || meter.tokens.ownUsed(second) < tokensPerMinute / sharedBy;
    if (isWithinShare) return;
    throw refuse("tokens", second + 1, used);
  }
  throw refuse("tokens", meter.tokens.freeAt(second, tokensPerMinute - Math.max(tokens, 1)), used);
}

/** Throws for a request that has more tokens than may ever be used in a minute: no wait helps. */
export function checkSize({ holder, tokensPerMinute }: HolderLimits, tokens: number): void {
  if (tokensPerMinute === 0 || tokens <= tokensPerMinute) return;
  const message = `The request is too large for ${holderNames[holder]}: it has about ${tokens} input tokens, and the limit is ${tokensPerMinute} tokens per minute. Trying again will not help: send less, or ask for a higher limit.`;
  const details = { isFinal: true, limitedBy: holder, reason: reasons.tokens };
  throw new GatewayError("token_limit_exceeded", message, details);
}

/** @param waitMs when there will be room, as far as that is known now */
export function refusalOf(
  { holder, requestsPerMinute, tokensPerMinute, concurrentRequests }: HolderLimits,
  kind: LimitKind,
  { tokens, usedTokens, waitMs }: { tokens: number; usedTokens: number; waitMs: number },
): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const details = { retryAfterSeconds, limitedBy: holder, reason: reasons[kind] };
  const reached = `Rate limit reached for ${holderNames[holder]}:`;
  const again = `Try again in ${retryAfterSeconds} s.`;
  if (kind === "concurrent") {
    const message = `${reached} ${concurrentRequests} requests at the same time. Try again when one of them is over.`;
    return new GatewayError("concurrency_limit_exceeded", message, details);
  }
  if (kind === "requests") {
    const message = `${reached} ${requestsPerMinute} requests per minute. ${again}`;
    return new GatewayError("rate_limit_exceeded", message, details);
  }
  const message = `${reached} ${tokensPerMinute} tokens per minute, of which ${Math.round(usedTokens)} are used and about ${tokens} are asked for. ${again}`;
  return new GatewayError("token_limit_exceeded", message, details);
}

const reasons: Record<LimitKind, LimitReason> = {
  concurrent: "concurrent_requests",
  requests: "requests_per_minute",
  tokens: "tokens_per_minute",
};

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
