import { resolveRoute } from "../routing/resolve-route.ts";
import type { Candidate } from "../routing/candidate.ts";
import { type Attempt, Attempts } from "../routing/attempts.ts";
import type { CompleteOptions } from "./complete-options.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Decides where a request goes and calls by whichever way answers. Throws a `GatewayError` for a request that cannot be
 * made, or not now.
 */
export function callModel(
  { catalogue, attempts, limiter, observer, privateAddressWarnings }: CompleteOptions,
  exchange: Exchange,
  slug: string,
  prepare: (candidate: Candidate) => Attempt,
): void {
  const route = resolveRoute(catalogue, exchange.key, slug);
  exchange.take(route);
  limiter.admit(exchange, () =>
    exchange.call(
      new Attempts(attempts, route.candidates, {
        prepare(candidate) {
          const attempt = prepare(candidate);
          exchange.noteAttempt(candidate);
          return attempt;
        },
        refused(candidate, { code, reason }) {
          exchange.observed?.callRefused(code);
          observer?.upstreamRefused(candidate.providerName, code);
          if (reason === "private_address") privateAddressWarnings.warn(candidate);
        },
      }),
    ),
  );
}
