import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { z } from "zod";
import { loadSdk } from "./load-sdk.ts";
import { playThreeTurns, type SdkClient, type SdkConversation, type SdkOptions } from "./three-turns.ts";

/** The part of Mastra's API that these tests use: https://mastra.ai/docs/agents/overview */
type MastraAgent = {
  generate(messages: object[], options: object): Promise<MastraResult>;
  stream(messages: object[], options: object): Promise<MastraStream>;
};
type MastraResult = { steps: { text: string }[]; object: unknown; response: { messages?: object[] } };
type MastraStream = {
  consumeStream(): Promise<void>;
  steps: Promise<MastraResult["steps"]>;
  object: Promise<unknown>;
  response: Promise<MastraResult["response"]>;
};
type Mastra = {
  Agent: new (options: object) => MastraAgent;
  createTool(options: object): object;
};

const load = await loadSdk("@mastra/core", "1.71.0");
const mastra = load && ({ ...load("@mastra/core/agent"), ...load("@mastra/core/tools") } as Mastra);

playThreeTurns(
  mastra === null
    ? []
    : [
        client("Mastra with its own model router", "chat", ({ baseUrl: url, apiKey, model: modelId }) => ({
          providerId: "gateway",
          modelId,
          url,
          apiKey,
        })),
        {
          ...client("Mastra with @ai-sdk/openai", "responses", ({ baseUrl: baseURL, apiKey, model }) =>
            createOpenAI({ baseURL, apiKey })(model),
          ),
          usesStateOf: "OpenAI",
        },
        client("Mastra with @ai-sdk/anthropic", "messages", ({ baseUrl: baseURL, apiKey, model }) =>
          createAnthropic({ baseURL, apiKey })(model),
        ),
      ],
);

function client(
  name: string,
  dialect: SdkClient["dialect"],
  toModel: (options: SdkOptions) => object,
): SdkClient {
  return { name, dialect, start: (options) => converse(options, toModel(options)) };
}

function converse({ stream, getWeather }: SdkOptions, model: object): SdkConversation {
  if (mastra === null) throw new Error("Mastra is missing.");
  const { Agent, createTool } = mastra;
  const weather = createTool({
    id: "get_weather",
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: (input: { city: string }) => Promise.resolve(getWeather(input)),
  });
  const about = { instructions: "Answer in one sentence.", model, maxRetries: 0 };
  const talker = new Agent({ id: "talker", name: "Talker", ...about, tools: { get_weather: weather } });
  const summarizer = new Agent({ id: "summarizer", name: "Summarizer", ...about });
  const messages: object[] = [];

  async function run(agent: MastraAgent, content: string, options: object) {
    messages.push({ role: "user", content });
    if (!stream) {
      const result = await agent.generate(messages, options);
      messages.push(...(result.response.messages ?? []));
      return result;
    }
    const result = await agent.stream(messages, options);
    await result.consumeStream();
    messages.push(...((await result.response).messages ?? []));
    return { steps: await result.steps, object: await result.object };
  }

  return {
    ask: async (question) => (await run(talker, question, { maxSteps: 3 })).steps.at(-1)?.text ?? "",
    async askForSummary(question) {
      const schema = z.object({ warmest: z.string(), degrees: z.number() });
      return (await run(summarizer, question, { structuredOutput: { schema } })).object;
    },
  };
}
