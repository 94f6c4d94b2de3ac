import OpenAI from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
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

type Response = OpenAI.Responses.Response;
type InputItem = OpenAI.Responses.ResponseInputItem;
type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream"> & { input: InputItem[] };

/** OpenAI's SDK with the Responses API and without storage, so each request contains the whole conversation. */
export const responsesClient: ScenarioClient = {
  name: "openai, responses",
  dialect: "responses",
  returnsDetails: true,
  hasNoStop: true,

  async converse(request, options) {
    const openai = new OpenAI({ baseURL: options.baseUrl, apiKey: options.apiKey, maxRetries: 0 });
    const body: Body = { model: options.model, input: toInput(request), ...toParameters(request) };
    const questions = [request.nextQuestion ?? []].flat();
    const outcome: Outcome = { text: [], reasoning: "", calls: [], finish: "", usage: toUsage() };
    try {
      for (;;) {
        const response = options.stream
          ? await askStreaming(openai, body, options, outcome)
          : await ask(openai, body, options, outcome);
        outcome.reasoning += thoughtsOf(response);
        outcome.finish = finishOf(response);
        outcome.usage = toUsage(response.usage);
        const calls = response.output.filter((item) => item.type === "function_call");
        body.input.push(...toResponseInputItems(response.output));
        if (calls.length === 0) {
          const question = questions.shift();
          if (question === undefined) return outcome;
          body.model = options.nextModel ?? body.model;
          body.input.push({ role: "user", content: question });
        }
        for (const { call_id, name, arguments: json } of calls) {
          const input: unknown = JSON.parse(json);
          outcome.calls.push({ name, input });
          const output = runTool(request.tools, name, input);
          body.input.push({ type: "function_call_output", call_id, output });
        }
        if (request.mustCall !== undefined) return outcome;
      }
    } catch (error) {
      throw toOpenAiFailure(error, outcome.text);
    }
  },
};

async function ask(
  openai: OpenAI,
  body: Body,
  { signal }: ConverseOptions,
  outcome: Outcome,
): Promise<Response> {
  const response = await openai.responses.create(body, { signal });
  if (response.output_text !== "") outcome.text.push(response.output_text);
  return response;
}

/** The SDK's `stream` assembles the events and throws if they are inconsistent. */
async function askStreaming(
  openai: OpenAI,
  body: Body,
  { signal, onText }: ConverseOptions,
  outcome: Outcome,
): Promise<Response> {
  const stream = openai.responses.stream(body, { signal });
  const done: OpenAI.Responses.ResponseOutputItem[] = [];
  for await (const event of stream) {
    if (event.type === "response.output_item.done") done[event.output_index] = event.item;
    if (event.type !== "response.output_text.delta") continue;
    outcome.text.push(event.delta);
    onText?.(event.delta);
  }
  const response = await stream.finalResponse();
  // Codex reads the items of `response.output_item.done`, and other clients read the final response. The
  // items must be equal.
  const [first, second] = [done, response.output].map((items) => JSON.stringify(toResponseInputItems(items)));
  if (first !== second) throw new Error(`The items were not the same at the end: ${first}, but ${second}`);
  return response;
}

function toInput({ messages }: ScenarioRequest): InputItem[] {
  return messages.flatMap((message) =>
    message.role === "user" ? [toUserItem(message)] : toEarlierItems(message),
  );
}

function toUserItem({ text, image }: UserMessage): InputItem {
  if (image === undefined) return { role: "user", content: text };
  return {
    role: "user",
    content: [
      { type: "input_text", text },
      { type: "input_image", image_url: image, detail: "auto" },
    ],
  };
}

function toEarlierItems({ text, calls = [] }: AssistantMessage): InputItem[] {
  return [
    { role: "assistant", content: text },
    ...calls.map(({ id, name, input }) => ({
      type: "function_call" as const,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
    ...calls.map(({ id, result }) => ({
      type: "function_call_output" as const,
      call_id: id,
      output: result,
    })),
  ];
}

function toParameters(request: ScenarioRequest): Partial<Body> {
  const { system, tools, mustCall, schema, effort, temperature, outputTokensMax } = request;
  return {
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(system !== undefined && { instructions: system }),
    ...(tools && {
      tools: Object.entries(tools).map(([name, { description, parameters }]) => ({
        type: "function" as const,
        name,
        description,
        parameters,
        strict: false,
      })),
    }),
    ...(mustCall !== undefined && { tool_choice: { type: "function" as const, name: mustCall } }),
    ...(schema && {
      text: { format: { type: "json_schema" as const, name: "answer", schema, strict: true } },
    }),
    ...(effort && { reasoning: { effort, summary: "auto" as const } }),
    ...(temperature !== undefined && { temperature }),
    ...(outputTokensMax !== undefined && { max_output_tokens: outputTokensMax }),
  };
}

function thoughtsOf({ output }: Response): string {
  return output
    .flatMap((item) => (item.type === "reasoning" ? item.summary : []))
    .map(({ text }) => text)
    .join("");
}

/** Returns the finish reason that a chat completion would have. Throws if the response failed. */
function finishOf({ status, incomplete_details: incomplete, output }: Response): string {
  if (status === "incomplete")
    return finishReasons[incomplete?.reason ?? ""] ?? `incomplete: ${incomplete?.reason}`;
  if (status !== "completed") throw new Error(`The response ended as ${status}.`);
  return output.some(({ type }) => type === "function_call") ? "tool_calls" : "stop";
}

const finishReasons: Record<string, string> = {
  max_output_tokens: "length",
  content_filter: "content_filter",
};

function toUsage(usage?: OpenAI.Responses.ResponseUsage): Outcome["usage"] {
  return {
    input: usage?.input_tokens ?? 0,
    cached: usage?.input_tokens_details.cached_tokens ?? 0,
    output: usage?.output_tokens ?? 0,
    thinking: usage?.output_tokens_details.reasoning_tokens ?? 0,
    total: usage?.total_tokens ?? 0,
  };
}
