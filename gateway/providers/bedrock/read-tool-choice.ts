import { isObject } from "../../wire/chat-completion.ts";
import { expectArray, expectObject, expectString } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";

/** Whether a tool may or must be called, and which of them; `names` is null for any. */
export type ChosenTools = { mode: "none" | "auto" | "required"; names: ReadonlySet<string> | null };

/** https://platform.openai.com/docs/api-reference/chat/create#chat_create-tool_choice */
export function readToolChoice(choice: unknown): ChosenTools {
  if (choice === undefined || choice === null || choice === "auto") return { mode: "auto", names: null };
  if (choice === "none" || choice === "required") return { mode: choice, names: null };
  if (isObject(choice) && choice["type"] === "function") {
    return { mode: "required", names: new Set([nameIn(choice, "tool_choice")]) };
  }
  if (isObject(choice) && choice["type"] === "allowed_tools") {
    const allowed = expectObject(choice["allowed_tools"], "tool_choice.allowed_tools");
    const param = "tool_choice.allowed_tools.tools";
    const names = expectArray(allowed["tools"], param).map((tool, index) =>
      nameIn(tool, `${param}[${index}]`),
    );
    return { mode: allowed["mode"] === "required" ? "required" : "auto", names: new Set(names) };
  }
  throw invalidValue("tool_choice", "must be none, auto, required, or name functions");
}

function nameIn(tool: unknown, param: string): string {
  const called = expectObject(expectObject(tool, param)["function"], `${param}.function`);
  return expectString(called["name"], `${param}.function.name`);
}
