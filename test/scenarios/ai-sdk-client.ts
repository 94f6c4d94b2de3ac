import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
  type ToolSet,
} from "ai";
import {
  type ConverseOptions,
  type Outcome,
  runTool,
  type ScenarioClient,
  ScenarioFailure,
  type ScenarioRequest,
} from "./scenario-client.ts";

/** Vercel's AI SDK, which runs the tools itself. */
export const aiSdkClient: ScenarioClient = {
  name: "ai",
  dialect: "chat",
  returnsDetails: false,
  returnsCallSignatures: true,

  async converse(request, options) {
    const messages = toMessages(request);
    const outcome: Outcome = { text: [], reasoning: "", calls: [], finish: "", usage: toUsage() };
    try {
      const answer = options.stream ? stream : generate;
      await answer({ request, options, messages, outcome });
      if (request.nextQuestion === undefined) return outcome;
      messages.push({ role: "user", content: request.nextQuestion });
      await answer({ request, options, messages, outcome });
      return outcome;
    } catch (error) {
      if (APICallError.isInstance(error)) {
        throw new ScenarioFailure(error.statusCode ?? null, error.message, outcome.text);
      }
      throw error;
    }
  },
};

type Turn = {
  request: ScenarioRequest;
  options: ConverseOptions;
  messages: ModelMessage[];
  outcome: Outcome;
};

async function generate({ request, options, messages, outcome }: Turn): Promise<void> {
  const { steps, responseMessages } = await generateText({ ...toParameters(request, options), messages });
  messages.push(...responseMessages);
  for (const step of steps) {
    if (step.text !== "") outcome.text.push(step.text);
    outcome.reasoning += step.reasoningText ?? "";
    outcome.calls.push(
      ...step.toolCalls.map(({ toolName, input }) => ({ name: toolName, input: input as unknown })),
    );
    outcome.finish = finishReasons[step.finishReason] ?? step.finishReason;
    outcome.usage = toUsage(step.usage);
  }
}

async function stream({ request, options, messages, outcome }: Turn): Promise<void> {
  // Stream parts already contain the errors. The default handler would also print them.
  const streaming = streamText({
    ...toParameters(request, options),
    messages,
    onError: () => undefined,
  });
  for await (const part of streaming.fullStream) {
    if (part.type === "text-delta") {
      outcome.text.push(part.text);
      options.onText?.(part.text);
    } else if (part.type === "reasoning-delta") outcome.reasoning += part.text;
    else if (part.type === "tool-call")
      outcome.calls.push({ name: part.toolName, input: part.input as unknown });
    else if (part.type === "tool-error") throw part.error;
    else if (part.type === "finish-step") {
      outcome.finish = finishReasons[part.finishReason] ?? part.finishReason;
      outcome.usage = toUsage(part.usage);
    } else if (part.type === "error") {
      if (APICallError.isInstance(part.error)) throw part.error;
      throw new ScenarioFailure(null, messageOf(part.error), outcome.text);
    }
  }
  if (request.nextQuestion !== undefined) messages.push(...(await streaming.responseMessages));
}

function toParameters(request: ScenarioRequest, { baseUrl, apiKey, model, signal }: ConverseOptions) {
  const { system, tools = {}, mustCall, schema, effort, temperature, outputTokensMax, stop } = request;
  const provider = createOpenAICompatible({
    name: "gateway",
    baseURL: baseUrl,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const toolSet: ToolSet = {};
  for (const [name, { description, parameters }] of Object.entries(tools)) {
    const execute = (input: unknown) => runTool(tools, name, input);
    toolSet[name] = tool({ description, inputSchema: jsonSchema(parameters), execute });
  }
  return {
    model: provider(model),
    maxRetries: 0,
    abortSignal: signal,
    stopWhen: stepCountIs(mustCall === undefined ? 5 : 1),
    ...(system !== undefined && { system }),
    ...(request.tools && { tools: toolSet }),
    ...(mustCall !== undefined && { toolChoice: { type: "tool" as const, toolName: mustCall } }),
    ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
    ...(effort && { providerOptions: { gateway: { reasoningEffort: effort } } }),
    ...(temperature !== undefined && { temperature }),
    ...(outputTokensMax !== undefined && { maxOutputTokens: outputTokensMax }),
    ...(stop && { stopSequences: stop }),
  };
}

function toMessages({ messages }: ScenarioRequest): ModelMessage[] {
  return messages.flatMap((message): ModelMessage[] => {
    const text = { type: "text" as const, text: message.text };
    if (message.role === "user") {
      const { image } = message;
      return [{ role: "user", content: image === undefined ? [text] : [text, { type: "image", image }] }];
    }
    const { calls = [] } = message;
    const toolCalls = calls.map(({ id: toolCallId, name: toolName, input }) => ({
      type: "tool-call" as const,
      toolCallId,
      toolName,
      input,
    }));
    const results = calls.map(({ id: toolCallId, name: toolName, result: value }) => ({
      type: "tool-result" as const,
      toolCallId,
      toolName,
      output: { type: "text" as const, value },
    }));
    const turn: ModelMessage = { role: "assistant", content: [text, ...toolCalls] };
    return results.length === 0 ? [turn] : [turn, { role: "tool", content: results }];
  });
}

const finishReasons: Record<string, string> = {
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
};

function toUsage(usage?: LanguageModelUsage): Outcome["usage"] {
  return {
    input: usage?.inputTokens ?? 0,
    cached: usage?.inputTokenDetails.cacheReadTokens ?? 0,
    output: usage?.outputTokens ?? 0,
    thinking: usage?.outputTokenDetails.reasoningTokens ?? 0,
    total: usage?.totalTokens ?? 0,
  };
}

/** A stream's error is the gateway's error object or an `Error`. */
function messageOf(error: unknown): string {
  return String((error as { message?: unknown } | null)?.message ?? error);
}
