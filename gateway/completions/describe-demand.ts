import type { Demand } from "../limits/rates/demand.ts";
import type { Route } from "../routing/catalogue.ts";
import { guessInputTokens } from "../usage/counting/guess-input-tokens.ts";

/** Describes the size and price of a request for the reservation of its cost. Null without a candidate. */
export function describeDemand(
  route: Route,
  body: Record<string, unknown>,
  bodyBytes: number,
): Demand | null {
  // The fallbacks' prices differ, but most requests do not need them.
  const candidate = route.candidates[0]?.[0];
  if (!candidate) return null;
  const isEmbedding = body["messages"] === undefined && candidate.prices.outputPrice === null;
  return {
    prices: candidate.prices,
    inputTokens: guessInputTokens(body, bodyBytes),
    outputTokensMax: isEmbedding ? 0 : readOutputMax(body),
  };
}

function readOutputMax(body: Record<string, unknown>): number | null {
  const limits = limitNames.map((name) => body[name]).filter((value) => typeof value === "number");
  if (limits.length === 0) return null;
  const choices = body["n"];
  return Math.min(...limits) * (typeof choices === "number" ? Math.max(1, choices) : 1);
}

const limitNames = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
