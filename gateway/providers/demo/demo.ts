import { hash } from "node:crypto";
import type { ChatRequestBody, ChatQuirks, ChatMessage } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { chatCompletionsApi } from "../chat-completions/chat-completions-api.ts";
import type { Endpoint, Provider, ScriptedAnswer, UpstreamRequest } from "../provider.ts";
import { readModelNames } from "../endpoint-at.ts";
import { sampleJson } from "./sample-json.ts";

/**
 * An upstream inside this process that echoes the prompt. Commands in the prompt, such as `/fail 429`, change the
 * response.
 */
export const demo: Provider = {
  label: "Demo",
  fields: { baseUrl: "none", apiKey: "none" },
  isDemo: true,
  defaultBaseUrl: null,
  presets: [],
  connect: () => ({
    modelsEndpoint: endpointAt("/models", () => json(200, { data: [{ id: "echo" }] })),
    readModelNames: (list) => readModelNames(list, "data", "id"),
    apis: () => ({ "chat/completions": chatCompletionsApi(chatEndpoint, quirks) }),
  }),
};

const quirks: ChatQuirks = {
  maxTokensName: "max_completion_tokens",
  developerRole: "developer",
  extensions: ["thoughts", "cache_control", "verbosity"],
};

const chatEndpoint = endpointAt("/chat/completions", answerChat);

function endpointAt(path: string, answer: NonNullable<Endpoint["answer"]>): Endpoint {
  return { origin: "demo:", path, headers: [], secret: null, answer };
}

function answerChat({ body: bytes, date }: UpstreamRequest): ScriptedAnswer {
  const text = String(bytes);
  const body = JSON.parse(text) as ChatRequestBody;
  const characters = body.messages.reduce((sum, message) => sum + textOf(message).length, 0);
  if (characters > promptCharactersMax) return refusal();
  const orders = readDemoOrders(body.messages);
  if (orders.failStatus !== null) return failure(orders.failStatus, orders.delayMs);
  const answer = composeAnswer(body, orders);
  const isStream = body.stream === true;
  const head = {
    id: `chatcmpl-${hash("sha256", `${date.toISOString()} ${text}`).slice(0, 24)}`,
    object: isStream ? "chat.completion.chunk" : "chat.completion",
    created: Math.floor(date.getTime() / 1_000),
    model: body.model,
  };
  return isStream ? streamed(body, head, orders, answer) : whole(body, head, orders, answer);
}

type Answer = {
  /** The pieces of the content, or of the tool call's arguments. */
  tokens: string[];
  toolName: string | null;
  finishReason: "stop" | "length" | "tool_calls";
};

function composeAnswer(body: ChatRequestBody, orders: DemoOrders): Answer {
  const tool = chosenTool(body, orders);
  if (tool) {
    return {
      tokens: [JSON.stringify(sampleJson(tool.parameters) ?? {})],
      toolName: tool.name,
      finishReason: "tool_calls",
    };
  }
  const tokens = toTokens(contentFor(body, orders.text));
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  const isCut = typeof limit === "number" && limit < tokens.length;
  return {
    tokens: isCut ? tokens.slice(0, limit) : tokens,
    toolName: null,
    finishReason: isCut ? "length" : "stop",
  };
}

function contentFor(body: ChatRequestBody, text: string): string {
  const format = body["response_format"];
  if (isObject(format) && format["type"] === "json_object") return JSON.stringify({ echo: text });
  if (isObject(format) && format["type"] === "json_schema" && isObject(format["json_schema"])) {
    return JSON.stringify(sampleJson(format["json_schema"]["schema"]));
  }
  return text === "" ? "Hello from demo/echo." : text;
}

/** Returns the tool that `tool_choice` names, or the first tool if `tool_choice` or `/tool` requires a call. */
function chosenTool(body: ChatRequestBody, orders: DemoOrders): { name: string; parameters: unknown } | null {
  const { tools, tool_choice: choice } = body;
  if (!Array.isArray(tools)) return null;
  const functions = tools.flatMap((tool: unknown) =>
    isObject(tool) && isObject(tool["function"]) ? [tool["function"]] : [],
  );
  const isForced = choice === "required" || orders.callsTool;
  const named = isObject(choice) && isObject(choice["function"]) ? choice["function"]["name"] : null;
  const found = functions.find(({ name }) => name === named) ?? (isForced ? functions[0] : undefined);
  return found ? { name: String(found["name"]), parameters: found["parameters"] } : null;
}

function whole(body: ChatRequestBody, head: object, orders: DemoOrders, answer: Answer): ScriptedAnswer {
  const text = answer.tokens.join("");
  const message =
    answer.toolName === null
      ? { content: text }
      : { content: null, tool_calls: [toolCall(answer.toolName, text)] };
  const completion = {
    ...head,
    choices: choiceIndexes(body).map((index) => ({
      index,
      message: { role: "assistant", ...message, refusal: null },
      logprobs: null,
      finish_reason: answer.finishReason,
    })),
    usage: usageOf(body, answer),
  };
  const json = JSON.stringify(completion);
  const isUnfinished = orders.breaks || orders.hangs;
  const parts = [{ delayMs: orders.delayMs, text: isUnfinished ? json.slice(0, json.length / 2) : json }];
  return { status: 200, headers: { "content-type": "application/json" }, parts, ending: endingOf(orders) };
}

function streamed(body: ChatRequestBody, head: object, orders: DemoOrders, answer: Answer): ScriptedAnswer {
  const isUnfinished = orders.breaks || orders.hangs;
  const event = (rest: object) => ({
    delayMs: orders.delayMs,
    text: `data: ${JSON.stringify({ ...head, ...rest })}\n\n`,
  });
  const choices = (delta: object, finishReason: string | null = null) => ({
    choices: choiceIndexes(body).map((index) => ({
      index,
      delta,
      logprobs: null,
      finish_reason: finishReason,
    })),
  });
  function* parts() {
    const { tokens, toolName } = answer;
    const opening =
      toolName === null
        ? { content: "" }
        : { content: null, tool_calls: [{ index: 0, ...toolCall(toolName, "") }] };
    yield event(choices({ role: "assistant", ...opening }));
    for (const token of isUnfinished ? tokens.slice(0, Math.ceil(tokens.length / 2)) : tokens) {
      const delta =
        toolName === null
          ? { content: token }
          : { tool_calls: [{ index: 0, function: { arguments: token } }] };
      yield event(choices(delta));
    }
    if (isUnfinished) return;
    yield event(choices({}, answer.finishReason));
    if (body.stream_options?.include_usage === true)
      yield event({ choices: [], usage: usageOf(body, answer) });
    yield { delayMs: 0, text: "data: [DONE]\n\n" };
  }
  return {
    status: 200,
    headers: { "content-type": "text/event-stream" },
    parts: parts(),
    ending: endingOf(orders),
  };
}

function failure(status: number, delayMs: number): ScriptedAnswer {
  const type = status === 429 ? "requests" : status < 500 ? "invalid_request_error" : "server_error";
  const error = {
    message: `The demo provider failed with ${status}, as the prompt requested. Change the prompt to get an answer.`,
    type,
    param: null,
    code: "demo_failure",
  };
  return json(status, { error }, { delayMs, headers: status === 429 ? { "retry-after": "1" } : {} });
}

function refusal(): ScriptedAnswer {
  const message = `The demo provider accepts prompts of up to ${promptCharactersMax} characters. Send a shorter prompt, or use another provider's model.`;
  const error = { message, type: "invalid_request_error", param: "messages", code: "prompt_too_long" };
  return json(400, { error });
}

function json(status: number, value: object, { delayMs = 0, headers = {} } = {}): ScriptedAnswer {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    parts: [{ delayMs, text: JSON.stringify(value) }],
    ending: "complete",
  };
}

const promptCharactersMax = 262_144;

function toolCall(name: string, args: string) {
  return { id: `call_demo_${name}`, type: "function", function: { name, arguments: args } };
}

function endingOf({ breaks, hangs }: DemoOrders): ScriptedAnswer["ending"] {
  return breaks ? "broken" : hangs ? "silent" : "complete";
}

function choiceIndexes({ n }: ChatRequestBody): number[] {
  return Array.from({ length: typeof n === "number" ? Math.min(n, 8) : 1 }, (_, index) => index);
}

function usageOf(body: ChatRequestBody, answer: Answer) {
  const promptTokens = body.messages.reduce((sum, message) => sum + toTokens(textOf(message)).length, 0);
  const completionTokens = answer.tokens.length * choiceIndexes(body).length;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

type DemoOrders = {
  /** The prompt without its commands. */
  text: string;
  /** `/slow 500`: the delay before each piece of the answer, in milliseconds. */
  delayMs: number;
  /** `/fail 429`: the HTTP status of the answer. */
  failStatus: number | null;
  /** `/break`: the connection breaks in the middle of the answer. */
  breaks: boolean;
  /** `/hang`: the answer stops in the middle and never continues. */
  hangs: boolean;
  /** `/tool`: the answer calls the request's first tool, unless `tool_choice` names another tool. */
  callsTool: boolean;
};

function readDemoOrders(messages: ChatMessage[]): DemoOrders {
  const last = messages.findLast(({ role }) => role === "user" || role === "tool");
  const prompt = last ? textOf(last) : "";
  const slow = /(?:^|\s)\/slow (\d{1,5})\b/.exec(prompt);
  const fail = /(?:^|\s)\/fail ([45]\d\d)\b/.exec(prompt);
  return {
    text: prompt.replaceAll(/(^|\s)\/(?:slow \d{1,5}|fail [45]\d\d|break|hang|tool)\b/g, "$1").trim(),
    delayMs: slow ? Number(slow[1]) : 0,
    failStatus: fail ? Number(fail[1]) : null,
    breaks: /(?:^|\s)\/break\b/.test(prompt),
    hangs: /(?:^|\s)\/hang\b/.test(prompt),
    callsTool: /(?:^|\s)\/tool\b/.test(prompt),
  };
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (part?.type === "text" && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** In the demo, a token is a word with its trailing space. */
function toTokens(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}
