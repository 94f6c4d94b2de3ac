import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { parseInput, parseShallowObject } from "../../wire/parse-shallow-object.ts";
import { builtInTools } from "./built-in-tools.ts";
import { FreeformInput } from "./freeform-input.ts";
import { sealReasoning } from "./sealed-reasoning.ts";
import type { NamedTool } from "./tool-table.ts";

export function formatPart(kind: PartKind, text: string, logprobs: readonly object[]): object {
  return kind === "refusal" ? { type: kind, refusal: text } : { type: kind, annotations: [], logprobs, text };
}

export type PartKind = "output_text" | "refusal";

export function formatMessage(
  id: string,
  status: ItemStatus | "in_progress",
  content: readonly object[],
): object {
  return { id, type: "message", status, role: "assistant", content };
}

/** @param details empty if the client did not request them */
export function formatReasoning(id: string, thoughts: string, details: readonly ReasoningDetail[]): object {
  return {
    id,
    type: "reasoning",
    summary: thoughts === "" ? [] : [{ type: "summary_text", text: thoughts }],
    ...(details.length > 0 && { encrypted_content: sealReasoning(details) }),
  };
}

/** https://platform.openai.com/docs/api-reference/responses/object */
export function formatImage(id: string, dataUrl: string): object {
  const result = dataUrl.slice(dataUrl.indexOf(",") + 1);
  return { id, type: "image_generation_call", status: "completed", result };
}

export type ItemCall = {
  id: string;
  callId: string;
  /** Null if the model invented the tool. The client then receives the invented name. */
  tool: NamedTool | null;
  /** The function's name in the model's output. */
  name: string;
};

/** @param argument the function's arguments, or the input of a custom tool */
export function formatFlatCall(
  { id, callId, tool, name }: ItemCall,
  status: ItemStatus | "in_progress",
  argument: string,
): object {
  const namespace = tool === null || tool.namespace === null ? {} : { namespace: tool.namespace };
  const naming = { call_id: callId, ...namespace, name: tool?.name ?? name };
  return tool?.kind === "custom"
    ? { id, type: "custom_tool_call", status, ...naming, input: argument }
    : { id, type: "function_call", status, ...naming, arguments: argument };
}

export function formatCall(call: ItemCall, status: ItemStatus, args: string): object {
  const { kind } = call.tool ?? { kind: "function" };
  if (kind === "function") return formatFlatCall(call, status, args);
  if (kind === "custom") return formatFlatCall(call, status, readFreeformInput(args));
  const { callType, formatCall: format } = builtInTools[kind];
  return {
    id: call.id,
    type: callType,
    // A patch call has no status `incomplete`.
    status: kind === "apply_patch" && status === "incomplete" ? "in_progress" : status,
    call_id: call.callId,
    ...format((kind === "tool_search" ? parseInput(args) : parseShallowObject(args)) ?? {}),
  };
}

export function idPrefixOf(tool: NamedTool | null): string {
  if (tool === null || tool.kind === "function") return "fc";
  return tool.kind === "custom" ? "ctc" : builtInTools[tool.kind].idPrefix;
}

function readFreeformInput(args: string): string {
  const input = new FreeformInput();
  input.push(args);
  return input.finish().text;
}

export type ItemStatus = "completed" | "incomplete";

export type ItemPosition = { item_id: string; output_index: number };
