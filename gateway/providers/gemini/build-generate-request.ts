import type { ChatMessage, ChatRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import type { UpstreamModel } from "../provider.ts";
import { unsupported, unsupportedValue, invalidValue } from "../../wire/parameter-errors.ts";
import type { Dropped } from "../requested-thinking.ts";
import { formatInWords, generationConfig, googleOptions, modelTraits } from "./generation-config.ts";
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

/**
 * Gemini expects no schema for a function without parameters.
 * https://ai.google.dev/api/caching#FunctionDeclaration
 */
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
