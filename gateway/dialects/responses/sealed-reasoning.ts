import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import type { ValueCount } from "../../wire/json-layout.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import { readReasoningDetails } from "../../wire/reasoning-details.ts";

/**
 * Thoughts as a client that keeps nothing else brings them back: in `encrypted_content`, which OpenAI fills for its own
 * models and clients return as it is. There is nothing secret in it, so that it needs no key.
 */
export function sealReasoning(details: readonly ReasoningDetail[]): string {
  return `${sealPrefix}${Buffer.from(JSON.stringify(details)).toString("base64")}`;
}

/**
 * What was sealed here; nothing for what another has encrypted, which nobody else can read.
 * @param count of all texts of the request; what goes beyond it was not sealed here
 */
export function openReasoning(sealed: string, count: ValueCount): ReasoningDetail[] {
  if (!sealed.startsWith(sealPrefix)) return [];
  const text = Buffer.from(sealed.slice(sealPrefix.length), "base64").toString("utf8");
  return readReasoningDetails(parseShallowJson(text, count));
}

/** Collects the details of a stream, whose pieces are put together: sealed one by one they would be many times as long. */
export class ReasoningCollector {
  #details: ReasoningDetail[] = [];

  add(pieces: readonly ReasoningDetail[]): void {
    for (const piece of pieces) {
      const last = this.#details.at(-1);
      if (last && belongTogether(last, piece)) {
        for (const name of ["text", "signature", "summary"] as const) {
          const more = piece[name];
          if (typeof more === "string") last[name] = (last[name] ?? "") + more;
        }
      } else this.#details.push({ ...piece });
    }
  }

  /** What has come since the last time. */
  take(): ReasoningDetail[] {
    const details = this.#details;
    this.#details = [];
    return details;
  }
}

function belongTogether(last: ReasoningDetail, piece: ReasoningDetail): boolean {
  return (
    piece.index !== undefined &&
    piece.index === last.index &&
    piece.type === last.type &&
    piece.format === last.format &&
    piece.id === last.id &&
    piece.data === undefined &&
    last.data === undefined
  );
}

/** Says that it is ours, and which form it has. */
export const sealPrefix = "gateway-reasoning-v1:";
