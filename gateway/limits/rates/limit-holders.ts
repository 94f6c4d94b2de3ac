import type { Settings } from "../../config/limit-variables.ts";
import type { LimitHolder } from "../../errors.ts";
import type { EnforcedLimits } from "../key-limits.ts";
import type { HolderLimits } from "./holder-limits.ts";
import { Meter } from "./meter.ts";

export type LimitedKey = Readonly<{ id: string; ownerId: string | null; limits: EnforcedLimits | null }>;

/** The holders whose rates apply to a key, with their meters. */
export class LimitHolders {
  readonly #meters: Map<string, Meter>;
  readonly #limits: Settings;
  /** The limit holders of recently used keys, by key ID. */
  readonly #cached = new Map<string, KeyHolders>();

  constructor(meters: Map<string, Meter>, limits: Settings) {
    this.#meters = meters;
    this.#limits = limits;
  }

  of(key: LimitedKey): readonly HolderLimits[] {
    const known = this.#cached.get(key.id);
    if (known?.limits === key.limits && known.ownerId === key.ownerId) return known.holders;
    const holders = this.#listHolders(key);
    this.#cached.set(key.id, { limits: key.limits, ownerId: key.ownerId, holders });
    return holders;
  }

  #listHolders({ id, ownerId, limits: own }: LimitedKey): HolderLimits[] {
    const limits = this.#limits;
    const holders: HolderLimits[] = [];
    this.#addHolder(holders, id, "key", {
      requestsPerMinute: own?.requestsPerMinute ?? limits.keyRequestsPerMinuteMax,
      tokensPerMinute: own?.tokensPerMinute ?? limits.keyTokensPerMinuteMax,
      concurrentRequests: own?.concurrentRequests ?? limits.keyConcurrentRequestsMax,
    });
    if (ownerId !== null) {
      this.#addHolder(holders, ownerId, "person", {
        requestsPerMinute: limits.personRequestsPerMinuteMax,
        tokensPerMinute: limits.personTokensPerMinuteMax,
        concurrentRequests: limits.personConcurrentRequestsMax,
      });
    }
    this.#addHolder(holders, wholeGateway, "gateway", {
      requestsPerMinute: limits.gatewayRequestsPerMinuteMax,
      tokensPerMinute: limits.gatewayTokensPerMinuteMax,
      concurrentRequests: 0,
    });
    return holders;
  }

  #addHolder(
    holders: HolderLimits[],
    id: string,
    holder: LimitHolder,
    limits: Omit<HolderLimits, "id" | "meter" | "holder">,
  ): void {
    const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
    if (requestsPerMinute === 0 && tokensPerMinute === 0 && concurrentRequests === 0) return;
    let meter = this.#meters.get(id);
    if (!meter) this.#meters.set(id, (meter = new Meter()));
    holders.push({ id, holder, meter, requestsPerMinute, tokensPerMinute, concurrentRequests });
  }

  /** Cached holders would keep removed meters. */
  clear(): void {
    this.#cached.clear();
  }
}

/** The cached holders of a key, and the limits and owner that they were built from. */
type KeyHolders = Pick<LimitedKey, "limits" | "ownerId"> & { holders: readonly HolderLimits[] };

const wholeGateway = "gateway";
