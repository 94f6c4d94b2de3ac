import * as anthropic from "@langchain/anthropic";
import * as coreMessages from "@langchain/core/messages";
import * as coreTools from "@langchain/core/tools";
import * as openai from "@langchain/openai";
import { claudeHaiku } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { loadSdk } from "./load-sdk.ts";
import { playThreeTurns, type SdkClient, type SdkConversation, type SdkOptions } from "./three-turns.ts";
import { summarySchema, weatherSchema } from "./weather-model.ts";

type Core = { messages: typeof coreMessages; tools: typeof coreTools };
type ChatModel = openai.ChatOpenAI | anthropic.ChatAnthropic;

// LangChain 0.3 is still in wide use. The project cannot hold it beside 1.x.
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
        !useResponsesApi,
      );
    },
  }));
}

function withAnthropic(name: string, { ChatAnthropic }: typeof anthropic, core: Core): SdkClient[] {
  return [
    {
      name,
      dialect: "messages",
      // LangChain 0.3 always sends a temperature to names that it does not know.
      claude: claudeHaiku,
      start({ baseUrl, apiKey, model, ...options }) {
        const anthropicApiUrl = baseUrl.replace(/\/v1$/, "");
        return converse(
          options,
          new ChatAnthropic({ model, apiKey, anthropicApiUrl, maxRetries: 0, maxTokens: 1000 }),
          core,
          core !== current,
        );
      },
    },
  ];
}

function converse(
  { stream, getWeather }: Pick<SdkOptions, "stream" | "getWeather">,
  chat: ChatModel,
  core: Core,
  /** LangChain cannot parse a stream of content blocks, also not of the vendors themselves. */
  streamsObjects: boolean,
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
      // Before 1.0, LangChain cannot parse other structured output of responses.
      const method = core === current ? undefined : "functionCalling";
      const structured = chat.withStructuredOutput(summarySchema, method && { method });
      if (!stream || !streamsObjects) return structured.invoke(messages);
      let object: unknown;
      for await (const partial of await structured.stream(messages)) object = partial;
      return object;
    },
  };
}
