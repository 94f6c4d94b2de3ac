/** Whether the client requests an optional part of the answer. */
export function includes({ include }: Record<string, unknown>, what: Includable): boolean {
  return Array.isArray(include) && include.includes(what);
}

/** Clients cannot return reasoning without the first part. */
type Includable = "reasoning.encrypted_content" | "message.output_text.logprobs";
