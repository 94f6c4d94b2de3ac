/**
 * Stands for the encryption and the signature that vendors put on thoughts: opaque to others, and the vendor can tell
 * whether it is its own.
 * @param prefix stands for all that was said before, where a thought is bound to it
 */
export function sealThought(thought: string, prefix = ""): string {
  return Buffer.from(`sealed:${prefix}:${thought}`).toString("base64");
}

/** Null where the seal is not ours. */
export function openSeal(seal: unknown): { thought: string; prefix: string } | null {
  const text = typeof seal === "string" ? Buffer.from(seal, "base64").toString("utf8") : "";
  const [, prefix, thought] = /^sealed:([^:]*):([^]*)$/.exec(text) ?? [];
  return prefix === undefined || thought === undefined ? null : { thought, prefix };
}
