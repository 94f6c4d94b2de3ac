import { isObject } from "../../wire/json.ts";

/** The valid log probabilities of a choice's tokens, in OpenAI's format. */
export function formatLogprobs(logprobs: unknown): object[] {
  const tokens = isObject(logprobs) ? logprobs["content"] : null;
  return toList(tokens).flatMap((token) => {
    const known = formatToken(token);
    if (known === null || !isObject(token)) return [];
    return [
      { ...known, top_logprobs: toList(token["top_logprobs"]).flatMap((top) => formatToken(top) ?? []) },
    ];
  });
}

function formatToken(value: unknown): { token: string; logprob: number; bytes: number[] } | null {
  if (!isObject(value)) return null;
  const { token, logprob, bytes } = value;
  if (typeof token !== "string" || typeof logprob !== "number") return null;
  return { token, logprob, bytes: toList(bytes).filter((byte): byte is number => Number.isInteger(byte)) };
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
