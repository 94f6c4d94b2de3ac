import { messages } from "../../../gateway/dialects/messages/messages.ts";
import type { ChatTranslation } from "../../../gateway/providers/provider.ts";
import { providerKinds } from "../../../gateway/providers/registry.ts";
import type { ChatRequestBody } from "../../../gateway/wire/chat-completion.ts";
import { requestFrom, viaJson } from "./messages-dialect.ts";

export function translationOf(kind: "anthropic" | "bedrock" | "gemini", name: string): ChatTranslation {
  const provider = providerKinds[kind];
  const baseUrl = provider.defaultBaseUrl ?? "https://bedrock-runtime.us-east-1.amazonaws.com";
  const chat = provider
    .connect({ baseUrl, secret: "secret", preset: null })
    .apis({ name, outputTokensMax: 4096 })["chat/completions"];
  if (chat.quirks) throw new Error(kind);
  return chat;
}

/** Converts a Messages request to a chat completion request, then to the vendor's request. */
export function buildVia(
  kind: "anthropic" | "bedrock" | "gemini",
  name: string,
  body: object,
): Record<string, unknown> {
  const chatRequest: ChatRequestBody = messages.toChatRequest(requestFrom(body));
  const request = translationOf(kind, name).buildRequest(chatRequest, { name, outputTokensMax: 4096 });
  return viaJson(request) as Record<string, unknown>;
}

export const signature = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds";
export const content = [
  { type: "thinking", thinking: "The tool.", signature },
  { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" },
  { type: "text", text: "I look." },
  { type: "thinking", thinking: "Which?", signature: `${signature}2` },
  { type: "tool_use", id: "toolu_01T1x1", name: "f", input: { a: 1 } },
  { type: "tool_use", id: "toolu_01T1x2", name: "f", input: {} },
];
export const tools = [{ name: "f", input_schema: { type: "object" } }];
export const results = [
  { type: "tool_result", tool_use_id: "toolu_01T1x1", content: [{ type: "text", text: "1" }] },
  { type: "tool_result", tool_use_id: "toolu_01T1x2", content: [{ type: "text", text: "2" }] },
];
