import { isObject } from "../../wire/chat-completion.ts";

/** Probabilities in OpenAI's form; null where there are none. https://ai.google.dev/api/generate-content#LogprobsResult */
export function readLogprobs(result: unknown): object | null {
  const chosen = isObject(result) ? result["chosenCandidates"] : null;
  if (!isObject(result) || !Array.isArray(chosen)) return null;
  const { topCandidates: steps } = result;
  const content = chosen.map((token: unknown, index) => ({
    ...readToken(token),
    top_logprobs: readTop(Array.isArray(steps) ? steps[index] : null),
  }));
  return { content, refusal: null };
}

function readTop(step: unknown): TokenLogprob[] {
  const candidates = isObject(step) ? step["candidates"] : null;
  return Array.isArray(candidates) ? candidates.map(readToken) : [];
}

type TokenLogprob = { token: string; logprob: number; bytes: number[] };

/** A probability of 0 is left out, as every 0 is in Google's JSON. */
function readToken(value: unknown): TokenLogprob {
  const { token, logProbability } = isObject(value) ? value : {};
  const text = typeof token === "string" ? token : "";
  const logprob = typeof logProbability === "number" ? logProbability : 0;
  return { token: text, logprob, bytes: [...Buffer.from(text)] };
}
