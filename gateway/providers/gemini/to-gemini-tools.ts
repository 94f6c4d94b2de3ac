import { type ChatRequestBody, isObject } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";

/** The functions that may be called, and whether one must be. https://ai.google.dev/gemini-api/docs/function-calling */
export function toGeminiTools(body: ChatRequestBody): { tools?: object[]; toolConfig?: object } {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = body;
  if (!Array.isArray(tools) || tools.length === 0) return {};
  if (parallel === false) {
    throw unsupported("parallel_tool_calls", "Gemini cannot be kept from calling several tools at once.");
  }
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
  if (tool["type"] !== "function") throw unsupported(`${param}.type`, "Gemini models call functions only.");
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

/** A function without parameters is declared without them. https://ai.google.dev/api/caching#FunctionDeclaration */
function takesNothing(schema: unknown): boolean {
  return (
    isObject(schema) &&
    isObject(schema["properties"]) &&
    Object.keys(schema["properties"]).length === 0 &&
    !schema["additionalProperties"]
  );
}

/** Undefined for what Gemini does anyway. */
function toCallingConfig(choice: unknown, functions: ToolFunction[]): object | undefined {
  if (choice === "auto") {
    // Only then are the arguments held to their schema where nothing has to be called.
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
  throw invalidValue("tool_choice", "must be auto, none, required, or name functions");
}

function nameIn(value: unknown): string | null {
  return isObject(value) && typeof value["name"] === "string" ? value["name"] : null;
}
