import type { UpstreamModel } from "../provider.ts";
import type { ChatMessage, ChatRequestBody, ContentPart, ChatQuirks } from "../../wire/chat-completion.ts";
import { isObject, listOf } from "../../wire/json.ts";
import { readThinking } from "../requested-thinking.ts";

/** Removes the extensions that the upstream does not accept, because strict upstreams reject unknown fields. */
export function toPlainChat(
  body: ChatRequestBody,
  { canReason }: Pick<UpstreamModel, "canReason">,
  { extensions, thinkingSwitch }: ChatQuirks,
): ChatRequestBody {
  const { verbosity, reasoning_effort: _effort, thinking: _thinking, cache_control: mark, ...rest } = body;
  const messages = withImagesApart(body.messages).map((message) => {
    const kept = keepsThoughts(message, extensions) ? message : withoutThoughts(message);
    return extensions.includes("cache_control") ? kept : (withoutCacheControl(kept) as ChatMessage);
  });
  const plain: ChatRequestBody = { ...rest, messages };
  if (body["tools"] !== undefined && !extensions.includes("cache_control"))
    plain["tools"] = withoutCacheControl(body["tools"]);
  if (mark !== undefined && extensions.includes("cache_control")) plain["cache_control"] = mark;
  // Claude Code and Codex send an effort even for models without reasoning.
  if (canReason !== false) setThinking(plain, body, thinkingSwitch);
  if (verbosity !== undefined && extensions.includes("verbosity")) plain["verbosity"] = verbosity;
  return plain;
}

/** Converts Anthropic's `thinking`. OpenAI's `reasoning_effort` passes, and `applyQuirks` converts its `none`. */
function setThinking(
  plain: ChatRequestBody,
  body: ChatRequestBody,
  thinkingSwitch: ChatQuirks["thinkingSwitch"],
): void {
  const given = body["reasoning_effort"];
  if (body["thinking"] === undefined || body["thinking"] === null) {
    if (given !== undefined) plain["reasoning_effort"] = given;
    return;
  }
  const requested = readThinking(body);
  if (requested === null) return;
  const { effort, budgetTokens } = requested;
  // Without a switch, an upstream may reject `none`.
  if (effort === "none" && thinkingSwitch === undefined) return;
  if (budgetTokens !== null && thinkingSwitch === "reasoning")
    plain["reasoning"] = { max_tokens: budgetTokens };
  else if (budgetTokens !== null && thinkingSwitch === "enable_thinking") {
    plain["enable_thinking"] = true;
    plain["thinking_budget"] = budgetTokens;
  } else plain["reasoning_effort"] = effort;
}

/** DeepSeek, Kimi and others reject a turn with calls that lacks its reasoning, whichever provider serves the model. */
function keepsThoughts(message: ChatMessage, extensions: ChatQuirks["extensions"]): boolean {
  if (extensions.includes("thoughts")) return true;
  return extensions.includes("own thoughts") && listOf(message["reasoning_details"]).length === 0;
}

function withoutThoughts({ reasoning_content: _text, reasoning_details: _details, ...message }: ChatMessage) {
  return message as ChatMessage;
}

/** Only messages, parts, tools and calls can have `cache_control`, so two levels are enough. */
function withoutCacheControl(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutCacheControl(item, depth));
  if (!isObject(value) || depth > 1) return value;
  const { cache_control: _mark, ...rest } = value;
  const { content, tool_calls: calls } = rest;
  return {
    ...rest,
    ...(Array.isArray(content) && { content: withoutCacheControl(content, depth + 1) }),
    ...(Array.isArray(calls) && { tool_calls: withoutCacheControl(calls, depth + 1) }),
  };
}

/** Moves images and files of tool results into a user message, because OpenAI accepts only text in tool results. */
function withImagesApart(messages: readonly ChatMessage[]): ChatMessage[] {
  const apart: ChatMessage[] = [];
  let images: ContentPart[] = [];
  for (const message of messages) {
    if (message.role !== "tool" && images.length > 0) {
      apart.push({ role: "user", content: images });
      images = [];
    }
    const { content } = message;
    if (message.role !== "tool" || !Array.isArray(content) || content.every(isText)) {
      apart.push(message);
      continue;
    }
    const texts = content.filter(isText);
    images.push(
      { type: "text", text: "The tool returned this:" },
      ...content.filter((part) => !isText(part)),
    );
    apart.push({ ...message, content: texts.length > 0 ? texts : "See the image below." });
  }
  return images.length > 0 ? [...apart, { role: "user", content: images }] : apart;
}

function isText({ type }: ContentPart): boolean {
  return type === "text";
}
