import { type ReasoningDetail, readReasoningDetails } from "../../wire/chat-completion.ts";
import { type ValueCount, isObject } from "../../wire/json.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import type { DialectRequest } from "../dialect.ts";
import { withReadableSummary } from "./conversation-summary.ts";

/**
 * Formats reasoning as `encrypted_content`, which clients return unchanged. The content holds no secret, so
 * it needs no encryption.
 */
export function sealReasoning(details: readonly ReasoningDetail[]): string {
  return `${sealPrefix}${Buffer.from(JSON.stringify(details)).toString("base64")}`;
}

/**
 * Opens a seal of this gateway. Returns no details for any other text.
 * @param count counts the values of all seals of the request. Beyond its maximum, no seal is opened.
 */
export function openReasoning(sealed: string, count: ValueCount): ReasoningDetail[] {
  if (!sealed.startsWith(sealPrefix)) return [];
  const text = Buffer.from(sealed.slice(sealPrefix.length), "base64").toString("utf8");
  return readReasoningDetails(parseShallowJson(text, count));
}

/** Collects a stream's details and joins their pieces. Separate pieces would make a seal many times as long. */
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

  get isEmpty(): boolean {
    return this.#details.length === 0;
  }

  /** Returns the details since the last call. */
  drain(): ReasoningDetail[] {
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

/** Identifies the gateway's own seals and their version. */
const sealPrefix = "gateway-reasoning-v1:";

/**
 * Removes other upstreams' sealed reasoning, which OpenAI rejects. Converts summaries of this gateway to
 * messages. Returns the same request if there is nothing to change.
 */
export function withoutSealedReasoning(request: DialectRequest): DialectRequest {
  const { bytes } = request;
  if (!bytes.includes('"gateway-') && !bytes.includes('"rs_')) return request;
  // Reading the body may parse all bytes, so the search comes first.
  const { body } = request;
  if (!Array.isArray(body["input"])) return request;
  const input = body["input"] as unknown[];
  const rest = input.filter((item) => !isOurs(item)).map(withReadableSummary);
  if (rest.length === input.length && rest.every((item, index) => item === input[index])) return request;
  return { ...request, body: { ...body, input: rest }, modelRange: null };
}

/** Text-only reasoning has no seal, but an ID of this gateway. OpenAI's IDs have no second underscore. */
function isOurs(item: unknown): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { encrypted_content: sealed, id } = item;
  if (typeof sealed === "string") return sealed.startsWith(sealPrefix);
  return typeof id === "string" && /^rs_[0-9a-z]{26}_\d+$/.test(id);
}
