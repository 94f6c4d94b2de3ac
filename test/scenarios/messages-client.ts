import Anthropic, {
  APIError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import {
  type AssistantMessage,
  type ConverseOptions,
  type Outcome,
  runTool,
  type ScenarioClient,
  ScenarioFailure,
  type ScenarioRequest,
  type UserMessage,
} from "./scenario-client.ts";

type Message = Anthropic.Message;
type MessageParam = Anthropic.MessageParam;
type Body = Anthropic.MessageCreateParamsNonStreaming;

/** Anthropic's SDK, used as documented: the next request contains the response's blocks unchanged. */
export const messagesClient: ScenarioClient = {
  name: "anthropic",
  dialect: "messages",
  returnsDetails: true,

  async converse(request, options) {
    const anthropic = createClient(request, options);
    const body: Body = {
      model: options.model,
      messages: toMessages(request),
      ...toParameters(request, options),
    };
    const questions = [request.nextQuestion ?? []].flat();
    const outcome: Outcome = { text: [], reasoning: "", calls: [], finish: "", usage: toUsage() };
    try {
      for (;;) {
        const message = options.stream
          ? await askStreaming(anthropic, body, options, outcome)
          : await ask(anthropic, body, options, outcome);
        outcome.reasoning += thoughtsOf(message);
        outcome.finish = finishOf(message);
        outcome.usage = toUsage(message.usage);
        body.messages.push({ role: "assistant", content: message.content });
        const calls = message.content.filter((block) => block.type === "tool_use");
        if (calls.length === 0) {
          const question = questions.shift();
          if (question === undefined) return outcome;
          body.model = options.nextModel ?? body.model;
          body.messages.push({ role: "user", content: question });
        } else body.messages.push({ role: "user", content: runTools(calls, request, outcome) });
        if (request.mustCall !== undefined) return outcome;
      }
    } catch (error) {
      throw error instanceof APIError ? toFailure(error, outcome.text) : error;
    }
  },
};

/** The SDK's default API version, 2026-10-21, rejects `temperature`. */
function createClient({ temperature }: ScenarioRequest, { baseUrl, apiKey }: ConverseOptions): Anthropic {
  const baseURL = baseUrl.replace(/\/v1$/, "");
  const defaultHeaders = temperature === undefined ? {} : { "anthropic-version": "2023-06-01" };
  return new Anthropic({ baseURL, apiKey, defaultHeaders, maxRetries: 0 });
}

async function ask(
  anthropic: Anthropic,
  body: Body,
  { signal }: ConverseOptions,
  outcome: Outcome,
): Promise<Message> {
  const message = await anthropic.messages.create(body, { signal });
  for (const block of message.content) if (block.type === "text") outcome.text.push(block.text);
  return message;
}

async function askStreaming(
  anthropic: Anthropic,
  body: Body,
  { signal, onText }: ConverseOptions,
  outcome: Outcome,
): Promise<Message> {
  const stream = anthropic.messages.stream(body, { signal });
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.type);
    if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
    outcome.text.push(event.delta.text);
    onText?.(event.delta.text);
  }
  // The SDK treats a truncated stream as a success.
  if (types.at(-1) !== "message_stop") throw new Error(`The stream ended with ${types.at(-1)}.`);
  return stream.finalMessage();
}

function runTools(
  calls: Anthropic.ToolUseBlock[],
  { tools }: ScenarioRequest,
  outcome: Outcome,
): Anthropic.ToolResultBlockParam[] {
  return calls.map(({ id, name, input }) => {
    outcome.calls.push({ name, input });
    return { type: "tool_result", tool_use_id: id, content: runTool(tools, name, input) };
  });
}

function toMessages({ messages }: ScenarioRequest): MessageParam[] {
  return messages.flatMap((message) =>
    message.role === "user" ? [toUserMessage(message)] : toEarlierTurn(message),
  );
}

function toUserMessage({ text, image }: UserMessage): MessageParam {
  if (image === undefined) return { role: "user", content: text };
  const [, mediaType, data = ""] = /^data:([^;]+);base64,(.+)$/.exec(image) ?? [];
  const source = { type: "base64" as const, media_type: mediaType as "image/png", data };
  return {
    role: "user",
    content: [
      { type: "text", text },
      { type: "image", source },
    ],
  };
}

function toEarlierTurn({ text, calls }: AssistantMessage): MessageParam[] {
  if (calls === undefined) return [{ role: "assistant", content: text }];
  // Anthropic permits only letters, digits, `_` and `-` in call IDs.
  const toId = (id: string) => id.replaceAll(/[^\w-]/g, "_");
  const blocks = calls.map(({ id, name, input }) => ({
    type: "tool_use" as const,
    id: toId(id),
    name,
    input,
  }));
  const results = calls.map(({ id, result }) => ({
    type: "tool_result" as const,
    tool_use_id: toId(id),
    content: result,
  }));
  return [
    { role: "assistant", content: [{ type: "text", text }, ...blocks] },
    { role: "user", content: results },
  ];
}

type Parameters = Omit<Body, "model" | "messages">;

function toParameters(request: ScenarioRequest, { thinksByBudget }: ConverseOptions): Parameters {
  const { system, tools, mustCall, schema, effort, temperature, outputTokensMax = 4096, stop } = request;
  const format = schema && { format: { type: "json_schema" as const, schema } };
  // Some vendors reject a budget in a turn that started without thoughts.
  const asksByBudget = thinksByBudget && !goesOnAfterTools(request);
  return {
    max_tokens: outputTokensMax,
    ...(system !== undefined && { system }),
    ...(tools && {
      tools: Object.entries(tools).map(([name, { description, parameters }]) => ({
        name,
        description,
        input_schema: { type: "object" as const, ...parameters },
      })),
    }),
    ...(mustCall !== undefined && { tool_choice: { type: "tool" as const, name: mustCall } }),
    ...(format && { output_config: format }),
    ...(effort && asksByBudget && thinkByBudget(budgets[effort])),
    ...(effort && !thinksByBudget && thinkByEffort(effort)),
    ...(temperature !== undefined && { temperature }),
    ...(stop && { stop_sequences: stop }),
  };
}

/** Thoughts and text both count toward `max_tokens`. The SDK requires streaming above 21,333 tokens. */
function thinkByBudget(budget: number): Partial<Parameters> {
  return { thinking: { type: "enabled", budget_tokens: budget }, max_tokens: budget + 4096 };
}

const budgets = { low: 2048, medium: 8192, high: 16_384 };

/** Newer models hide their thoughts by default. */
function thinkByEffort(effort: "low" | "medium" | "high"): Partial<Parameters> {
  return { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } };
}

function goesOnAfterTools({ messages }: ScenarioRequest): boolean {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.calls !== undefined;
}

function thoughtsOf({ content }: Message): string {
  return content.map((block) => (block.type === "thinking" ? block.thinking : "")).join("");
}

function finishOf({ stop_reason: reason }: Message): string {
  return finishReasons[reason ?? ""] ?? String(reason);
}

const finishReasons: Record<string, string> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** Anthropic counts input tokens, cache reads and cache writes separately. */
function toUsage(usage?: Anthropic.Usage): Outcome["usage"] {
  const cached = usage?.cache_read_input_tokens ?? 0;
  const input = (usage?.input_tokens ?? 0) + cached + (usage?.cache_creation_input_tokens ?? 0);
  const output = usage?.output_tokens ?? 0;
  const thinking = usage?.output_tokens_details?.thinking_tokens ?? 0;
  return { input, cached, output, thinking, total: input + output };
}

function toFailure(error: APIError, text: string[]): ScenarioFailure {
  const message = error.apiMessage ?? `Not in Anthropic's form: ${error.message}`;
  if (error.status === undefined) return new ScenarioFailure(null, message, text);
  // Programs distinguish errors by class and type, so both must be correct.
  const [errorClass, type] = errors[error.status] ?? [InternalServerError, "api_error"];
  const isRight = error instanceof errorClass && error.type === type;
  return new ScenarioFailure(isRight ? error.status : null, message, text);
}

const errors: Record<number, [errorClass: typeof APIError<400 | 404 | 429>, type: string]> = {
  400: [BadRequestError, "invalid_request_error"],
  404: [NotFoundError, "not_found_error"],
  429: [RateLimitError, "rate_limit_error"],
};
