/** Other providers' ids may hold other characters, and a conversation may have begun with one of them. */
export function toToolUseId(id: string): string {
  return id.replaceAll(/[^\w-]/g, "_");
}
