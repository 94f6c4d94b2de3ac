import { readNumber } from "#lib/read-number.ts";
import { type AnswerFacts, ChatError, type ChatMessage, type ChatRequest, sendChat } from "./send-chat.ts";

export type Turn = {
  id: number;
  question: string;
  answer: string;
  state: "answering" | "answered" | "stopped" | "failed";
  facts: AnswerFacts | null;
  error: unknown;
};

/** A chat in the page's memory. Leaving the page discards it. */
export class Conversation {
  turns = $state<Turn[]>([]);
  system = $state("");
  temperature = $state("");
  maxTokens = $state("");
  #abort: AbortController | null = null;
  #nextId = 0;

  get isAnswering(): boolean {
    return this.turns.at(-1)?.state === "answering";
  }

  requestFor(model: string, question: string): ChatRequest {
    const messages: ChatMessage[] = this.system.trim() ? [{ role: "system", content: this.system }] : [];
    for (const turn of this.turns) {
      if (turn.state !== "answered" && turn.state !== "stopped") continue;
      messages.push({ role: "user", content: turn.question }, { role: "assistant", content: turn.answer });
    }
    messages.push({ role: "user", content: question });
    const temperature = readNumber(this.temperature);
    const maxTokens = readNumber(this.maxTokens);
    return {
      model,
      messages,
      ...(temperature !== null && { temperature }),
      ...(maxTokens !== null && { max_completion_tokens: maxTokens }),
    };
  }

  async send(keyValue: string, model: string, question: string): Promise<void> {
    const request = this.requestFor(model, question);
    const abort = (this.#abort = new AbortController());
    this.turns.push({
      id: this.#nextId++,
      question,
      answer: "",
      state: "answering",
      facts: null,
      error: null,
    });
    const turn = this.turns.at(-1);
    if (!turn) return;
    try {
      const ontext = (text: string) => (turn.answer += text);
      turn.facts = await sendChat(keyValue, request, { signal: abort.signal, ontext });
      turn.state = "answered";
    } catch (error) {
      turn.state = abort.signal.aborted ? "stopped" : "failed";
      // The messages of other errors, such as network errors, differ between browsers.
      turn.error =
        error instanceof ChatError
          ? error
          : new Error("The gateway cannot be reached. Check that it is running and that you are online.");
    }
  }

  stop(): void {
    this.#abort?.abort();
  }

  clear(): void {
    this.stop();
    this.turns = [];
  }
}
