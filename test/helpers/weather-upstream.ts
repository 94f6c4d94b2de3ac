import type { ServerResponse } from "node:http";
import type { ExecutionContext } from "ava";
import { connectUpstream } from "./connect-upstream.ts";
import { createUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";
import type { TestGateway } from "./test-gateway.ts";

/**
 * Starts an upstream with the chat completions, Anthropic and Gemini APIs. The upstream calls `get_weather`, and
 * answers "It is sunny." to a request with the tool's result.
 */
export function createWeatherUpstream(t: Pick<ExecutionContext, "teardown">): Promise<ScriptedUpstream> {
  return createUpstream(t, ({ url, body }, response) => {
    const hasResult = body.includes("22 degrees");
    const [answer, events] = url.includes("enerateContent")
      ? gemini(hasResult)
      : url.startsWith("/v1/messages")
        ? anthropic(hasResult)
        : chat(hasResult);
    if (body.includes('"stream":true') || url.includes("streamGenerate")) return sendEvents(response, events);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
}

export async function connectWeather(gateway: TestGateway, upstream: ScriptedUpstream): Promise<string[]> {
  await connectUpstream(gateway, upstream, { name: "chat" });
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, { name: "gemini", kind: "gemini" });
  return ["chat/model", "claude/model", "gemini/model"];
}

type Sent = [answer: object, events: object[]];

const signature = "c2lnbmVk";
const args = { city: "Paris" };

function chat(hasResult: boolean): Sent {
  const call = {
    id: "call_1",
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"Paris"}' },
  };
  const content = hasResult ? "It is sunny." : "Let me look.";
  const calls = hasResult ? {} : { tool_calls: [call] };
  const streamed = hasResult ? {} : { tool_calls: [{ index: 0, ...call }] };
  const finish_reason = hasResult ? "stop" : "tool_calls";
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const head = { id: "chatcmpl-1", created: 1, model: "upstream-model" };
  return [
    {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content, ...calls }, finish_reason }],
      usage,
    },
    [
      {
        ...head,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content, ...streamed }, finish_reason }],
        usage,
      },
    ],
  ];
}

function anthropic(hasResult: boolean): Sent {
  const text = { type: "text", text: hasResult ? "It is sunny." : "Let me look." };
  const thinking = { type: "thinking", thinking: "Weather needs a tool.", signature };
  const call = { type: "tool_use", id: "call_1", name: "get_weather", input: args };
  const content = hasResult ? [text] : [thinking, text, call];
  const usage = { input_tokens: 5, output_tokens: 2 };
  const stop_reason = hasResult ? "end_turn" : "tool_use";
  const head = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "upstream-model",
    stop_sequence: null,
    usage,
  };
  const blocks = content.flatMap((block, index) => [
    { type: "content_block_start", index, content_block: emptyOf(block) },
    ...deltasOf(block).map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]);
  return [
    { ...head, content, stop_reason },
    [
      { type: "message_start", message: { ...head, content: [], stop_reason: null } },
      ...blocks,
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ],
  ];
}

type Block = { type: string; text?: string; thinking?: string };

function emptyOf(block: Block): object {
  if (block.type === "text") return { type: "text", text: "" };
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return { ...block, input: {} };
}

function deltasOf({ type, text, thinking }: Block): object[] {
  if (type === "text") return [{ type: "text_delta", text }];
  if (type !== "thinking") return [{ type: "input_json_delta", partial_json: JSON.stringify(args) }];
  return [
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  ];
}

function gemini(hasResult: boolean): Sent {
  const parts = hasResult
    ? [{ text: "It is sunny." }]
    : [
        { text: "Let me look." },
        { functionCall: { name: "get_weather", args }, thoughtSignature: signature },
      ];
  const answer = {
    candidates: [{ content: { parts, role: "model" }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
  };
  return [answer, [answer]];
}

function sendEvents(response: ServerResponse, events: object[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const name = "type" in event ? `event: ${String(event.type)}\n` : "";
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end("choices" in (events[0] ?? {}) ? "data: [DONE]\n\n" : "");
}
