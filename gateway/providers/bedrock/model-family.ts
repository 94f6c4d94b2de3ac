import { isObject } from "../../wire/json.ts";
import { type ClaudeTraits, findClaudeTraits } from "../claude-models.ts";
import type { CachePointBlock } from "./converse-request.ts";

/** The model's family, which determines the parameters that Converse accepts. */
export type ModelFamily = {
  name: "claude" | "nova" | "gpt" | "gpt-oss" | "mistral" | "other";
  /** Null for other models than Claude. */
  claude: ClaudeTraits | null;
  /** Whether the model is Nova 2 or later. */
  isNova2: boolean;
};

/**
 * The ARN of an application inference profile hides the model, so the request contains only common parameters.
 * @param modelName the ID of a model or inference profile (`us.anthropic.…`), or a profile's ARN
 */
export function findModelFamily(modelName: string): ModelFamily {
  const family = { claude: null, isNova2: false };
  if (modelName.includes("anthropic.")) {
    return { ...family, name: "claude", claude: findClaudeTraits(modelName) };
  }
  if (modelName.includes("amazon.nova"))
    return { ...family, name: "nova", isNova2: modelName.includes("amazon.nova-2") };
  if (modelName.includes("openai.gpt-oss")) return { ...family, name: "gpt-oss" };
  if (modelName.includes("openai.")) return { ...family, name: "gpt" };
  return { ...family, name: modelName.includes("mistral.") ? "mistral" : "other" };
}

/**
 * Converts `cache_control` to a cache point. Models without cache points get none, which changes only the cost.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html#prompt-caching-models
 */
export function cachePointAfter(
  holder: Record<string, unknown>,
  { name, claude }: ModelFamily,
  place: "messages" | "tools" = "messages",
): CachePointBlock[] {
  const control = holder["cache_control"];
  const isTaken = name === "claude" || (name === "nova" && place === "messages");
  if (!isTaken || !isObject(control)) return [];
  const { ttl } = control;
  const takesTtl = claude?.takesTtlOnBedrock === true;
  const isTtl = ttl === "5m" || ttl === "1h";
  return [{ cachePoint: { type: "default", ttl: takesTtl && isTtl ? ttl : undefined } }];
}
