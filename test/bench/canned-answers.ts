export const upstreamModel = "upstream-model";

const identity = (object: string, model: string) => ({
  id: "chatcmpl-C9xQ2mTzVd4Lr8sYb1HnKf6Wg3JpE",
  object,
  created: 1_793_600_000,
  model,
  system_fingerprint: "fp_44709d6fcb",
});

const usage = {
  prompt_tokens: 219,
  completion_tokens: 50,
  total_tokens: 269,
  prompt_tokens_details: { cached_tokens: 128, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};

/** Returns a complete response. It has 1,024 bytes with the upstream's model name. */
export function cannedAnswer(model: string): string {
  return answerOf(model, answerText);
}

function answerOf(model: string, content: string): string {
  return JSON.stringify({
    ...identity("chat.completion", model),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage,
    service_tier: "default",
  });
}

/**
 * Returns a stream: 50 events with text, one with the finish reason, one with the usage, then `[DONE]`. When the usage
 * is requested, OpenAI sends `"usage":null` in all other chunks.
 */
export function cannedEvents(model: string): { chunks: string[]; usage: string; done: string } {
  const event = (choices: object[], counts: object | null) =>
    `data: ${JSON.stringify({ ...identity("chat.completion.chunk", model), choices, usage: counts })}\n\n`;
  const choice = (delta: object, finishReason: string | null) => [
    { index: 0, delta, logprobs: null, finish_reason: finishReason },
  ];
  const text = streamedText.map((content) => event(choice({ content }, null), null));
  return {
    chunks: [...text, event(choice({}, "stop"), null)],
    usage: event([], usage),
    done: "data: [DONE]\n\n",
  };
}

const sentence =
  "The ferry leaves at seven, so there is time for a walk along the harbour, a coffee where the fishermen have theirs, and a look at the old lighthouse. ";

export const answerText = sentence.repeat(20).slice(0, 1024 - answerOf(upstreamModel, "").length);

export const streamedText =
  sentence
    .repeat(5)
    .match(/\s?\S+/g)
    ?.slice(0, 50) ?? [];
