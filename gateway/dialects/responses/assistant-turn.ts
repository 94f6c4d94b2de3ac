import type { ChatMessage, ReasoningDetail, ToolCall } from "../../wire/chat-completion.ts";
import { countJsonTexts } from "../../wire/parse-shallow-object.ts";
import { expectArray, expectObject, expectString, ifGiven } from "../../wire/parameter-errors.ts";
import { openReasoning } from "./sealed-reasoning.ts";
import { joinTexts, toTextAndRefusal } from "./to-chat-content.ts";

/** Collects a model's text, reasoning and calls, item by item, for one assistant message. */
export class AssistantTurn {
  readonly #jsonTexts = countJsonTexts();
  #texts: string[] = [];
  #refusals: string[] = [];
  #thoughts: string[] = [];
  #details: ReasoningDetail[] = [];
  /** The upstream's indexes of the collected details. */
  #places = new Set<number>();
  #calls: ToolCall[] = [];

  addText(content: unknown, param: string): void {
    const { text, refusal } = toTextAndRefusal(content, param);
    if (text !== "") this.#texts.push(text);
    if (refusal !== "") this.#refusals.push(refusal);
  }

  call(call: ToolCall): void {
    this.#calls.push(call);
  }

  /**
   * A repeated index belongs to the next answer. Only the last answer's details are kept, because merged signatures
   * would be wrong.
   */
  think(item: Record<string, unknown>, param: string): void {
    const sealed = ifGiven(item["encrypted_content"], `${param}.encrypted_content`, expectString);
    const details = sealed === undefined ? [] : openReasoning(sealed, this.#jsonTexts);
    if (details.some(({ index }) => index !== undefined && this.#places.has(index))) this.#forgetDetails();
    for (const detail of details) {
      this.#details.push(detail);
      if (detail.index !== undefined) this.#places.add(detail.index);
    }
    const summary = readTexts(item["summary"], `${param}.summary`);
    this.#thoughts.push(summary === "" ? readTexts(item["content"], `${param}.content`) : summary);
  }

  /** Ends the turn. Omits a turn with only reasoning, because upstreams reject messages without content. */
  moveTo(messages: ChatMessage[]): void {
    const text = joinTexts(this.#texts);
    const refusal = joinTexts(this.#refusals);
    const thoughts = joinTexts(this.#thoughts);
    const details = this.#details;
    const calls = this.#calls;
    if (text !== "" || refusal !== "" || calls.length > 0) {
      messages.push({
        role: "assistant",
        content: text === "" ? null : text,
        ...(refusal !== "" && { refusal }),
        ...(thoughts !== "" && { reasoning_content: thoughts }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(calls.length > 0 && { tool_calls: calls }),
      });
    }
    this.#texts = [];
    this.#refusals = [];
    this.#thoughts = [];
    this.#calls = [];
    this.#forgetDetails();
  }

  #forgetDetails(): void {
    this.#details = [];
    this.#places.clear();
  }
}

function readTexts(value: unknown, param: string): string {
  const parts = ifGiven(value, param, expectArray) ?? [];
  const texts = parts.map((part, index) => {
    const at = `${param}[${index}]`;
    return expectString(expectObject(part, at)["text"], `${at}.text`);
  });
  return joinTexts(texts);
}
