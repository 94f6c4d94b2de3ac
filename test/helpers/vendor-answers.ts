import type { ServerResponse } from "node:http";
import { frameEvents } from "./frame-events.ts";
import type { SeenRequest } from "./scripted-upstream.ts";

/** An answer in a vendor's API. `events` is a recorded stream, as `frameEvents` reads it. */
export type VendorAnswer = { whole: string; events: string; eventType?: string };

/** Whether a request to any vendor asks for a stream. */
export function asksToStream({ url, body }: Pick<SeenRequest, "url" | "body">): boolean {
  return url.includes("treamGenerate") || url.includes("converse-stream") || body.includes('"stream":true');
}

export function sendAnswer(request: SeenRequest, response: ServerResponse, answer: VendorAnswer): void {
  const { whole, events, eventType = "text/event-stream" } = answer;
  const isStream = asksToStream(request);
  response.writeHead(200, { "content-type": isStream ? eventType : "application/json" });
  response.end(isStream ? frameEvents(events, eventType) : whole);
}

/** The answers have these pieces of text by default, and no usage. */
const hello = ["Hello"];

export function sse(...events: string[]): string {
  return events.map((event) => `data: ${event}\n\n`).join("");
}

/** Each event has the name of its type. */
export function namedSse(...events: string[]): string {
  return events.map((event) => `event: ${/"type":"([^"]*)"/.exec(event)?.[1]}\n${sse(event)}`).join("");
}

function named(...events: object[]): string {
  return namedSse(...events.map((event) => JSON.stringify(event)));
}

export function chatChunk(delta: object, reason: string | null = null, extra: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: reason, ...extra }];
  return JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices });
}

export function chatAnswer(reason: string, extra: object = {}, pieces = hello): VendorAnswer {
  const message = { role: "assistant", content: pieces.join("") };
  const choices = [{ index: 0, message, finish_reason: reason, ...extra }];
  const chunks = pieces.map((content) => chatChunk({ role: "assistant", content }));
  return {
    whole: JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "m", choices }),
    events: sse(...chunks, chatChunk({}, reason, extra), "[DONE]"),
  };
}

export function anthropicAnswer(
  reason: string,
  sequence: string | null = null,
  pieces = hello,
): VendorAnswer {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m" };
  const delta = { stop_reason: reason, stop_sequence: sequence };
  const deltas = pieces.map((text) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text },
  }));
  return {
    whole: JSON.stringify({ ...message, ...delta, content: [{ type: "text", text: pieces.join("") }] }),
    events: named(
      { type: "message_start", message: { ...message, ...delta, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...deltas,
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta },
      { type: "message_stop" },
    ),
  };
}

export function bedrockAnswer(stopReason: string, pieces = hello): VendorAnswer {
  const message = { role: "assistant", content: [{ text: pieces.join("") }] };
  const deltas = pieces.map((text) => ({ contentBlockIndex: 0, delta: { text } }));
  return {
    whole: JSON.stringify({ output: { message }, stopReason }),
    events: [
      'messageStart {"role":"assistant"}',
      ...deltas.map((delta) => `contentBlockDelta ${JSON.stringify(delta)}`),
      'contentBlockStop {"contentBlockIndex":0}',
      `messageStop {"stopReason":"${stopReason}"}`,
    ].join("\n"),
    eventType: "application/vnd.amazon.eventstream",
  };
}

export function geminiCandidate(parts: object[], finishReason?: string): string {
  return JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts }, finishReason }] });
}

export function geminiAnswer(reason: string, pieces = hello): VendorAnswer {
  const events = pieces.map((text) => geminiCandidate([{ text }]));
  return {
    whole: geminiCandidate([{ text: pieces.join("") }], reason),
    events: sse(...events, geminiCandidate([{ text: "" }], reason)),
  };
}

/** OpenAI's Responses API, which Azure has, too. */
export function responsesAnswer(status: string, error: object | null = null, pieces = hello): VendorAnswer {
  const response = { id: "resp_1", object: "response", created_at: 1, model: "m" };
  const content = [{ type: "output_text", text: pieces.join(""), annotations: [] }];
  const output = [{ id: "msg_1", type: "message", status: "completed", role: "assistant", content }];
  const end = { ...response, status, error, output: status === "completed" ? output : [] };
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const deltas = pieces.map((delta) => ({ type: "response.output_text.delta", ...place, delta }));
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...(status === "completed" ? deltas : []),
    { type: `response.${status}`, response: end },
  ];
  return {
    whole: JSON.stringify(end),
    events: named(...events.map((event, index) => ({ ...event, sequence_number: index }))),
  };
}
