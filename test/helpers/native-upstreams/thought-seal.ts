/**
 * Stands in for a vendor's encryption and signature of thoughts.
 * @param prefix identifies the earlier conversation of a bound thought
 */
export function sealThought(thought: string, prefix = ""): string {
  return Buffer.from(`sealed:${prefix}:${thought}`).toString("base64");
}

/** Returns null for a foreign seal. */
export function openSeal(seal: unknown): { thought: string; prefix: string } | null {
  const text = typeof seal === "string" ? Buffer.from(seal, "base64").toString("utf8") : "";
  const [, prefix, thought] = /^sealed:([^:]*):([^]*)$/.exec(text) ?? [];
  return prefix === undefined || thought === undefined ? null : { thought, prefix };
}
