import { GatewayError } from "../errors.ts";
import type { Meter } from "./meter.ts";

/** How much of something may be used, and how much is; 0 = as much as anybody likes. */
export type Scope = {
  meter: Meter;
  /** What is limited, in words. */
  subject: string;
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrentRequests: number;
};

/** Throws the error of the limit that a request would pass. */
export function checkScope(scope: Scope, tokens: number, now: number): void {
  const { meter, subject, requestsPerMinute, tokensPerMinute, concurrentRequests } = scope;
  if (concurrentRequests > 0 && meter.concurrent >= concurrentRequests) {
    const message = `Rate limit reached for ${subject}: ${concurrentRequests} requests at the same time. Try again when one of them is over.`;
    throw new GatewayError("concurrency_limit_exceeded", message, { retryAfterSeconds: 1 });
  }
  const second = Math.floor(now / 1000);
  if (requestsPerMinute > 0 && meter.requests.used(second) >= requestsPerMinute) {
    const freeAt = meter.requests.freeAt(second, requestsPerMinute - 1);
    throw reached("rate_limit_exceeded", `${subject}: ${requestsPerMinute} requests per minute`, freeAt, now);
  }
  if (tokensPerMinute === 0) return;
  if (tokens > tokensPerMinute) {
    const message = `The request is too large for ${subject}: it has about ${tokens} input tokens, and the limit is ${tokensPerMinute} tokens per minute. Send less.`;
    throw new GatewayError("token_limit_exceeded", message);
  }
  const used = meter.tokens.used(second);
  if (used + tokens <= tokensPerMinute && used < tokensPerMinute) return;
  const freeAt = meter.tokens.freeAt(second, tokensPerMinute - Math.max(tokens, 1));
  const limit = `${subject}: ${tokensPerMinute} tokens per minute, of which ${Math.round(used)} are used and about ${tokens} are asked for`;
  throw reached("token_limit_exceeded", limit, freeAt, now);
}

function reached(
  code: "rate_limit_exceeded" | "token_limit_exceeded",
  limit: string,
  freeAtSecond: number,
  now: number,
): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil((freeAtSecond * 1000 - now) / 1000));
  const message = `Rate limit reached for ${limit}. Try again in ${retryAfterSeconds} s.`;
  return new GatewayError(code, message, { retryAfterSeconds });
}
