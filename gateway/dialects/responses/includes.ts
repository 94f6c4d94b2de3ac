/** Whether the client wants this in the answer, where it would not be otherwise. */
export function includes({ include }: Record<string, unknown>, what: Includable): boolean {
  return Array.isArray(include) && include.includes(what);
}

/** Without the first, a client cannot bring thoughts back. */
type Includable = "reasoning.encrypted_content" | "message.output_text.logprobs";
