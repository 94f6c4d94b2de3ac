import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";
import { type AddressGuard, hostAndPortOf } from "../upstream/address-guard.ts";
import type { CatalogueModel } from "./catalogue.ts";
import { howToAllow } from "../upstream/explain-failure.ts";
import type { Candidate } from "./candidate.ts";

type PrivateAddressWarningsOptions = { log: Log; guard: AddressGuard };

/**
 * Says in the log which providers are not called because their addresses are private, and what would allow it: who started
 * the gateway without it may never look at the provider's page. Once for each provider and place.
 */
export class PrivateAddressWarnings {
  readonly #options: PrivateAddressWarningsOptions;
  /** Where each provider was when it was told of, by its id. */
  readonly #told = new Map<string, string>();

  constructor(options: PrivateAddressWarningsOptions) {
    this.#options = options;
  }

  /** Of models as the gateway starts, as far as it can be told without asking a name server: that may take long. */
  warnAtStart(models: Iterable<CatalogueModel>): void {
    for (const { candidates } of models) {
      for (const candidate of candidates.flat()) {
        const { target } = candidate;
        if (target instanceof GatewayError) continue;
        if (this.#options.guard.refusesAtSight(new URL(target.chat.endpoint.origin))) this.warn(candidate);
      }
    }
  }

  /** The way was refused for its address. */
  warn({ providerId, providerName, target }: Candidate): void {
    if (target instanceof GatewayError) return;
    const { origin } = target.chat.endpoint;
    if (this.#told.get(providerId) === origin) return;
    this.#told.set(providerId, origin);
    const address = hostAndPortOf(new URL(origin));
    this.#options.log.warn(
      { provider: providerName, address },
      `a provider is not called, because its address is private. ${howToAllow(address)}`,
    );
  }
}
