import type { ChatMessage } from "../../wire/chat-completion.ts";

export type DemoOrders = {
  /** The prompt without its commands. */
  text: string;
  /** `/slow 500`: the delay before each piece of the answer, in milliseconds. */
  delayMs: number;
  /** `/fail 429`: the HTTP status of the answer. */
  failStatus: number | null;
  /** `/break`: the connection breaks in the middle of the answer. */
  breaks: boolean;
  /** `/hang`: the answer stops in the middle and never continues. */
  hangs: boolean;
  /** `/tool`: the answer calls the request's first tool, unless `tool_choice` names another tool. */
  callsTool: boolean;
};

export function readDemoOrders(messages: ChatMessage[]): DemoOrders {
  const prompt = lastPrompt(messages);
  const slow = /(?:^|\s)\/slow (\d{1,5})\b/.exec(prompt);
  const fail = /(?:^|\s)\/fail ([45]\d\d)\b/.exec(prompt);
  return {
    text: prompt.replaceAll(/(^|\s)\/(?:slow \d{1,5}|fail [45]\d\d|break|hang|tool)\b/g, "$1").trim(),
    delayMs: slow ? Number(slow[1]) : 0,
    failStatus: fail ? Number(fail[1]) : null,
    breaks: /(?:^|\s)\/break\b/.test(prompt),
    hangs: /(?:^|\s)\/hang\b/.test(prompt),
    callsTool: /(?:^|\s)\/tool\b/.test(prompt),
  };
}

export function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (part?.type === "text" && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** In the demo, a token is a word with its trailing space. */
export function toTokens(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function lastPrompt(messages: ChatMessage[]): string {
  const last = messages.findLast(({ role }) => role === "user" || role === "tool");
  return last ? textOf(last) : "";
}
