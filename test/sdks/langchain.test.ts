import { isDeepStrictEqual } from "node:util";
import * as anthropic from "@langchain/anthropic";
import * as coreMessages from "@langchain/core/messages";
import * as coreTools from "@langchain/core/tools";
import * as openai from "@langchain/openai";
import test from "ava";
import { anthropicForm, claudeHaiku, claudeOpus } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { createNativeUpstream } from "../helpers/native-upstreams/native-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { loadSdk } from "./load-sdk.ts";
import { playThreeTurns, type SdkClient, type SdkConversation, type SdkOptions } from "./three-turns.ts";
import { answerWithSummary, summary, summarySchema, weatherSchema } from "./weather-model.ts";

type Core = { messages: typeof coreMessages; tools: typeof coreTools };
type ChatModel = openai.ChatOpenAI | anthropic.ChatAnthropic;
type Method = "jsonSchema" | "functionCalling";
/** The methods of structured output that LangChain supports without and with streaming. */
type Methods = { whole: Method[]; streamed: Method[] };

/**
 * As the tests without the gateway show, LangChain 1.x cannot stream objects from the responses API or from
 * Claude's tool calls.
 */
const methods = {
  chat: { whole: ["jsonSchema", "functionCalling"], streamed: ["jsonSchema", "functionCalling"] },
  responses: { whole: ["jsonSchema", "functionCalling"], streamed: [] },
  // Before 1.0, LangChain cannot parse the text of a response from the responses API.
  oldResponses: { whole: ["functionCalling"], streamed: [] },
  messages: { whole: ["jsonSchema", "functionCalling"], streamed: ["jsonSchema"] },
  oldMessages: { whole: ["functionCalling"], streamed: ["functionCalling"] },
} satisfies Record<string, Methods>;

// LangChain 0.3 and 1.x require different versions of `@langchain/core`.
const oldOpenai = await loadSdk("@langchain/openai", "0.6.17");
const oldAnthropic = await loadSdk("@langchain/anthropic", "0.3.34");
const current = { messages: coreMessages, tools: coreTools };

playThreeTurns([
  ...withOpenai("@langchain/openai", openai, current),
  ...withAnthropic("@langchain/anthropic", anthropic, current),
  ...(oldOpenai === null
    ? []
    : withOpenai(
        "@langchain/openai 0.6",
        oldOpenai("@langchain/openai") as typeof openai,
        loadCore(oldOpenai),
      )),
  ...(oldAnthropic === null
    ? []
    : withAnthropic(
        "@langchain/anthropic 0.3",
        oldAnthropic("@langchain/anthropic") as typeof anthropic,
        loadCore(oldAnthropic),
      )),
]);

for (const method of methods.responses.whole) {
  test(`LangChain cannot stream an object of responses without the gateway, ${method}`, async (t) => {
    const {
      model,
      apiKey,
      baseUrl: baseURL,
    } = await createNativeUpstream(t, responsesForm, answerWithSummary);
    const configuration = { baseURL };
    const options = { model, apiKey, useResponsesApi: true, maxRetries: 0, configuration };
    const structured = new openai.ChatOpenAI(options).withStructuredOutput(summarySchema, { method });
    t.deepEqual(await structured.invoke("Sum up."), summary);
    await t.throwsAsync(async () => lastOf(await structured.stream("Sum up.")), {
      message: /Cannot handle non-string output/,
    });
  });
}

test("LangChain cannot stream an object of Claude's tool call without the gateway", async (t) => {
  const form = anthropicForm(claudeOpus);
  const { model, apiKey, baseUrl } = await createNativeUpstream(t, form, answerWithSummary);
  const anthropicApiUrl = baseUrl.replace(/\/v1$/, "");
  const chat = new anthropic.ChatAnthropic({ model, apiKey, anthropicApiUrl, maxRetries: 0 });
  const structured = chat.withStructuredOutput(summarySchema, { method: "functionCalling" });
  t.deepEqual(await structured.invoke("Sum up."), summary);
  const message = /Unexpected end of JSON input/;
  await t.throwsAsync(async () => lastOf(await structured.stream("Sum up.")), { message });
});

function loadCore(load: NodeJS.Require): Core {
  return {
    messages: load("@langchain/core/messages") as typeof coreMessages,
    tools: load("@langchain/core/tools") as typeof coreTools,
  };
}

function withOpenai(name: string, { ChatOpenAI }: typeof openai, core: Core): SdkClient[] {
  return (["chat", "responses"] as const).map((dialect) => ({
    name: `${name} with ${dialect === "chat" ? "chat completions" : "responses"}`,
    dialect,
    start({ baseUrl: baseURL, apiKey, model, ...options }) {
      const useResponsesApi = dialect === "responses";
      const configuration = { baseURL };
      return converse(
        options,
        new ChatOpenAI({ model, apiKey, useResponsesApi, maxRetries: 0, configuration }),
        core,
        useResponsesApi ? (core === current ? methods.responses : methods.oldResponses) : methods.chat,
      );
    },
  }));
}

function withAnthropic(name: string, { ChatAnthropic }: typeof anthropic, core: Core): SdkClient[] {
  return [
    {
      name,
      dialect: "messages",
      // LangChain 0.3 always sends a temperature to models with unknown names. Claude Opus rejects it.
      claude: claudeHaiku,
      start({ baseUrl, apiKey, model, ...options }) {
        const anthropicApiUrl = baseUrl.replace(/\/v1$/, "");
        return converse(
          options,
          new ChatAnthropic({ model, apiKey, anthropicApiUrl, maxRetries: 0, maxTokens: 1000 }),
          core,
          core === current ? methods.messages : methods.oldMessages,
        );
      },
    },
  ];
}

function converse(
  { stream, getWeather }: Pick<SdkOptions, "stream" | "getWeather">,
  chat: ChatModel,
  core: Core,
  { whole, streamed }: Methods,
): SdkConversation {
  const {
    messages: { HumanMessage, ToolMessage },
    tools: { tool },
  } = core;
  const messages: coreMessages.BaseMessage[] = [];
  const weather = tool(({ city }: { city: string }) => getWeather({ city }), {
    name: "get_weather",
    description: "The weather of a city.",
    schema: weatherSchema,
  });
  const withTools = chat.bindTools([weather]);

  async function ask(): Promise<coreMessages.AIMessageChunk> {
    if (!stream) return await withTools.invoke(messages);
    let whole: coreMessages.AIMessageChunk | undefined;
    for await (const chunk of await withTools.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    if (whole === undefined) throw new Error("The stream is empty.");
    return whole;
  }

  return {
    async ask(question) {
      messages.push(new HumanMessage(question));
      for (let step = 0; step < 3; step++) {
        const message = await ask();
        messages.push(message);
        const { tool_calls: calls = [] } = message;
        if (calls.length === 0) return message.text;
        for (const { id = "", args } of calls) {
          messages.push(new ToolMessage({ tool_call_id: id, content: getWeather(args as { city: string }) }));
        }
      }
      throw new Error("The model calls tools without end.");
    },

    async askForSummary(question) {
      messages.push(new HumanMessage(question));
      const objects: unknown[] = [];
      for (const method of whole) {
        const structured = chat.withStructuredOutput(summarySchema, { method });
        objects.push(
          stream && streamed.includes(method)
            ? await lastOf(await structured.stream(messages))
            : await structured.invoke(messages),
        );
      }
      return isDeepStrictEqual(objects, Array(whole.length).fill(objects[0])) ? objects[0] : objects;
    },
  };
}

async function lastOf(parts: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const part of parts) last = part;
  return last;
}
