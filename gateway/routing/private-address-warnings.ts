import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";
import { type AddressGuard, hostAndPortOf } from "../upstream/address-guard.ts";
import type { CatalogueModel } from "./catalogue.ts";
import { howToAllow } from "../upstream/upstream-failure.ts";
import type { Candidate } from "./candidate.ts";

type PrivateAddressWarningsOptions = { log: Log; guard: AddressGuard };

/** Logs a warning for each provider whose private address is blocked. Repeats the warning only for a new address. */
export class PrivateAddressWarnings {
  readonly #options: PrivateAddressWarningsOptions;
  /** The origin in the last warning about each provider, by provider ID. */
  readonly #warned = new Map<string, string>();

  constructor(options: PrivateAddressWarningsOptions) {
    this.#options = options;
  }

  /** Checks only addresses that need no DNS lookup, because DNS may be slow. */
  warnAtStart(models: Iterable<CatalogueModel>): void {
    for (const { candidates } of models) {
      for (const candidate of candidates.flat()) {
        const { target } = candidate;
        if (target instanceof GatewayError) continue;
        if (this.#options.guard.refusesAtSight(new URL(target.chat.endpoint.origin))) this.warn(candidate);
      }
    }
  }

  warn({ providerId, providerName, target }: Candidate): void {
    if (target instanceof GatewayError) return;
    const { origin } = target.chat.endpoint;
    if (this.#warned.get(providerId) === origin) return;
    this.#warned.set(providerId, origin);
    const address = hostAndPortOf(new URL(origin));
    this.#options.log.warn(
      { provider: providerName, address },
      `the provider's address is private, so requests to it are blocked. ${howToAllow(address)}`,
    );
  }
}
