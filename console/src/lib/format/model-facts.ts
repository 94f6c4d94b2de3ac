import { formatCompact, formatExactDollars } from "./numbers.ts";

export function formatPrice(dollars: number | null): string {
  return dollars === null ? "unknown" : formatExactDollars(dollars);
}

/** Returns text such as "128K context · $2.50 in · $10.00 out". */
export function describeFacts({ contextWindow, prices: { input, output } }: Facts): string {
  const size = contextWindow === null ? null : `${formatTokens(contextWindow)} context`;
  const isPriced = input !== null || output !== null;
  const cost = isPriced ? `${formatPrice(input)} in · ${formatPrice(output)} out` : null;
  if (size === null && cost === null) return "no context or price data";
  return `${size ?? "context unknown"} · ${cost ?? "prices unknown"}`;
}

type Facts = { contextWindow: number | null; prices: { input: number | null; output: number | null } };

/** Returns text such as "128K" or "1M". */
export function formatTokens(tokens: number | null): string {
  return tokens === null ? "unknown" : formatCompact(tokens);
}
