import { ChatAnthropic } from "@langchain/anthropic";
import { type AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { playThreeTurns, type SdkConversation, type SdkOptions } from "./three-turns.ts";
import { summarySchema, weatherSchema } from "./weather-model.ts";

playThreeTurns([
  {
    name: "@langchain/openai with chat completions",
    dialect: "chat",
    start: (options) => converse(options, createChat(options, false)),
  },
  {
    name: "@langchain/openai with responses",
    dialect: "responses",
    start: (options) => converse(options, createChat(options, true)),
  },
  {
    name: "@langchain/anthropic",
    dialect: "messages",
    start: (options) => converse(options, createMessages(options)),
  },
]);

function createChat({ baseUrl: baseURL, apiKey, model }: SdkOptions, useResponsesApi: boolean) {
  return new ChatOpenAI({
    model,
    apiKey,
    useResponsesApi,
    maxRetries: 0,
    configuration: { baseURL },
  });
}

function createMessages({ baseUrl, apiKey, model }: SdkOptions) {
  const anthropicApiUrl = baseUrl.replace(/\/v1$/, "");
  return new ChatAnthropic({
    model,
    apiKey,
    anthropicApiUrl,
    maxRetries: 0,
    maxTokens: 1000,
  });
}

function converse({ stream, getWeather }: SdkOptions, chat: ChatOpenAI | ChatAnthropic): SdkConversation {
  const messages: BaseMessage[] = [];
  const weather = tool(({ city }: { city: string }) => getWeather({ city }), {
    name: "get_weather",
    description: "The weather of a city.",
    schema: weatherSchema,
  });
  const withTools = chat.bindTools([weather]);

  async function ask(): Promise<AIMessageChunk> {
    if (!stream) return await withTools.invoke(messages);
    let whole: AIMessageChunk | undefined;
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
      // LangChain cannot parse a stream of content blocks.
      return chat.withStructuredOutput(summarySchema).invoke(messages);
    },
  };
}
