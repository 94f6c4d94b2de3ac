import { isObject } from "../../wire/json.ts";
import type { AnswerEnvelope } from "../dialect.ts";
import type { ToolTable } from "./tool-table.ts";

export function echoRequest(
  body: Record<string, unknown>,
  table: ToolTable,
  { previousResponseId, keep }: Pick<AnswerEnvelope, "previousResponseId" | "keep">,
): object {
  return {
    instructions: stringOrNull(body["instructions"]),
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: echoMetadata(body["metadata"]),
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: previousResponseId,
    prompt_cache_key: stringOrNull(body["prompt_cache_key"]),
    reasoning: echoReasoning(body["reasoning"]),
    presence_penalty: body["presence_penalty"] ?? 0,
    frequency_penalty: body["frequency_penalty"] ?? 0,
    safety_identifier: stringOrNull(body["safety_identifier"]),
    // Open Responses requires a string, and translated requests set no other tier.
    service_tier: "default",
    store: keep !== null,
    temperature: body["temperature"] ?? 1,
    text: echoText(body["text"]),
    tool_choice: echoToolChoice(body["tool_choice"]),
    tools: table.shown,
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: "disabled",
    ...(typeof body["user"] === "string" && { user: body["user"] }),
  };
}

function echoMetadata(value: unknown): object {
  const entries = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(entries.filter(([, text]) => typeof text === "string"));
}

function echoReasoning(value: unknown): object {
  const { effort, summary } = isObject(value) ? value : {};
  return { effort: oneOf(effort, efforts), summary: oneOf(summary, ["auto", "concise", "detailed"]) };
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function echoText(value: unknown): object {
  const { format, verbosity } = isObject(value) ? value : {};
  const known = oneOf(verbosity, ["low", "medium", "high"]);
  return { format: echoFormat(format), ...(known !== null && { verbosity: known }) };
}

function echoFormat(format: unknown): object {
  if (!isObject(format)) return { type: "text" };
  const { type, name, description, schema, strict } = format;
  if (type !== "json_schema") return { type };
  const about = typeof description === "string" ? { description } : {};
  return { type, name, ...about, schema, strict: strict ?? false };
}

function echoToolChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice ?? "auto";
  const { type, name, mode, tools } = choice;
  if (type === "allowed_tools") return { type, mode: mode === "required" ? mode : "auto", tools };
  if (type === "function" || type === "custom") return { type, name };
  return type === "shell" || type === "apply_patch" ? { type } : "required";
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function oneOf(value: unknown, known: readonly string[]): string | null {
  return typeof value === "string" && known.includes(value) ? value : null;
}
