import { type ChatMessage, isObject } from "../../wire/chat-completion.ts";

/** The functions that the model has called: a result names the call only, and Gemini wants the function. */
export class CalledFunctions {
  readonly #names = new Map<string, string>();

  note(message: ChatMessage): void {
    const calls = message["tool_calls"];
    if (!Array.isArray(calls)) return;
    for (const call of calls as unknown[]) {
      if (!isObject(call) || !isObject(call["function"])) continue;
      const { id, function: called } = call;
      if (typeof id !== "string" || typeof called["name"] !== "string") continue;
      this.#names.set(id, called["name"].slice(0, nameLengthMax));
    }
  }

  nameOf(callId: string): string | null {
    return this.#names.get(callId) ?? null;
  }
}

/** Every result repeats the name. Gemini takes none that is as long. */
const nameLengthMax = 1_024;
