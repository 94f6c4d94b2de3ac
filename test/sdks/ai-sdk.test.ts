import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from "ai";
import { playThreeTurns, type SdkClient, type SdkConversation, type SdkOptions } from "./three-turns.ts";
import { summarySchema, weatherSchema } from "./weather-model.ts";

type Settings = { baseURL: string; apiKey: string };
type ProviderOptions = Parameters<typeof generateText>[0]["providerOptions"];

playThreeTurns([
  client("@ai-sdk/openai-compatible", "chat", (settings, model) =>
    createOpenAICompatible({
      name: "gateway",
      includeUsage: true,
      supportsStructuredOutputs: true,
      ...settings,
    })(model),
  ),
  client("@ai-sdk/openai in chat", "chat", (settings, model) => createOpenAI(settings).chat(model)),
  client("@ai-sdk/openai without a store", "responses", (settings, model) => createOpenAI(settings)(model), {
    openai: { store: false },
  }),
  {
    ...client("@ai-sdk/openai", "responses", (settings, model) => createOpenAI(settings)(model)),
    usesStateOf: "OpenAI",
  },
  client("@ai-sdk/anthropic", "messages", (settings, model) => createAnthropic(settings)(model)),
]);

function client(
  name: string,
  dialect: SdkClient["dialect"],
  create: (settings: Settings, model: string) => LanguageModel,
  providerOptions?: ProviderOptions,
): SdkClient {
  const start = (options: SdkOptions) =>
    converse(
      options,
      create({ baseURL: options.baseUrl, apiKey: options.apiKey }, options.model),
      providerOptions,
    );
  return { name, dialect, start };
}

function converse(
  { stream, getWeather }: SdkOptions,
  model: LanguageModel,
  providerOptions: ProviderOptions,
): SdkConversation {
  const messages: ModelMessage[] = [];
  const parameters = {
    model,
    maxRetries: 0,
    maxOutputTokens: 1000,
    messages,
    ...(providerOptions && { providerOptions }),
  };
  const tools = {
    get_weather: tool({
      description: "The weather of a city.",
      inputSchema: jsonSchema<{ city: string }>(weatherSchema),
      execute: getWeather,
    }),
  };
  return {
    async ask(content) {
      messages.push({ role: "user", content });
      const request = { ...parameters, tools, stopWhen: isStepCount(3) };
      if (!stream) {
        const { text, responseMessages } = await generateText(request);
        messages.push(...responseMessages);
        return text;
      }
      const streaming = streamText({ ...request, onError: throwError });
      await streaming.consumeStream({ onError: throwError });
      messages.push(...(await streaming.responseMessages));
      return streaming.text;
    },

    async askForSummary(content) {
      messages.push({ role: "user", content });
      const request = { ...parameters, output: Output.object({ schema: jsonSchema(summarySchema) }) };
      if (!stream) return (await generateText(request)).output;
      const streaming = streamText({ ...request, onError: throwError });
      await streaming.consumeStream({ onError: throwError });
      return streaming.output;
    },
  };
}

function throwError(problem: unknown): never {
  throw problem instanceof Error ? problem : (problem as { error: unknown }).error;
}
