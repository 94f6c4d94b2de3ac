import { isObject } from "../../wire/json.ts";
import type { CachePointBlock } from "./converse-request.ts";

/** The model's family, which determines the parameters that Converse accepts. */
export type ModelFamily = {
  name: "claude" | "nova" | "gpt" | "gpt-oss" | "mistral" | "other";
  /** The generation of Claude or Nova, such as 405 for 4.5. 0 for others. */
  version: number;
};

/**
 * The ARN of an application inference profile hides the model, so the request contains only common
 * parameters.
 * @param modelName the ID of a model or inference profile (`us.anthropic.…`), or a profile's ARN
 */
export function findModelFamily(modelName: string): ModelFamily {
  if (modelName.includes("anthropic.")) return { name: "claude", version: readClaudeVersion(modelName) };
  if (modelName.includes("amazon.nova-2")) return { name: "nova", version: 200 };
  if (modelName.includes("amazon.nova")) return { name: "nova", version: 100 };
  if (modelName.includes("openai.gpt-oss")) return { name: "gpt-oss", version: 0 };
  if (modelName.includes("openai.")) return { name: "gpt", version: 0 };
  return { name: modelName.includes("mistral.") ? "mistral" : "other", version: 0 };
}

/**
 * Parses claude-opus-4-20250514-v1:0, claude-3-7-sonnet-20250219-v1:0 and claude-v2:1. A name without a
 * number counts as new.
 */
function readClaudeVersion(modelName: string): number {
  const [, major, minor = "0"] = /claude-(?:[a-z]+-)?v?(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(modelName) ?? [];
  return major === undefined ? Infinity : Number(major) * 100 + Number(minor);
}

/**
 * Converts the `cache_control` of a message, part or tool to a cache point. Models without cache points get
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
