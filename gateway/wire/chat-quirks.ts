import type { ChatRequestBody } from "./chat-completion.ts";

/** How an upstream that speaks chat completions differs from OpenAI. */
export type ChatQuirks = {
  /** Its name for `max_completion_tokens`. */
  maxTokensName: "max_completion_tokens" | "max_tokens";
  /** Its name for the role of a developer's message. */
  developerRole: "developer" | "system";
  /**
   * What it accepts beyond OpenAI's form: reasoning on the assistant's messages (`reasoning_content`,
   * `reasoning_details`), `cache_control` marks, `verbosity`.
   */
  extensions: readonly ("thoughts" | "cache_control" | "verbosity")[];
};

/** Whether the quirks change more of the body than the name of one member. */
export function changesBody(body: ChatRequestBody, { developerRole, maxTokensName }: ChatQuirks): boolean {
  return (
    (developerRole !== "developer" && body.messages.some(({ role }) => role === "developer")) ||
    // A new name for one of the two limits must not make a second of the other.
    (maxTokensName === "max_tokens" &&
      body["max_tokens"] !== undefined &&
      body["max_completion_tokens"] !== undefined)
  );
}

/** The body with this upstream's names. */
export function applyQuirks(
  body: ChatRequestBody,
  { developerRole, maxTokensName }: ChatQuirks,
): ChatRequestBody {
  const { max_completion_tokens: maxTokens, ...rest } = body;
  return {
    ...rest,
    // `null` means "not set" and must not replace the number under the other name.
    ...(maxTokens !== undefined && maxTokens !== null && { [maxTokensName]: maxTokens }),
    ...(developerRole !== "developer" && {
      messages: body.messages.map((message) =>
        message.role === "developer" ? { ...message, role: developerRole } : message,
      ),
    }),
  };
}
