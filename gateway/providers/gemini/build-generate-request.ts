import type { ChatMessage, ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { UpstreamModel } from "../provider.ts";
import { unsupported, unsupportedValue, invalidValue } from "../../wire/parameter-errors.ts";
import { type Dropped, readThinking } from "../requested-thinking.ts";
import { type ModelTraits, modelTraits } from "./model-traits.ts";
import { toGeminiContents } from "./to-gemini-contents.ts";

/** https://ai.google.dev/api/generate-content#request-body */
export function buildGenerateRequest(
  body: ChatRequestBody,
  model: UpstreamModel,
  dropped: Dropped = new Set<string>(),
): object {
  refuseUnsupported(body);
  const traits = modelTraits(model.name);
  return {
    ...toGeminiContents(withNote(body.messages, formatInWords(body, traits, dropped)), traits),
    ...toGeminiTools(body),
    generationConfig: generationConfig(body, traits, dropped),
    cachedContent: googleOptions(body)["cached_content"] ?? undefined,
  };
}

function withNote(messages: ChatMessage[], note: string | null): ChatMessage[] {
  return note === null ? messages : [...messages, { role: "system", content: note }];
}

function refuseUnsupported(body: ChatRequestBody): void {
  const { modalities, logit_bias: bias, functions, web_search_options: search } = body;
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== "text")) {
    throw unsupported("modalities", "Gemini models return only text. Remove the parameter.");
  }
  if (isObject(bias) && Object.keys(bias).length > 0) {
    throw unsupported("logit_bias", "Gemini has no equivalent. Remove the parameter.");
  }
  if (Array.isArray(functions) && functions.length > 0) {
    throw unsupported("functions", "Gemini does not support this deprecated parameter. Use tools instead.");
  }
  if (isObject(search))
    throw unsupported(
      "web_search_options",
      "the gateway does not enable Gemini's search. Remove the parameter.",
    );
}

/** https://ai.google.dev/gemini-api/docs/function-calling */
function toGeminiTools(body: ChatRequestBody): { tools?: object[]; toolConfig?: object } {
  const { tools, tool_choice: choice } = body;
  if (!Array.isArray(tools) || tools.length === 0) return {};
  const functions = tools.map((tool: unknown, index) => functionOf(tool, `tools[${index}]`));
  const functionCallingConfig = toCallingConfig(choice ?? "auto", functions);
  return {
    tools: [{ functionDeclarations: functions.map(toDeclaration) }],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

type ToolFunction = Record<string, unknown> & { name: string };

function functionOf(tool: unknown, param: string): ToolFunction {
  if (!isObject(tool)) throw invalidValue(param, "must be an object");
  if (tool["type"] !== "function")
    throw unsupportedValue(
      `${param}.type`,
      "Gemini supports only function tools. Remove the tool.",
      tool["type"],
    );
  const { function: value } = tool;
  const name = nameIn(value);
  if (!isObject(value) || name === null) {
    throw invalidValue(`${param}.function`, "must be an object with a name");
  }
  return { ...value, name };
}

function toDeclaration({ name, description, parameters }: ToolFunction): object {
  return {
    name,
    description: description ?? undefined,
    parametersJsonSchema: takesNothing(parameters) ? undefined : (parameters ?? undefined),
  };
}

/** Gemini expects no schema without parameters. https://ai.google.dev/api/caching#FunctionDeclaration */
function takesNothing(schema: unknown): boolean {
  return (
    isObject(schema) &&
    isObject(schema["properties"]) &&
    Object.keys(schema["properties"]).length === 0 &&
    !schema["additionalProperties"]
  );
}

/** Returns undefined for Gemini's default. */
function toCallingConfig(choice: unknown, functions: ToolFunction[]): object | undefined {
  if (choice === "auto") {
    // Without a required call, only `VALIDATED` enforces the schema of the arguments.
    return functions.some(({ strict }) => strict === true) ? { mode: "VALIDATED" } : undefined;
  }
  if (choice === "none") return { mode: "NONE" };
  if (choice === "required") return { mode: "ANY" };
  if (isObject(choice) && choice["type"] === "function") {
    const name = nameIn(choice["function"]);
    if (name !== null) return { mode: "ANY", allowedFunctionNames: [name] };
  }
  if (isObject(choice) && choice["type"] === "allowed_tools" && isObject(choice["allowed_tools"])) {
    const { mode, tools } = choice["allowed_tools"];
    const names = Array.isArray(tools)
      ? tools.map((tool: unknown) => (isObject(tool) ? nameIn(tool["function"]) : null))
      : [null];
    if (!names.includes(null)) {
      return { mode: mode === "required" ? "ANY" : "VALIDATED", allowedFunctionNames: names };
    }
  }
  throw invalidValue("tool_choice", "must be auto, none, required or an object that names functions", choice);
}

function nameIn(value: unknown): string | null {
  return isObject(value) && typeof value["name"] === "string" ? value["name"] : null;
}

/** https://ai.google.dev/api/generate-content#generationconfig */
function generationConfig(body: ChatRequestBody, traits: ModelTraits, dropped: Dropped): object {
  const count = numberIn(body, "n");
  return {
    temperature: numberIn(body, "temperature"),
    topP: numberIn(body, "top_p"),
    topK: numberIn(body, "top_k"),
    maxOutputTokens: numberIn(body, "max_completion_tokens") ?? numberIn(body, "max_tokens"),
    stopSequences: stopSequences(body["stop"]),
    candidateCount: count === 1 ? undefined : count,
    seed: seed(body["seed"]),
    // Models without penalties reject even a penalty of 0.
    presencePenalty: numberIn(body, "presence_penalty") || undefined,
    frequencyPenalty: numberIn(body, "frequency_penalty") || undefined,
    ...logprobs(body),
    ...(asksInWords(body, traits) ? {} : responseFormat(body["response_format"])),
    thinkingConfig: thinkingConfig(body, traits, dropped),
  };
}

function numberIn(body: ChatRequestBody, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw invalidValue(name, "must be a number", value);
  return value;
}

function stopSequences(stop: unknown): string[] | undefined {
  if (stop === undefined || stop === null) return undefined;
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (!sequences.every((sequence) => typeof sequence === "string")) {
    throw invalidValue("stop", "must be a string or an array of strings");
  }
  if (sequences.length > stopSequencesMax) {
    throw unsupported(
      "stop",
      `Gemini accepts at most ${stopSequencesMax} stop sequences. Remove some of them.`,
    );
  }
  return sequences.length === 0 ? undefined : sequences;
}

/** Gemini's seed has 32 bits. Longer seeds are omitted, because a seed is best effort. */
function seed(value: unknown): number | undefined {
  return typeof value === "number" && (value | 0) === value ? value : undefined;
}

function logprobs(body: ChatRequestBody): object {
  if (body["logprobs"] !== true) return {};
  return { responseLogprobs: true, logprobs: numberIn(body, "top_logprobs") || undefined };
}

/** https://ai.google.dev/gemini-api/docs/structured-output */
function responseFormat(format: unknown): { responseMimeType?: string; responseJsonSchema?: unknown } {
  if (format === undefined || format === null) return {};
  const type = isObject(format) ? format["type"] : null;
  if (type === "text") return {};
  if (type === "json_object") return { responseMimeType: "application/json" };
  const named = isObject(format) && type === "json_schema" ? format["json_schema"] : null;
  if (!isObject(named)) {
    const rule =
      type === "json_schema"
        ? "must contain json_schema"
        : "must have the type text, json_object or json_schema";
    throw invalidValue("response_format", rule, type);
  }
  return { responseMimeType: "application/json", responseJsonSchema: named["schema"] ?? undefined };
}

/** Whether words replace JSON output, which older models reject beside tools. */
function asksInWords(body: ChatRequestBody, { takesToolsWithFormat }: ModelTraits): boolean {
  const { tools } = body;
  return !takesToolsWithFormat && Array.isArray(tools) && tools.length > 0;
}

/** Null with a forced tool, because the answer is a call. https://github.com/googleapis/python-genai/issues/867 */
function formatInWords(body: ChatRequestBody, traits: ModelTraits, dropped: Dropped): string | null {
  const { responseMimeType: type, responseJsonSchema: schema } = responseFormat(body["response_format"]);
  if (type === undefined || !asksInWords(body, traits)) return null;
  dropped.add("response_format");
  if (isForced(body["tool_choice"])) return null;
  const words =
    "Unless you call a tool, respond with one valid JSON object and nothing else, without a code fence.";
  return schema === undefined ? words : `${words} It must match this JSON schema:\n${JSON.stringify(schema)}`;
}

function isForced(choice: unknown): boolean {
  if (!isObject(choice)) return choice === "required";
  const { allowed_tools: allowed } = choice;
  return choice["type"] === "function" || (isObject(allowed) && allowed["mode"] === "required");
}

const stopSequencesMax = 5;

/** Google's own `thinking_config` takes precedence. Undefined keeps the model's default, which hides reasoning. */
function thinkingConfig(body: ChatRequestBody, traits: ModelTraits, dropped: Dropped): object | undefined {
  const own = googleOptions(body)["thinking_config"] ?? body["thinking_config"];
  if (isObject(own)) return own;
  const requested = readThinking(body);
  if (requested === null) return undefined;
  const { effort, budgetTokens, given } = requested;
  const amount = amounts[effort];
  const includeThoughts = effort !== "none" && given?.["display"] !== "omitted";
  if (!traits.thinksByBudget) {
    if (budgetTokens !== null) dropped.add("thinking.budget_tokens");
    const isLeast = amount.budget === 0 || effort === "minimal";
    return { thinkingLevel: isLeast ? traits.leastLevel : amount.level, includeThoughts };
  }
  const budget = Math.min(budgetTokens ?? amount.budget, traits.budgetTokensMax);
  return { thinkingBudget: Math.max(budget, budget === 0 ? traits.leastBudget : 1), includeThoughts };
}

/** The budgets of Google's OpenAI compatibility. https://ai.google.dev/gemini-api/docs/openai#thinking */
const amounts = {
  none: { level: "LOW", budget: 0 },
  minimal: { level: "LOW", budget: 1_024 },
  low: { level: "LOW", budget: 1_024 },
  medium: { level: "MEDIUM", budget: 8_192 },
  high: { level: "HIGH", budget: 24_576 },
  xhigh: { level: "HIGH", budget: 24_576 },
  max: { level: "HIGH", budget: 24_576 },
};

/** The Gemini extensions of Google's OpenAI compatibility. https://ai.google.dev/gemini-api/docs/openai#extra-body */
function googleOptions(body: ChatRequestBody): Record<string, unknown> {
  const extra = body["extra_body"];
  const options = isObject(extra) ? extra["google"] : null;
  return isObject(options) ? options : {};
}
