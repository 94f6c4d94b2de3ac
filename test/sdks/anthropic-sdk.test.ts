import Anthropic from "@anthropic-ai/sdk";
import { jsonSchemaOutputFormat } from "@anthropic-ai/sdk/helpers/json-schema";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { playThreeTurns, type SdkConversation, type SdkOptions } from "./three-turns.ts";
import { summarySchema, weatherSchema } from "./weather-model.ts";

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
