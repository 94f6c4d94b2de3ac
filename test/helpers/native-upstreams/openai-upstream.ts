import type { SeenRequest } from "../scripted-upstream.ts";
import { readOpenAiRequest } from "./openai-request.ts";
import { type Answer, type Asked, countCalls, type VendorForm } from "./native-upstream.ts";
import { type Fields, type RefusalReason, VendorRefusal } from "./vendor-refusal.ts";

/**
 * OpenAI's chat completions, with `reasoning_content` as DeepSeek and vLLM add it. OpenAI hides thoughts.
 * https://platform.openai.com/docs/api-reference/chat https://api-docs.deepseek.com/guides/thinking_mode
 */
export const openAiForm: VendorForm = {
  kind: "openai-compatible",
  credential: "sk-proj-0123456789abcdefghijklmnop",
  model: "gpt-oss-120b",
  baseUrl: (origin) => `${origin}/v1`,

  read(request) {
    checkOpenAiCall(request, "/v1/chat/completions");
    return readOpenAiRequest(request, openAiForm.model);
  },

  answer: (answer, asked) => buildCompletion(answer, asked),
  streamContentType: "text/event-stream; charset=utf-8",
  streamStart: (answer, asked) => buildContentChunks(answer, asked).map(toEvent),
  streamEnd: (answer, asked) => [...buildLastChunks(answer, asked).map(toEvent), doneEvent],
  streamError: (message) =>
    toEvent({ error: { message, type: "server_error", param: null, code: "server_error" } }),

  refuse({ reason, message }) {
    const { status, type, code } = refusals[reason];
    return { status, body: { error: { message, type, param: null, code } } };
  },
};

export function checkOpenAiCall({ method, url, headers }: SeenRequest, path: string): void {
  if (method !== "POST" || url !== path) {
    throw new VendorRefusal("not found", `Invalid URL (${method} ${url})`);
  }
  if (headers.authorization !== `Bearer ${openAiForm.credential}`) {
    throw new VendorRefusal("unauthenticated", "Incorrect API key provided.");
  }
}

const refusals: Record<RefusalReason, { status: number; type: string; code: string | null }> = {
  invalid: { status: 400, type: "invalid_request_error", code: null },
  unauthenticated: { status: 401, type: "invalid_request_error", code: "invalid_api_key" },
  "rate limited": { status: 429, type: "requests", code: "rate_limit_exceeded" },
  "not found": { status: 404, type: "invalid_request_error", code: "model_not_found" },
  overloaded: { status: 503, type: "server_error", code: null },
};

export function buildCompletion(answer: Answer, asked: Asked): Fields {
  const { thoughts, text, calls, finish } = answer;
  const message = {
    role: "assistant",
    content: text.length === 0 ? null : text.join(""),
    refusal: null,
    annotations: [],
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("") }),
    ...(calls.length > 0 && { tool_calls: calls.map((_, at) => buildToolCall(answer, asked, at)) }),
  };
  return {
    ...identity("chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: buildUsage(answer),
  };
}

export function buildContentChunks(answer: Answer, asked: Asked): Fields[] {
  const { thoughts, text, calls } = answer;
  const deltas = [
    { role: "assistant", content: "", refusal: null },
    ...thoughts.map((thought) => ({ content: null, reasoning_content: thought })),
    ...text.map((content) => ({ content })),
    ...calls.flatMap((_, index) => {
      const {
        id,
        type,
        function: { name, arguments: input },
      } = buildToolCall(answer, asked, index);
      const pieces = [input.slice(0, 3), input.slice(3)].filter(Boolean);
      return [
        { tool_calls: [{ index, id, type, function: { name, arguments: "" } }] },
        ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ];
    }),
  ];
  return deltas.map((delta) => buildChunk(asked, [{ index: 0, delta, logprobs: null, finish_reason: null }]));
}

export function buildLastChunks(answer: Answer, asked: Asked): Fields[] {
  const last = buildChunk(asked, [{ index: 0, delta: {}, logprobs: null, finish_reason: answer.finish }]);
  return asked.includesUsage ? [last, { ...buildChunk(asked, []), usage: buildUsage(answer) }] : [last];
}

function buildChunk(asked: Asked, choices: object[]): Fields {
  const usage = asked.includesUsage ? { usage: null } : {};
  return { ...identity("chat.completion.chunk"), choices, ...usage, obfuscation: "x7Kq" };
}

function identity(object: string): Fields {
  return {
    id: "chatcmpl-D0v3kPzR5mYw8",
    object,
    created: 1763700000,
    model: "openai/gpt-oss-120b",
    service_tier: "default",
    system_fingerprint: null,
  };
}

function buildToolCall({ calls }: Answer, asked: Asked, at: number) {
  return {
    id: `call_AbCdEfGhIjKlMnOpQrStUv${countCalls(asked.turns) + at}`,
    type: "function",
    function: { name: calls[at]?.name ?? "", arguments: JSON.stringify(calls[at]?.input) },
  };
}

function buildUsage({ usage: { input, cached, output, thinking } }: Answer): object {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: thinking,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

export function toEvent(data: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
}

export const doneEvent = Buffer.from("data: [DONE]\n\n");
