import { frameAwsEvent } from "../frame-events.ts";
import type { SeenRequest } from "../scripted-upstream.ts";
import { readConverseRequest } from "./bedrock-request.ts";
import { type Answer, type Asked, countCalls, type VendorForm } from "./native-upstream.ts";
import { sha256, signedHeaderNames, signSigV4 } from "./sigv4-signature.ts";
import { sealThought } from "./thought-seal.ts";
import { type RefusalReason, VendorRefusal } from "./vendor-refusal.ts";

const credential = "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/** Claude Sonnet 4.5 on Bedrock, which thinks by a budget. */
export const bedrockForm = claudeOnBedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "by budget");

/** Claude Opus 5.5 on Bedrock, which starts every response with a thought, by default without the thought's text. */
export const bedrockOpus55Form = claudeOnBedrock("us.anthropic.claude-opus-5-5-v1", "always");

/**
 * Amazon Bedrock's Converse and ConverseStream with a Claude model.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
function claudeOnBedrock(name: string, thinking: "by budget" | "always"): VendorForm {
  return {
    kind: "bedrock",
    credential,
    model: name,
    baseUrl: (origin) => `${origin}?region=us-east-1`,

    read(request) {
      checkSignature(request);
      const [, model = "", operation] =
        /^\/model\/([^/]+)\/(converse|converse-stream)$/.exec(request.url) ?? [];
      if (request.method !== "POST" || operation === undefined) {
        throw new VendorRefusal("not found", "UnknownOperationException");
      }
      if (model !== encodeURIComponent(name)) {
        throw new VendorRefusal("invalid", "The provided model identifier is invalid.");
      }
      return readConverseRequest(request, operation === "converse-stream", thinking);
    },

    answer: (answer, asked) => ({
      metrics: { latencyMs: 551 },
      output: {
        message: { content: contentBlocks(answer, asked).map(({ whole }) => whole), role: "assistant" },
      },
      stopReason: stopReason(answer, asked),
      usage: toUsage(answer),
    }),

    streamContentType: "application/vnd.amazon.eventstream",

    streamStart: (answer, asked) => [
      toEvent("messageStart", { role: "assistant" }),
      ...contentBlocks(answer, asked).flatMap(({ start, deltas }, contentBlockIndex) => [
        ...(contentBlockIndex === 0
          ? []
          : [toEvent("contentBlockStop", { contentBlockIndex: contentBlockIndex - 1 })]),
        ...(start === null ? [] : [toEvent("contentBlockStart", { contentBlockIndex, start })]),
        ...deltas.map((delta) => toEvent("contentBlockDelta", { contentBlockIndex, delta })),
      ]),
    ],

    streamEnd(answer, asked) {
      const contentBlockIndex = contentBlocks(answer, asked).length - 1;
      return [
        ...(contentBlockIndex < 0 ? [] : [toEvent("contentBlockStop", { contentBlockIndex })]),
        toEvent("messageStop", { stopReason: stopReason(answer, asked) }),
        toEvent("metadata", { metrics: { latencyMs: 551 }, usage: toUsage(answer) }),
      ];
    },

    streamError: (message) =>
      frameAwsEvent("modelStreamErrorException", JSON.stringify({ message, originalStatusCode: 500 }), true),

    refuse({ reason, message }) {
      const { status, type } = refusals[reason];
      const headers = { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` };
      return { status, headers, body: { message } };
    },
  };
}

const refusals: Record<RefusalReason, { status: number; type: string }> = {
  invalid: { status: 400, type: "ValidationException" },
  unauthenticated: { status: 403, type: "UnrecognizedClientException" },
  "rate limited": { status: 429, type: "ThrottlingException" },
  "not found": { status: 404, type: "ResourceNotFoundException" },
  overloaded: { status: 503, type: "ServiceUnavailableException" },
};

/** The source of the errors is https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html */
function checkSignature(request: SeenRequest): void {
  const [accessKeyId = "", secretKey = ""] = credential.split(":");
  const refuse = (message: string) => new VendorRefusal("unauthenticated", message);
  const { headers } = request;
  if (headers.authorization === undefined) throw refuse("Missing Authentication Token");
  const ageMs = Math.abs(Date.now() - toTime(String(headers["x-amz-date"])));
  if (!(ageMs < 5 * 60_000)) throw refuse("Signature expired, or not yet current.");
  const signed = signedHeaderNames(request);
  const toBeSigned = Object.keys(headers).filter((name) => /^(host|content-type|x-amz-.*)$/.test(name));
  const unsigned = toBeSigned.filter((name) => !signed.includes(name));
  if (unsigned.length > 0) {
    throw refuse(`There were headers present in the request which were not signed: ${unsigned.join(", ")}`);
  }
  const expected = signSigV4(request, { accessKeyId, secretKey, region: "us-east-1", service: "bedrock" });
  const { "x-amz-content-sha256": hash = sha256(request.body) } = headers;
  if (headers.authorization !== expected || hash !== sha256(request.body)) {
    throw refuse("The request signature we calculated does not match the signature you provided.");
  }
}

/** Parses `20261121T150000Z`. Returns NaN for an invalid date. */
function toTime(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** If the request has stop sequences, `stop` means that the response reached one of them. */
function stopReason({ finish }: Answer, { stop }: Asked): string {
  return finish === "stop" && stop.length > 0 ? "stop_sequence" : stopReasons[finish];
}

const stopReasons: Record<Answer["finish"], string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "content_filtered",
};

type Block = { whole: object; start: object | null; deltas: object[] };

/** Only tool calls have a start event. */
function contentBlocks({ thoughts, text, calls }: Answer, asked: Asked): Block[] {
  const blocks: Block[] = [];
  if (thoughts.length > 0) {
    const signature = sealThought(thoughts.join(""));
    blocks.push({
      whole: { reasoningContent: { reasoningText: { signature, text: thoughts.join("") } } },
      start: null,
      deltas: [...thoughts.map((piece) => ({ text: piece })), { signature }].map((reasoningContent) => ({
        reasoningContent,
      })),
    });
  }
  if (text.length > 0) {
    blocks.push({
      whole: { text: text.join("") },
      start: null,
      deltas: text.map((piece) => ({ text: piece })),
    });
  }
  for (const [at, { name, input }] of calls.entries()) {
    const toolUse = { name, toolUseId: `tooluse_kZJMlvQmRJ6eAyJE5GIl7${countCalls(asked.turns) + at}` };
    const json = JSON.stringify(input);
    const pieces = json === "{}" ? [""] : ["", json.slice(0, 3), json.slice(3)];
    blocks.push({
      whole: { toolUse: { ...toolUse, input } },
      start: { toolUse },
      deltas: pieces.map((piece) => ({ toolUse: { input: piece } })),
    });
  }
  return blocks;
}

/** Input tokens exclude cache tokens. Output tokens include thoughts. */
function toUsage({ usage: { input, cached, cacheWritten, output } }: Answer): object {
  return {
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: cacheWritten,
    inputTokens: input - cached - cacheWritten,
    outputTokens: output,
    totalTokens: input + output,
  };
}

/** `p` is padding that hides the length of the text. */
function toEvent(name: string, payload: object): Buffer {
  return frameAwsEvent(name, JSON.stringify({ ...payload, p: "abcdefghijklm" }));
}
