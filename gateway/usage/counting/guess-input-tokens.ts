import { isObject } from "../../wire/json.ts";
import { attachmentNames, attachmentTokens, textMembers } from "./estimate-input-tokens.ts";

/** Guesses a request's tokens from its bytes, without reading its texts. Attachments count a constant. */
export function guessInputTokens(body: Record<string, unknown>, bodyBytes: number): number {
  if (bodyBytes < attachmentBytesMin) return Math.ceil(bodyBytes / bytesPerToken);
  const found: Attachments = { count: 0, length: 0 };
  for (const name of textMembers) findAttachments(found, body[name]);
  const textBytes = Math.max(0, bodyBytes - found.length);
  return Math.ceil(textBytes / bytesPerToken) + found.count * attachmentTokens;
}

type Attachments = { count: number; length: number };

function findAttachments(found: Attachments, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) findAttachments(found, item);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (!attachmentNames.has(name)) findAttachments(found, member);
      else {
        found.count++;
        found.length += lengthOf(member);
      }
    }
  }
}

/** The length of all texts in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + lengthOf(item), 0);
  return isObject(value) ? lengthOf(Object.values(value)) : 0;
}

/** English prose and JSON have about four bytes per token. */
const bytesPerToken = 4;
/** In smaller bodies, attachments do not change the estimate much. */
const attachmentBytesMin = 16 * 1024;
