import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import type { DialectRequest } from "../dialect.ts";
import { expectArray, expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { toChatTools } from "./to-chat-tools.ts";
import { toReasoningEffort } from "./to-reasoning-effort.ts";
import { toResponseFormat } from "./to-response-format.ts";

/**
 * A request for a message as one for a chat completion. Dropped without a word is what is between the client and Anthropic:
 * `service_tier`, `context_management`, `container`, `mcp_servers`, `safeguards` and whatever is new.
 */
export function toChatRequest({ body, model }: DialectRequest): ChatRequestBody {
  if (body["max_tokens"] === 0) {
    throw unsupported("max_tokens", "Only Anthropic's own cache can be filled without an answer.");
  }
  const { unavailable, ...tools } = toChatTools(body);
  const request = {
    model,
    messages: toChatMessages(body, unavailable),
    ...tools,
    max_completion_tokens: body["max_tokens"],
    temperature: body["temperature"],
    top_p: body["top_p"],
    top_k: body["top_k"],
    stop: toStop(body["stop_sequences"]),
    reasoning_effort: toReasoningEffort(body),
    response_format: toResponseFormat(body),
    user: toUser(body["metadata"]),
    cache_control: ifGiven(body["cache_control"], "cache_control", expectObject),
  };
  const given = Object.entries(request).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given) as ChatRequestBody;
}

function toStop(value: unknown): string[] | undefined {
  const sequences = ifGiven(value, "stop_sequences", expectArray) ?? [];
  if (sequences.length === 0) return undefined;
  return sequences.map((sequence, index) => expectString(sequence, `stop_sequences[${index}]`));
}

/** Claude Code sends a whole JSON object there, which is longer than upstreams take and none of their business. */
function toUser(metadata: unknown): string | undefined {
  const id = ifGiven(metadata, "metadata", expectObject)?.["user_id"];
  return typeof id === "string" && /^[\w.:@-]{1,64}$/.test(id) ? id : undefined;
}
