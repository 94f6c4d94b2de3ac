import { type ClaudeAsked, readMessagesRequest } from "./anthropic-request.ts";
import type { ClaudeModel } from "./anthropic-thinking.ts";
import { type Answer, type Asked, countCalls, type VendorForm } from "./native-upstream.ts";
import { sealThought } from "./thought-seal.ts";
import { demand, type RefusalReason, VendorRefusal } from "./vendor-refusal.ts";

/**
 * Anthropic's Messages API. https://platform.claude.com/docs/en/api/messages
 * https://platform.claude.com/docs/en/build-with-claude/streaming https://platform.claude.com/docs/en/api/errors
 */
export function anthropicForm(model: ClaudeModel): VendorForm {
  const credential = "sk-ant-api03-0123456789abcdefghijklmnop";
  return {
    kind: "anthropic",
    credential,
    model: model.name,
    baseUrl: (origin) => `${origin}/v1`,

    read(request) {
      const { headers, method, url } = request;
      // Anthropic's SDKs add the query for betas.
      const isMessages = url === "/v1/messages" || url === "/v1/messages?beta=true";
      if (method !== "POST" || !isMessages) throw new VendorRefusal("not found", "Not Found");
      if (headers["x-api-key"] !== credential) {
        throw new VendorRefusal("unauthenticated", "invalid x-api-key");
      }
      const version = String(headers["anthropic-version"]);
      demand(/^(2023-06-01|2026-10-21)$/.test(version), "anthropic-version: header is required");
      return readMessagesRequest(request, model);
    },

    answer: (answer, asked) => ({
      ...emptyMessage(model),
      content: contentBlocks(answer, asked).map(({ whole }) => whole),
      ...stopReason(answer, asked),
      usage: { ...inputUsage(answer), ...outputUsage(answer) },
    }),

    streamContentType: "text/event-stream; charset=utf-8",

    streamStart(answer, asked) {
      const message = { ...emptyMessage(model), usage: { ...inputUsage(answer), output_tokens: 1 } };
      const blocks = contentBlocks(answer, asked).flatMap(({ start, deltas }, index) => [
        ...(index === 0 ? [] : [toEvent("content_block_stop", { index: index - 1 })]),
        toEvent("content_block_start", { index, content_block: start }),
        ...(index === 0 ? [toEvent("ping", {})] : []),
        ...deltas.map((delta) => toEvent("content_block_delta", { index, delta })),
      ]);
      // Anthropic "may add new event types", which clients must ignore.
      return [toEvent("message_start", { message }), toEvent("news", { news: [] }), ...blocks];
    },

    streamEnd(answer, asked) {
      const index = contentBlocks(answer, asked).length - 1;
      return [
        ...(index < 0 ? [] : [toEvent("content_block_stop", { index })]),
        toEvent("message_delta", {
          delta: stopReason(answer, asked),
          usage: outputUsage(answer),
        }),
        toEvent("message_stop", {}),
      ];
    },

    streamError: (message) => toEvent("error", { error: { type: "overloaded_error", message } }),

    refuse({ reason, message }) {
      const { status, type, headers = {} } = refusals[reason];
      const body = { type: "error", error: { type, message }, request_id: "req_011CSHoEeqs5C35K2UUqR7Fy" };
      return { status, headers, body };
    },
  };
}

export const claudeHaiku: ClaudeModel = {
  name: "claude-haiku-4-5",
  thinking: "by budget",
  defaultDisplay: "summarized",
  outputTokensMax: 64_000,
};

/** A model that starts every response with a thought, by default without the thought's text. */
export const claudeOpus55: ClaudeModel = {
  name: "claude-opus-5-5",
  thinking: "always",
  defaultDisplay: "omitted",
  outputTokensMax: 128_000,
  takesSystemMessages: true,
};

/** https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-7 */
export const claudeOpus: ClaudeModel = {
  name: "claude-opus-4-7",
  thinking: "adaptive",
  defaultDisplay: "omitted",
  outputTokensMax: 128_000,
};

const refusals: Record<RefusalReason, { status: number; type: string; headers?: Record<string, string> }> = {
  invalid: { status: 400, type: "invalid_request_error" },
  unauthenticated: { status: 401, type: "authentication_error" },
  "rate limited": { status: 429, type: "rate_limit_error", headers: { "retry-after": "41" } },
  "not found": { status: 404, type: "not_found_error" },
  overloaded: { status: 529, type: "overloaded_error" },
};

/** If the request has stop sequences, `stop` means that the response reached the first of them. */
function stopReason({ finish }: Answer, { stop }: Asked): object {
  const [sequence = null] = finish === "stop" ? stop : [];
  return {
    stop_reason: sequence === null ? stopReasons[finish] : "stop_sequence",
    stop_sequence: sequence,
  };
}

const stopReasons: Record<Answer["finish"], string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

type Block = { whole: object; start: object; deltas: object[] };

function contentBlocks({ thoughts, text, calls }: Answer, asked: Asked): Block[] {
  const blocks: Block[] = [];
  const { omitsThoughts, prefix } = asked as ClaudeAsked;
  if (thoughts.length > 0 || prefix) {
    const shown = omitsThoughts ? [] : thoughts;
    const signature = sealThought(thoughts.join(""), prefix);
    blocks.push({
      whole: { type: "thinking", thinking: shown.join(""), signature },
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...shown.map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature },
      ],
    });
  }
  if (text.length > 0) {
    blocks.push({
      whole: { type: "text", text: text.join("") },
      start: { type: "text", text: "" },
      deltas: text.map((piece) => ({ type: "text_delta", text: piece })),
    });
  }
  for (const [at, { name, input }] of calls.entries()) {
    const call = { type: "tool_use", id: `toolu_01A09q90qw90lq9178${countCalls(asked.turns) + at}`, name };
    const json = JSON.stringify(input);
    // A call without arguments streams only an empty piece.
    const pieces = json === "{}" ? [""] : ["", json.slice(0, 3), json.slice(3)];
    blocks.push({
      whole: { ...call, input },
      start: { ...call, input: {} },
      deltas: pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    });
  }
  return blocks;
}

function emptyMessage({ name }: ClaudeModel): object {
  return {
    id: "msg_01XFDUDYJgAACzvnptvVoYEL",
    type: "message",
    role: "assistant",
    model: name,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

/** Anthropic counts input tokens, cache reads and cache writes separately. */
function inputUsage({ usage: { input, cached, cacheWritten } }: Answer): object {
  return {
    input_tokens: input - cached - cacheWritten,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWritten, ephemeral_1h_input_tokens: 0 },
    service_tier: "standard",
  };
}

function outputUsage({ usage: { output, thinking } }: Answer): object {
  return { output_tokens: output, output_tokens_details: { thinking_tokens: thinking } };
}

function toEvent(type: string, data: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}
