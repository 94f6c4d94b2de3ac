/** Other providers' ids may hold other characters, and a conversation may have begun with one of them. */
export function toToolUseId(id: string): string {
  return id.slice(0, idLengthMax).replaceAll(/[^\w-]/g, "_");
}

/** No provider's ids are as long; the API refuses them anyway. */
const idLengthMax = 1_024;
