import type { ExecutionContext } from "ava";
import { createModel } from "./connect-upstream.ts";
import { createUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";
import type { TestGateway } from "./test-gateway.ts";
import { namedSse, sendAnswer, sse, type VendorAnswer } from "./vendor-answers.ts";

/** JSON with numbers that JavaScript would change. */
export const exactInput = `{"id":2512292042121000001,"price":1.0,"list":[-0,1e3,{"tiny":0.0000001}]}`;

export const exactSchema = `{"type":"object","properties":{"n":{"type":"number","minimum":-9223372036854775808,"maximum":9223372036854775807,"default":1.0},"e":{"enum":[1e3,-0]},"c":{"const":0.10}},"required":["n","e","c"],"additionalProperties":false}`;

export const exactNumbersInSchema = [
  "-9223372036854775808",
  "9223372036854775807",
  "1.0",
  "1e3",
  "-0",
  "0.10",
];

export const numberKinds = {
  "openai-compatible": { path: "/v1", upstreamModel: "model" },
  "azure-openai": { path: "", upstreamModel: "model" },
  anthropic: { path: "/v1", upstreamModel: "claude-sonnet-4-5" },
  gemini: { path: "/v1beta", upstreamModel: "gemini-3-flash" },
  bedrock: { path: "", upstreamModel: "anthropic.claude-sonnet-4-5-20250929-v1:0" },
} as const;

type NumberKind = keyof typeof numberKinds;

/** Starts an upstream with five APIs. Each answer calls the function `f` with `exactInput`. */
export function createNumbersUpstream(t: Pick<ExecutionContext, "teardown">): Promise<ScriptedUpstream> {
  return createUpstream(t, (request, response) => sendAnswer(request, response, answerOf(request.url)));
}

/** Creates a model for each kind. Its slug is `<kind>/model`. */
export async function connectNumbers(
  gateway: Pick<TestGateway, "admin">,
  upstream: ScriptedUpstream,
): Promise<string[]> {
  const kinds = Object.keys(numberKinds) as NumberKind[];
  for (const kind of kinds) await createModel(gateway, upstream, { name: kind, kind, ...numberKinds[kind] });
  return kinds.map((kind) => `${kind}/model`);
}

function answerOf(url: string): VendorAnswer {
  if (url.includes("enerateContent")) return gemini;
  if (url.includes("/converse")) return bedrock;
  if (url.includes("/messages")) return anthropic;
  return url.includes("/responses") ? responses : chat;
}

const text = JSON.stringify(exactInput);
/** Two pieces, which divide the first number. */
const pieces = [exactInput.slice(0, 12), exactInput.slice(12)].map((piece) => JSON.stringify(piece));
const [firstPiece = "", secondPiece = ""] = pieces;

const chatCall = (args: string) =>
  `{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":${args}}}`;
const chatChunk = (delta: string, reason: string) =>
  `{"id":"x","object":"chat.completion.chunk","created":1,"model":"model","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}`;
const chat: VendorAnswer = {
  whole: `{"id":"x","object":"chat.completion","created":1,"model":"model","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[${chatCall(text)}]}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
  events: sse(
    chatChunk(`{"role":"assistant","tool_calls":[${chatCall(firstPiece)}]}`, "null"),
    chatChunk(`{"tool_calls":[{"index":0,"function":{"arguments":${secondPiece}}}]}`, "null"),
    chatChunk("{}", '"tool_calls"'),
    "[DONE]",
  ),
};

const responsesItem = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":${text}}`;
const response = `{"id":"resp_1","object":"response","created_at":1,"model":"model","status":"completed","output":[${responsesItem}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`;
const responses: VendorAnswer = {
  whole: response,
  events: namedSse(
    `{"type":"response.created","sequence_number":0,"response":${response.replace(responsesItem, "")}}`,
    ...pieces.map(
      (piece) =>
        `{"type":"response.function_call_arguments.delta","sequence_number":1,"item_id":"fc_1","output_index":0,"delta":${piece}}`,
    ),
    `{"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":${responsesItem}}`,
    `{"type":"response.completed","sequence_number":4,"response":${response}}`,
  ),
};

const message = (content: string) =>
  `{"id":"msg_1","type":"message","role":"assistant","model":"model","content":[${content}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`;
const toolUse = (input: string) => `{"type":"tool_use","id":"c1","name":"f","input":${input}}`;
const anthropic: VendorAnswer = {
  whole: message(toolUse(exactInput)),
  events: namedSse(
    `{"type":"message_start","message":${message("")}}`,
    `{"type":"content_block_start","index":0,"content_block":${toolUse("{}")}}`,
    ...pieces.map(
      (piece) =>
        `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${piece}}}`,
    ),
    `{"type":"content_block_stop","index":0}`,
    `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}`,
    `{"type":"message_stop"}`,
  ),
};

const generated = `{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${exactInput}}}]}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`;
const gemini: VendorAnswer = { whole: generated, events: sse(generated) };

const bedrock: VendorAnswer = {
  whole: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":${exactInput}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`,
  events: [
    `messageStart {"role":"assistant"}`,
    `contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c1","name":"f"}}}`,
    ...pieces.map(
      (piece) => `contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":${piece}}}}`,
    ),
    `contentBlockStop {"contentBlockIndex":0}`,
    `messageStop {"stopReason":"tool_use"}`,
    `metadata {"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2},"metrics":{"latencyMs":1}}`,
  ].join("\n"),
  eventType: "application/vnd.amazon.eventstream",
};
