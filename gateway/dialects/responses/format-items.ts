import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { parseInput, parseShallowObject } from "../../wire/parse-shallow-object.ts";
import { builtInTools } from "./built-in-tools.ts";
import { sealReasoning } from "./sealed-content.ts";
import type { NamedTool } from "./tools.ts";
import { isObject } from "../../wire/json.ts";

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

/**
 * Reads a custom tool's input from its function's arguments, `{"input":"…"}`, piece by piece. Clients would
 * time out if a long input caused no events before its end.
 */
export class FreeformInput {
  #state: "before" | "within" | "after" | "unknown" = "before";
  #rest = "";
  /** The first half of a surrogate pair, which JSON may write as two escapes. */
  #half = "";
  #read = "";

  /** Returns the new part of the input. */
  push(piece: string): string {
    if (this.#state === "after") return "";
    this.#rest += piece;
    if (this.#state === "before") this.#begin();
    return this.#state === "within" ? this.#readOn() : "";
  }

  /** `text` is the whole input. `remaining` is the part that `push` has not returned. */
  finish(): { text: string; remaining: string } {
    const remaining =
      this.#state === "before" || this.#state === "unknown" ? parsePlainInput(this.#rest) : this.#half;
    return { text: this.#read + remaining, remaining };
  }

  #begin(): void {
    const opening = /^\s*\{\s*"input"\s*:\s*"/.exec(this.#rest);
    if (opening) {
      this.#rest = this.#rest.slice(opening[0].length);
      this.#state = "within";
    } else if (this.#rest.length > openingLengthMax) this.#state = "unknown";
  }

  #readOn(): string {
    let text = this.#half;
    let at = 0;
    while (at < this.#rest.length) {
      const next = this.#rest.slice(at).search(/["\\]/);
      const end = next === -1 ? this.#rest.length : at + next;
      text += this.#rest.slice(at, end);
      at = end;
      if (this.#rest[at] === '"') {
        this.#state = "after";
        break;
      }
      const escape = /^\\(?:u([\da-f]{4})|([^u]))/i.exec(this.#rest.slice(at, at + escapeLengthMax));
      if (escape === null) {
        if (this.#rest.length - at < escapeLengthMax) break;
        // An invalid escape is kept as written.
        text += this.#rest.slice(at, ++at);
        continue;
      }
      const [whole, code, character = ""] = escape;
      text +=
        code === undefined ? (escapes[character] ?? character) : String.fromCharCode(parseInt(code, 16));
      at += whole.length;
    }
    this.#rest = this.#state === "after" ? "" : this.#rest.slice(at);
    const isHalf = this.#state === "within" && /[\ud800-\udbff]$/.test(text);
    this.#half = isHalf ? text.slice(-1) : "";
    const complete = isHalf ? text.slice(0, -1) : text;
    this.#read += complete;
    return complete;
  }
}

/** Reads the input from arguments that do not start with `{"input":"`, such as a plain string. */
function parsePlainInput(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args);
    if (typeof parsed === "string") return parsed;
    if (isObject(parsed) && typeof parsed["input"] === "string") return parsed["input"];
  } catch {
    // Arguments that are not JSON may be the input itself.
  }
  return args;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** The length of a `\u` escape, such as `\u00e4`. */
const escapeLengthMax = 6;
const openingLengthMax = 64;
