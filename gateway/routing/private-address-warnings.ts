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
        const origin = originOf(candidate);
        if (origin && this.#options.guard.refusesAtSight(new URL(origin))) this.warn(candidate);
      }
    }
  }

  warn(candidate: Candidate): void {
    const { providerId, providerName } = candidate;
    const origin = originOf(candidate);
    if (!origin || this.#warned.get(providerId) === origin) return;
    this.#warned.set(providerId, origin);
    const address = hostAndPortOf(new URL(origin));
    this.#options.log.warn(
      { provider: providerName, address },
      `the provider's address is private, so requests to it are blocked. ${howToAllow(address)}`,
    );
  }
}

/** Undefined for a candidate that cannot be used. */
function originOf({ apis }: Candidate): string | undefined {
  return apis["chat/completions"]?.endpoint.origin;
}
