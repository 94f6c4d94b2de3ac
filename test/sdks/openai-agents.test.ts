import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from "@openai/agents";
import { z } from "zod";
import { playThreeTurns, type SdkConversation, type SdkOptions } from "./three-turns.ts";

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
  const weather = tool({
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
