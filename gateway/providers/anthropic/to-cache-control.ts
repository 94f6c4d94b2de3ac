import { expectObject, ifGiven } from "../../wire/expect-type.ts";
import type { CacheControl, ContentBlock } from "./messages-request.ts";
import { isThought } from "./reasoning-details.ts";

/**
 * The marker that ends a cached prefix, on parts, messages and tools.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function toCacheControl(
  marked: { [field: string]: unknown },
  param: string,
): CacheControl | undefined {
  return ifGiven(marked["cache_control"], `${param}.cache_control`, expectObject);
}

/** Moves a message's marker to its last block, unless that block has one. Thinking blocks cannot carry markers. */
export function withCacheControl<B extends ContentBlock>(
  blocks: B[],
  message: { [field: string]: unknown },
  param: string,
): B[] {
  const marker = toCacheControl(message, param);
  const last: ContentBlock | undefined = blocks.at(-1);
  if (marker && last && !isThought(last)) last.cache_control ??= marker;
  return blocks;
}
