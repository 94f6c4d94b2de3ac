import { GatewayError, type LimitHolder, type LimitReason } from "../../errors.ts";
import { holderOf } from "../holders.ts";
import type { Meter } from "./meter.ts";

/** A holder's limits and its meter. 0 means no limit. */
export type HolderLimits = {
  /** The ID of the key or the user, or `gateway`. */
  id: string;
  holder: LimitHolder;
  meter: Meter;
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrentRequests: number;
};

export type LimitKind = "concurrent" | "requests" | "tokens";

/** The estimated tokens of a request. `total` includes the probable output. */
export type TokenEstimate = Readonly<{ input: number; total: number }>;

/**
 * Throws the error of the first limit that the request would exceed. Returns whether it must wait for the tokens that
 * requests in flight reserve. A request that has the limit to itself needs room for its input only.
 * @param sharedBy the number of processes that divide the per-minute limits. 1 while the use of all processes is
 * known.
 */
export function checkLimits(
  limits: HolderLimits,
  { input: tokens, total }: TokenEstimate,
  now: number,
  sharedBy = 1,
): boolean {
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
  if (tokensPerMinute === 0) return false;
  const used = meter.tokens.used(second);
  const reserved = meter.reserved.used(second);
  if (hasRoom(limits, used, reserved > 0 ? total : tokens)) {
    const isWithinShare = sharedBy === 1 || meter.tokens.ownUsed(second) < tokensPerMinute / sharedBy;
    if (isWithinShare) return false;
    throw refuse("tokens", second + 1, used);
  }
  if (reserved > 0 && hasRoom(limits, used - reserved, tokens)) return true;
  throw refuse("tokens", meter.tokens.freeAt(second, tokensPerMinute - Math.max(tokens, 1)), used);
}

function hasRoom({ tokensPerMinute }: HolderLimits, used: number, tokens: number): boolean {
  return used + tokens <= tokensPerMinute && used < tokensPerMinute;
}

/** The response to a request that waited for tokens without success. */
export function refusalOfTokens(
  limits: HolderLimits,
  { input, total }: TokenEstimate,
  now: number,
): GatewayError {
  const { tokens: minute } = limits.meter;
  const second = Math.floor(now / 1000);
  const freeAt = minute.freeAt(second, Math.max(0, limits.tokensPerMinute - Math.max(total, 1)));
  return refusalOf(limits, "tokens", {
    tokens: input,
    usedTokens: minute.used(second),
    waitMs: freeAt * 1000 - now,
  });
}

/** Throws if the request alone exceeds the tokens per minute, because waiting would not help. */
export function checkSize({ holder, tokensPerMinute }: HolderLimits, tokens: number): void {
  if (tokensPerMinute === 0 || tokens <= tokensPerMinute) return;
  const message = `The request is too large for ${holderOf(holder).words}: about ${tokens} input tokens, with a limit of ${tokensPerMinute} tokens per minute. Send less, or ask for a higher limit.`;
  const details = { isFinal: true, limitedBy: holder, reason: reasons.tokens };
  throw new GatewayError("token_limit_exceeded", message, details);
}

/** @param waitMs the time until the limit admits the request, or 0 if unknown */
export function refusalOf(
  { holder, requestsPerMinute, tokensPerMinute, concurrentRequests }: HolderLimits,
  kind: LimitKind,
  { tokens, usedTokens, waitMs }: { tokens: number; usedTokens: number; waitMs: number },
): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const details = { retryAfterSeconds, limitedBy: holder, reason: reasons[kind] };
  const reached = `Rate limit reached for ${holderOf(holder).words}:`;
  const again = `Retry in ${retryAfterSeconds} s.`;
  if (kind === "concurrent") {
    const message = `${reached} ${concurrentRequests} concurrent requests. Retry when one of them has finished.`;
    return new GatewayError("concurrency_limit_exceeded", message, details);
  }
  if (kind === "requests") {
    const message = `${reached} ${requestsPerMinute} requests per minute. ${again}`;
    return new GatewayError("rate_limit_exceeded", message, details);
  }
  const message = `${reached} ${tokensPerMinute} tokens per minute (used ${Math.round(usedTokens)}, requested about ${tokens}). ${again}`;
  return new GatewayError("token_limit_exceeded", message, details);
}

const reasons: Record<LimitKind, LimitReason> = {
  concurrent: "concurrent_requests",
  requests: "requests_per_minute",
  tokens: "tokens_per_minute",
};

/** The counts of all processes together, in Valkey. */
export type ExactCounts = {
  readonly isThere: boolean;
  /** False while the counts may lack admissions of the last minute. */
  readonly knowsAll: boolean;
  /**
   * Null if Valkey does not respond.
   * @param input the part of the tokens that needs room even if nothing is in flight
   */
  reserve(
    holders: readonly HolderLimits[],
    tokens: number,
    input?: number,
  ): Promise<UsedReservation | ExactRefusal | null>;
  /** The reservation of a request that was admitted without these counts. */
  assumeAdmitted(holders: readonly HolderLimits[]): Reservation;
};

/** A holder's use of its per-minute limits, in all processes. */
export type HolderUse = { requests: number; tokens: number };

/** The reservation of an admitted request. Either `end` or `undo` runs, once. */
export type Reservation = {
  /** @param tokens the actual tokens minus the estimate */
  end(tokens: number): void;
  /** Releases the reservation of a request that did not start. */
  undo(): void;
};

export type UsedReservation = Reservation & { used: HolderUse[] };

/**
 * A rejection by the shared counts. It reserves nothing. `waitsFor` is the holder whose requests in flight may
 * return enough tokens, or null.
 */
export type ExactRefusal = { used: HolderUse[]; error: GatewayError; waitsFor: HolderLimits | null };
