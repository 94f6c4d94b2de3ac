import OpenAI from "openai";
import { assembleMessage, type Message } from "./assemble-message.ts";
import { toOpenAiFailure } from "./openai-failure.ts";
import {
  type AssistantMessage,
  type ConverseOptions,
  type Outcome,
  runTool,
  type ScenarioClient,
  type ScenarioRequest,
  type UserMessage,
} from "./scenario-client.ts";

/** OpenAI's SDK, used as documented: the next request contains the assistant's message unchanged. */
export const openAiClient: ScenarioClient = {
  name: "openai",
  dialect: "chat",
  returnsDetails: true,

  async converse(request, options) {
    const openai = new OpenAI({ baseURL: options.baseUrl, apiKey: options.apiKey, maxRetries: 0 });
    const body = { model: options.model, messages: toMessages(request), ...toParameters(request) };
    const questions = [request.nextQuestion ?? []].flat();
    const outcome: Outcome = { text: [], reasoning: "", calls: [], finish: "", usage: toUsage() };
    try {
      for (;;) {
        const message = options.stream
          ? await askStreaming(openai, body, options, outcome)
          : await ask(openai, body, options, outcome);
        outcome.reasoning += message.reasoning_content ?? "";
        const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
        body.messages.push(message);
        if (calls.length === 0) {
          const question = questions.shift();
          if (question === undefined) return outcome;
          body.model = options.nextModel ?? body.model;
          body.messages.push({ role: "user", content: question });
        }
        for (const { id, function: called } of calls) {
          const input: unknown = JSON.parse(called.arguments);
          outcome.calls.push({ name: called.name, input });
          const content = runTool(request.tools, called.name, input);
          body.messages.push({ role: "tool", tool_call_id: id, content });
        }
        if (request.mustCall !== undefined) return outcome;
      }
    } catch (error) {
      throw toOpenAiFailure(error, outcome.text);
    }
  },
};

type Body = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, "stream">;

async function ask(
  openai: OpenAI,
  body: Body,
  { signal }: ConverseOptions,
  outcome: Outcome,
): Promise<Message> {
  const completion = await openai.chat.completions.create(body, { signal });
  const [choice] = completion.choices;
  if (choice === undefined || completion.choices.length > 1) throw new Error("There is not one choice.");
  if (choice.message.content) outcome.text.push(choice.message.content);
  outcome.finish = choice.finish_reason;
  outcome.usage = toUsage(completion.usage);
  return choice.message;
}

async function askStreaming(
  openai: OpenAI,
  body: Body,
  { signal, onText }: ConverseOptions,
  outcome: Outcome,
): Promise<Message> {
  const streaming = { ...body, stream: true as const, stream_options: { include_usage: true } };
  const deltas: OpenAI.ChatCompletionChunk.Choice.Delta[] = [];
  outcome.finish = "";
  for await (const { choices, usage } of await openai.chat.completions.create(streaming, { signal })) {
    if (usage) outcome.usage = toUsage(usage);
    const [choice] = choices;
    if (choice === undefined) continue;
    if (outcome.finish !== "") throw new Error("There is a chunk after the finish reason.");
    deltas.push(choice.delta);
    outcome.finish = choice.finish_reason ?? "";
    if (!choice.delta.content) continue;
    outcome.text.push(choice.delta.content);
    onText?.(choice.delta.content);
  }
  return assembleMessage(deltas);
}

function toMessages({ system, messages }: ScenarioRequest): OpenAI.ChatCompletionMessageParam[] {
  return [
    ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
    ...messages.flatMap((message) =>
      message.role === "user" ? [toUserMessage(message)] : toEarlierTurn(message),
    ),
  ];
}

function toUserMessage({ text, image: url }: UserMessage): OpenAI.ChatCompletionUserMessageParam {
  if (url === undefined) return { role: "user", content: text };
  return {
    role: "user",
    content: [
      { type: "text", text },
      { type: "image_url", image_url: { url } },
    ],
  };
}

function toEarlierTurn({ text: content, calls }: AssistantMessage): OpenAI.ChatCompletionMessageParam[] {
  if (calls === undefined) return [{ role: "assistant", content }];
  const toolCalls = calls.map(({ id, name, input }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(input) },
  }));
  const results = calls.map(({ id, result }) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: result,
  }));
  return [{ role: "assistant", content, tool_calls: toolCalls }, ...results];
}

function toParameters(request: ScenarioRequest): Partial<Body> {
  const { tools, mustCall, schema, effort, temperature, outputTokensMax, stop } = request;
  const toTool = ([name, { description, parameters }]: [
    string,
    { description: string; parameters: object },
  ]) => ({
    type: "function" as const,
    function: { name, description, parameters: { ...parameters } },
  });
  return {
    ...(tools && { tools: Object.entries(tools).map(toTool) }),
    ...(mustCall && { tool_choice: { type: "function" as const, function: { name: mustCall } } }),
    ...(schema && {
      response_format: {
        type: "json_schema" as const,
        json_schema: { name: "answer", schema, strict: true },
      },
    }),
    ...(effort && { reasoning_effort: effort }),
    ...(temperature !== undefined && { temperature }),
    ...(outputTokensMax && { max_completion_tokens: outputTokensMax }),
    ...(stop && { stop }),
  };
}

function toUsage(usage?: OpenAI.CompletionUsage): Outcome["usage"] {
  return {
    input: usage?.prompt_tokens ?? 0,
    cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    output: usage?.completion_tokens ?? 0,
    thinking: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    total: usage?.total_tokens ?? 0,
  };
}
