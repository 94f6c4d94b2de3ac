import { type Answer, type Asked, countCalls, type VendorForm } from "./native-upstream.ts";
import { readGenerateRequest } from "./gemini-request.ts";
import { sealThought } from "./thought-seal.ts";
import { demand, type RefusalReason, VendorRefusal } from "./vendor-refusal.ts";

/**
 * The Gemini API, generateContent and streamGenerateContent. https://ai.google.dev/api/generate-content
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function geminiForm({ name, generation }: GeminiModel): VendorForm {
  const credential = "AIzaSyA0123456789abcdefghijklmnopqrstu";
  return {
    kind: "gemini",
    credential,
    model: name,
    baseUrl: (origin) => `${origin}/v1beta`,

    read(request) {
      const { method, headers } = request;
      const { pathname, searchParams } = new URL(request.url, "http://upstream");
      const operation = pathname.replace(`/v1beta/models/${name}:`, "");
      const stream = operation === "streamGenerateContent";
      if (method !== "POST" || (!stream && operation !== "generateContent")) {
        throw new VendorRefusal("not found", `${pathname} is not found for API version v1beta.`);
      }
      if ((headers["x-goog-api-key"] ?? searchParams.get("key")) !== credential) {
        throw new VendorRefusal("unauthenticated", "API key not valid. Please pass a valid API key.");
      }
      demand(!stream || searchParams.get("alt") === "sse", "Without alt=sse the answer is one JSON array.");
      return readGenerateRequest(request, stream, generation);
    },

    answer: (answer, asked) => ({
      candidates: [
        {
          ...withContent(answerParts(answer, asked, generation)),
          finishReason: finishReasons[answer.finish],
          index: 0,
        },
      ],
      usageMetadata: usageMetadata(answer, answer.usage.output),
      ...identity(name),
    }),

    streamContentType: "text/event-stream",

    streamStart: (answer, asked) =>
      inEvents(answerParts(answer, asked, generation), generation).map((parts, at) =>
        toEvent({
          candidates: [{ ...withContent(parts), index: 0 }],
          usageMetadata: usageMetadata(answer, at + 1),
          ...identity(name),
        }),
      ),

    /** The finish reason comes with an empty part. A blocked response has no part. */
    streamEnd(answer) {
      const signature =
        generation === 3 && answer.calls.length === 0 ? { thoughtSignature: sealThought("") } : {};
      const parts = answer.finish === "content_filter" ? [] : [{ text: "", ...signature }];
      const finishReason = finishReasons[answer.finish];
      return [
        toEvent({
          candidates: [{ ...withContent(parts), finishReason, index: 0 }],
          usageMetadata: usageMetadata(answer, answer.usage.output),
          ...identity(name),
        }),
      ];
    },

    streamError: (message) => toEvent({ error: { code: 503, message, status: "UNAVAILABLE" } }),

    refuse({ reason, message }) {
      const { code, status, details } = refusals[reason];
      return { status: code, body: { error: { code, message, status, ...(details && { details }) } } };
    },
  };
}

type GeminiModel = { name: string; generation: 2 | 3 };

/** Only the details distinguish an invalid key from an invalid request. */
const refusals: Record<RefusalReason, { code: number; status: string; details?: object[] }> = {
  invalid: { code: 400, status: "INVALID_ARGUMENT" },
  unauthenticated: {
    code: 400,
    status: "INVALID_ARGUMENT",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
        metadata: { service: "generativelanguage.googleapis.com" },
      },
    ],
  },
  "rate limited": {
    code: 429,
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "41s" }],
  },
  "not found": { code: 404, status: "NOT_FOUND" },
  overloaded: { code: 503, status: "UNAVAILABLE" },
};

/** A function call and a text share a finish reason. */
const finishReasons: Record<Answer["finish"], string> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
};

/** Of the calls, only the first carries a seal. Gemini 2.5 sends it only if the request enables thoughts. */
function answerParts({ thoughts, text, calls }: Answer, asked: Asked, generation: 2 | 3): object[] {
  const isSealed = generation === 3 || asked.isThinking;
  return [
    ...thoughts.map((thought) => ({ text: thought, thought: true })),
    ...text.map((piece) => ({ text: piece })),
    ...calls.map(({ name, input }, at) => ({
      functionCall: {
        name,
        args: input,
        ...(generation === 3 && { id: `8f2b1a3${countCalls(asked.turns) + at}` }),
      },
      ...(at === 0 && isSealed && { thoughtSignature: sealThought(thoughts.join("")) }),
    })),
  ];
}

/** Gemini 2.5 sends parallel calls in one event, and Gemini 3 sends them one by one. */
function inEvents(parts: object[], generation: 2 | 3): object[][] {
  const areCalls = (part: object) => generation === 2 && "functionCall" in part;
  const events = parts.filter((part) => !areCalls(part)).map((part) => [part]);
  const calls = parts.filter(areCalls);
  return calls.length === 0 ? events : [...events, calls];
}

function withContent(parts: object[]): object {
  return parts.length === 0 ? {} : { content: { parts, role: "model" } };
}

/** Prompt tokens include cached tokens, and candidate tokens exclude thoughts. `output` grows during a stream. */
function usageMetadata({ usage: { input, cached, thinking } }: Answer, output: number): object {
  return {
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: Math.max(output - thinking, 1),
    totalTokenCount: input + Math.max(output, thinking + 1),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: input }],
    ...(thinking > 0 && { thoughtsTokenCount: thinking }),
  };
}

function identity(model: string): object {
  return { modelVersion: model, responseId: "mAgfafzRHqmOvdIP4Jq2uAI" };
}

function toEvent(data: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(data)}\r\n\r\n`);
}
