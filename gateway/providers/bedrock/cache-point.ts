import { isObject } from "../../wire/json.ts";
import type { CachePointBlock } from "./converse-request.ts";
import type { ModelFamily } from "./model-family.ts";

/**
 * Converts `cache_control` on a message, part or tool to a block after it. Models without such blocks get
 * none, which changes only the cost.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html#prompt-caching-models
 */
export function cachePointAfter(
  holder: Record<string, unknown>,
  { name, version }: ModelFamily,
  place: "messages" | "tools" = "messages",
): CachePointBlock[] {
  const control = holder["cache_control"];
  const isTaken = name === "claude" || (name === "nova" && place === "messages");
  if (!isTaken || !isObject(control)) return [];
  const { ttl } = control;
  const takesTtl = name === "claude" && version >= 405;
  const isTtl = ttl === "5m" || ttl === "1h";
  return [{ cachePoint: { type: "default", ttl: takesTtl && isTtl ? ttl : undefined } }];
}
