import { expectArray, expectObject, expectString } from "../wire/parameter-errors.ts";
import { isObject } from "../wire/json.ts";

/**
 * Null for any choice but `allowed_tools`. Throws `invalid_type` for a malformed choice.
 * https://platform.openai.com/docs/api-reference/chat/create#chat_create-tool_choice
 */
export function readAllowedTools(
  choice: unknown,
): { mode: "auto" | "required"; names: ReadonlySet<string> } | null {
  if (!isObject(choice) || choice["type"] !== "allowed_tools") return null;
  const allowed = expectObject(choice["allowed_tools"], "tool_choice.allowed_tools");
  const param = "tool_choice.allowed_tools.tools";
  const names = expectArray(allowed["tools"], param).map((tool, index) =>
    functionNameOf(tool, `${param}[${index}]`),
  );
  return { mode: allowed["mode"] === "required" ? "required" : "auto", names: new Set(names) };
}

export function functionNameOf(tool: unknown, param: string): string {
  const called = expectObject(expectObject(tool, param)["function"], `${param}.function`);
  return expectString(called["name"], `${param}.function.name`);
}

/**
 * The instruction in place of a forced tool, at the end of the conversation to keep the prompt cache valid.
 * https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5#forced-tool-use-is-not-supported
 * @param name the only tool to call, or undefined for any tool
 */
export function callInWords(name: string | undefined): string {
  const tool = name === undefined ? "at least one of the tools" : `the tool ${JSON.stringify(name)}`;
  return `You must now call ${tool}. Respond with the tool call, and do not answer in text instead.`;
}
