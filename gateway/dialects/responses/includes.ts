/** Whether the client requests this optional part of the answer. */
export function includes({ include }: Record<string, unknown>, what: Includable): boolean {
  return Array.isArray(include) && include.includes(what);
}

/** Without the first, a client cannot return reasoning. */
type Includable = "reasoning.encrypted_content" | "message.output_text.logprobs";
