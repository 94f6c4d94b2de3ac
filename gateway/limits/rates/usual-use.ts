import type { UsageRecord } from "../../usage/recording/spool.ts";
import { type Prices, toCost } from "../../usage/counting/cost.ts";

/** The average use of a key's recent requests. */
type Usual = {
  outputTokens: number;
  /** The share of input tokens that came from the provider's cache, from 0 to 1. */
  cachedShare: number;
};

/** The averages of recently used keys, for the estimate of a request's output and cost. */
export class UsualUse {
  /** The least recently used key comes first. */
  readonly #keys = new Map<string, Usual>();

  of(keyId: string): Readonly<Usual> {
    return this.#keys.get(keyId) ?? firstGuess;
  }

  /** Failed requests do not count, because their answers have no length. */
  learn(keyId: string, { status, inputTokens, outputTokens, cachedInputTokens }: LearnedRecord): void {
    if (status !== "SUCCEEDED" || outputTokens === null) return;
    const before = this.#keys.get(keyId);
    const cachedShare = inputTokens ? Math.min(1, (cachedInputTokens ?? 0) / inputTokens) : 0;
    this.#keys.delete(keyId);
    this.#keys.set(
      keyId,
      before ? mix(before, { outputTokens, cachedShare }) : { outputTokens, cachedShare },
    );
    if (this.#keys.size <= keysMax) return;
    const [oldest] = this.#keys.keys();
    if (oldest !== undefined) this.#keys.delete(oldest);
  }
}

type LearnedRecord = Pick<UsageRecord, "status" | "inputTokens" | "outputTokens" | "cachedInputTokens">;

function mix(before: Usual, now: Usual): Usual {
  return {
    outputTokens: before.outputTokens + (now.outputTokens - before.outputTokens) * newestShare,
    cachedShare: before.cachedShare + (now.cachedShare - before.cachedShare) * newestShare,
  };
}

/** Coding tools usually receive about this many tokens per request. */
const firstGuess: Usual = { outputTokens: 500, cachedShare: 0 };
/** The weight of the newest request, so that about ten requests count. */
const newestShare = 0.2;
const keysMax = 10_000;

/** The known properties of a request before its answer. */
export type Demand = Readonly<{
  prices: Prices;
  inputTokens: number;
  /** The maximum that the client allows. Null without a maximum. */
  outputTokensMax: number | null;
}>;

/** The probable cost in nano-dollars, counted as budgets count it. 0 for an unpriced model. */
export function estimateCost({ prices, inputTokens }: Demand, usual: Usual, now: number): number {
  const usage = {
    inputTokens,
    outputTokens: usual.outputTokens,
    cachedInputTokens: Math.round(inputTokens * usual.cachedShare),
    cacheWriteInputTokens: null,
    reasoningTokens: null,
  };
  const billing = { costSource: null, chargeFactor: 1, at: new Date(now) };
  const { cost, costDetails } = toCost(prices, usage, billing);
  return cost ?? costDetails?.least ?? 0;
}
