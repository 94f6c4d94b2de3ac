import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool as agentTool } from "@openai/agents";
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
import { z } from "zod";
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

type Message = Anthropic.Beta.BetaMessage;

playThreeTurns([
  { name: "Anthropic's tool runner", dialect: "messages", usesStateOf: "Claude", start: runTools },
  { name: "Anthropic's thread", dialect: "messages", usesStateOf: "Claude", start: sendToThread },
]);

function runTools(options: SdkOptions): SdkConversation {
  const { client, parameters, tools } = prepare(options);
  const messages: Anthropic.Beta.BetaMessageParam[] = [];
  return {
    async ask(content) {
      messages.push({ role: "user", content });
      const runner = client.beta.messages.toolRunner({
        ...parameters,
        messages,
        tools,
        stream: options.stream,
      });
      let answer: Message | undefined;
      for await (const step of runner) answer = "finalMessage" in step ? await step.finalMessage() : step;
      messages.splice(0, messages.length, ...runner.params.messages);
      if (answer === undefined) throw new Error("The runner gave no message.");
      if (messages.at(-1)?.role !== "assistant")
        messages.push({ role: "assistant", content: answer.content });
      return textOf(answer);
    },

    askForSummary: (content) => askWithFormat(options, [...messages, { role: "user", content }]),
  };
}

function sendToThread(options: SdkOptions): SdkConversation {
  const { client, parameters, tools } = prepare(options);
  const thread = client.beta.messages.thread({
    ...parameters,
    tools,
    unsupportedRequestBehavior: "continue_unthreaded",
  });
  return {
    async ask(content) {
      thread.append({ role: "user", content });
      const runner = options.stream ? thread.toolRunner({ stream: true }) : thread.toolRunner();
      let answer: Message | undefined;
      for await (const step of runner) answer = "finalMessage" in step ? await step.finalMessage() : step;
      if (answer === undefined) throw new Error("The runner gave no message.");
      return textOf(answer);
    },

    askForSummary: (content) => askWithFormat(options, [...thread.messages, { role: "user", content }]),
  };
}

async function askWithFormat(
  options: SdkOptions,
  messages: Anthropic.Beta.BetaMessageParam[],
): Promise<unknown> {
  const { client, parameters, tools } = prepare(options);
  const request = { ...parameters, messages, tools, output_config: { format } };
  if (!options.stream) return (await client.beta.messages.parse(request)).parsed_output;
  return JSON.parse(textOf(await client.beta.messages.stream(request).finalMessage()));
}

const format = jsonSchemaOutputFormat(summarySchema);

function prepare({ baseUrl, apiKey, model, getWeather }: SdkOptions) {
  const client = new Anthropic({ baseURL: baseUrl.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
  const tools = [
    betaTool({
      name: "get_weather",
      description: "The weather of a city.",
      inputSchema: weatherSchema,
      run: ({ city }) => getWeather({ city }),
    }),
  ];
  return { client, tools, parameters: { model, max_tokens: 1000 } };
}

function textOf({ content }: Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

const dialects = { chat: "chat completions", responses: "responses" } as const;

playThreeTurns(
  (["chat", "responses"] as const).map((dialect) => ({
    name: `@openai/agents with ${dialects[dialect]}`,
    dialect,
    start: (options) => runAgents(options, dialect === "responses"),
  })),
);

function runAgents(options: SdkOptions, useResponses: boolean): SdkConversation {
  const { baseUrl: baseURL, apiKey, model, stream, getWeather } = options;
  const modelProvider = new OpenAIProvider({ baseURL, apiKey, useResponses });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const weather = agentTool({
    name: "get_weather",
    description: "The weather of a city.",
    parameters: z.object({ city: z.string() }),
    execute: getWeather,
    // By default, the SDK sends a tool's error to the model instead of throwing it.
    errorFunction: null,
  });
  const instructions = "Answer in one sentence.";
  const talker = new Agent({ name: "Talker", instructions, model, tools: [weather] });
  const summarizer = new Agent({
    name: "Summarizer",
    instructions,
    model,
    outputType: z.object({ warmest: z.string(), degrees: z.number() }),
  });
  let history: AgentInputItem[] = [];

  async function run(agent: typeof talker | typeof summarizer, content: string): Promise<unknown> {
    const input: AgentInputItem[] = [...history, { role: "user", content }];
    if (!stream) {
      const result = await runner.run(agent as typeof talker, input);
      ({ history } = result);
      return result.finalOutput;
    }
    const result = await runner.run(agent as typeof talker, input, { stream });
    for await (const event of result) void event;
    await result.completed;
    ({ history } = result);
    return result.finalOutput;
  }

  return {
    ask: async (question) => String(await run(talker, question)),
    askForSummary: (question) => run(summarizer, question),
  };
}
