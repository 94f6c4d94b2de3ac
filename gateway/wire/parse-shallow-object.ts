import { scanMembers } from "./json-layout.ts";

/**
 * A JSON object that a message carries as text, such as the arguments of a call. Null for what is none, and for what is
 * nested more than `jsonTextDepthMax` levels: what is nested without end could be read, and then not be written again.
 */
export function parseShallowObject(text: string): Record<string, unknown> | null {
  const bytes = Buffer.from(text);
  if (scanMembers(bytes, 0, bytes.length, jsonTextDepthMax, () => {}) !== "complete") return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}

export const jsonTextDepthMax = 128;
