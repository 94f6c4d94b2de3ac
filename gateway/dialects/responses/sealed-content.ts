import { type ReasoningDetail, readReasoningDetails } from "../../wire/chat-completion.ts";
import { type ValueCount, isObject } from "../../wire/json.ts";
import { parseShallowJson } from "../../wire/parse-shallow-object.ts";
import type { DialectRequest } from "../dialect.ts";

/** Clients return `encrypted_content` unchanged. It holds no secret, so it needs no encryption. */
export function sealReasoning(details: readonly ReasoningDetail[]): string {
  return `${sealPrefix}${Buffer.from(JSON.stringify(details)).toString("base64")}`;
}

/**
 * Returns no details for text that this gateway did not seal.
 * @param count counts the JSON values of all sealed texts in a request. Above its maximum, the result is
 * empty.
 */
export function openReasoning(sealed: string, count: ValueCount): ReasoningDetail[] {
  if (!sealed.startsWith(sealPrefix)) return [];
  const text = Buffer.from(sealed.slice(sealPrefix.length), "base64").toString("utf8");
  return readReasoningDetails(parseShallowJson(text, count));
}

/** Joins a stream's reasoning details, because separate pieces would make `encrypted_content` many times as long. */
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

const sealPrefix = "gateway-reasoning-v1:";

/** Removes our reasoning items, which OpenAI rejects, and converts our summaries. Returns an unchanged request itself. */
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

/** Unsealed reasoning is recognized by its ID: OpenAI's IDs have no second underscore. */
function isOurs(item: unknown): boolean {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { encrypted_content: sealed, id } = item;
  if (typeof sealed === "string") return sealed.startsWith(sealPrefix);
  return typeof id === "string" && /^rs_[0-9a-z]{26}_\d+$/.test(id);
}

/** The `encrypted_content` of a `compaction` item. It contains no secret, so it is not encrypted. */
export function formatSummary(text: string): string {
  return `${summaryPrefix}${Buffer.from(text).toString("base64")}`;
}

/** Returns null for any item except this gateway's `compaction` items. */
export function readSummary(item: Record<string, unknown>): string | null {
  const { type, encrypted_content: content } = item;
  if (type !== "compaction" || typeof content !== "string" || !content.startsWith(summaryPrefix)) return null;
  const text = Buffer.from(content.slice(summaryPrefix.length), "base64").toString("utf8");
  return `Summary of the conversation so far:\n${text}`;
}

/** Converts this gateway's `compaction` item to a message that any upstream can read. */
function withReadableSummary(item: unknown): unknown {
  const text = isObject(item) ? readSummary(item) : null;
  return text === null ? item : { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

const summaryPrefix = "gateway-summary-v1:";
