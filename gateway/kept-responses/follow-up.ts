import type { FollowUp } from "../completions/operation.ts";
import { type BodyLimits, parseBody } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import type { KeptItems } from "./response-store.ts";

export type FollowUpLimits = BodyLimits & Readonly<Record<"requestTranslatedBytesMax", number>>;

/** `id` is untrusted: a client may send any text. */
export type FindResponse = (id: string) => KeptItems | null | Promise<KeptItems | null>;

/** Finds possible references to kept responses without parsing the body. */
export function mayFollowUp(bytes: Buffer): boolean {
  return bytes.includes('"previous_response_id"') || bytes.includes('"item_reference"');
}

/**
 * Replaces a request's references to kept responses with their items. Null for a body without references, and
 * for an invalid body. Throws `request_too_large`, and `service_unavailable` from `find`.
 */
export async function readFollowUp(
  bytes: Buffer,
  limits: FollowUpLimits,
  find: FindResponse,
): Promise<FollowUp | null> {
  const body = parseIfValid(bytes, limits);
  if (body === null) return null;
  const { previous_response_id: previous, input } = body;
  const previousId = typeof previous === "string" ? previous : null;
  const items: unknown[] = Array.isArray(input) ? input : [];
  const references = items.flatMap((item) => referenceOf(item) ?? []);
  if (previousId === null && references.length === 0) return null;

  const ids = new Set([previousId, ...references.map(responseIdOf)].filter((id) => id !== null));
  const found = await findAll(ids, find);
  const [firstReference = ""] = references;
  const missing = previousId === null ? itemNotFound(firstReference) : previousResponseNotFound(previousId);
  if (found.size === 0) return { bytes, previousResponseId: previousId, missing };
  return { ...resolve(body, found, limits.requestTranslatedBytesMax), previousResponseId: previousId };
}

function resolve(
  { previous_response_id: previous, input, ...rest }: Record<string, unknown>,
  found: ReadonlyMap<string, KeptItems>,
  bytesMax: number,
): Pick<FollowUp, "bytes" | "missing"> {
  const items: unknown[] = Array.isArray(input) ? input : [];
  const resolved = new ReferencedItems(found, bytesMax);
  const list = new ItemList(bytesMax);
  let missing: GatewayError | null = null;
  const kept = typeof previous === "string" ? found.get(previous) : undefined;
  if (kept) {
    list.addAll(kept.input);
    list.addAll(kept.output);
  } else if (typeof previous === "string") missing = previousResponseNotFound(previous);
  if (typeof input === "string") list.add(JSON.stringify({ role: "user", content: input }));
  for (const item of items) {
    const id = referenceOf(item);
    const text = id === null ? null : resolved.get(id);
    if (id !== null && text === null) missing ??= itemNotFound(id);
    list.add(text ?? JSON.stringify(item));
  }
  const others = kept ? rest : { ...rest, previous_response_id: previous };
  const members = JSON.stringify({ ...others, input: [] }).slice(0, -"]}".length);
  return { bytes: Buffer.from(`${members}${list.text}]}`), missing };
}

function readItemId(id: string): { responseId: string; isInput: boolean; index: number } | null {
  const [, suffix, place, index] = /^[a-z]{1,8}_([0-9a-hjkmnp-tv-z]{26})_(in)?(\d{1,6})$/.exec(id) ?? [];
  if (suffix === undefined) return null;
  return { responseId: `resp_${suffix}`, isInput: place !== undefined, index: Number(index) };
}

/** IDs in another format cannot come from this gateway, so they need no lookup. */
export function isResponseId(id: string): boolean {
  return /^resp_[0-9a-hjkmnp-tv-z]{26}$/.test(id);
}

function parseIfValid(bytes: Buffer, limits: BodyLimits): Record<string, unknown> | null {
  try {
    return parseBody(bytes, limits, () => {});
  } catch {
    return null;
  }
}

function referenceOf(item: unknown): string | null {
  if (!isObject(item) || item["type"] !== "item_reference") return null;
  const { id } = item;
  return typeof id === "string" ? id : null;
}

function responseIdOf(itemId: string): string | null {
  return readItemId(itemId)?.responseId ?? null;
}

async function findAll(ids: Set<string>, find: FindResponse): Promise<ReadonlyMap<string, KeptItems>> {
  const known = [...ids].slice(0, lookupsMax);
  const found = await Promise.all(known.map(async (id) => [id, await find(id)] as const));
  return new Map(found.flatMap(([id, each]) => (each ? [[id, each]] : [])));
}

/** Real requests refer to fewer responses. */
const lookupsMax = 1_000;

/** Parses each response's input and output at most once. `bytesMax` bounds the parsed bytes of all responses. */
class ReferencedItems {
  readonly #responses: ReadonlyMap<string, KeptItems>;
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #parsed = new Map<Buffer, unknown[]>();

  constructor(responses: ReadonlyMap<string, KeptItems>, bytesMax: number) {
    this.#responses = responses;
    this.#bytesMax = bytesMax;
  }

  get(id: string): string | null {
    const place = readItemId(id);
    const response = place && this.#responses.get(place.responseId);
    if (!place || !response) return null;
    const items = this.#parse(place.isInput ? response.input : response.output);
    const item = items[place.index];
    const isIt = isObject(item) && (item["id"] === id || (place.isInput && item["id"] === undefined));
    return isIt ? JSON.stringify(item) : null;
  }

  #parse(bytes: Buffer): unknown[] {
    let items = this.#parsed.get(bytes);
    if (items === undefined) {
      this.#bytes += bytes.length;
      if (this.#bytes > this.#bytesMax) throw tooLarge(this.#bytesMax);
      items = JSON.parse(bytes.toString("utf8")) as unknown[];
      this.#parsed.set(bytes, items);
    }
    return items;
  }
}

/** Bounds the resolved input, because a small body can refer to a large item many times. */
class ItemList {
  readonly #bytesMax: number;
  readonly #items: string[] = [];
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get text(): string {
    return this.#items.join(",");
  }

  /** @param list a JSON array */
  addAll(list: Buffer): void {
    if (list.length > 2) this.add(list.toString("utf8", 1, list.length - 1));
  }

  add(text: string): void {
    this.#length += text.length + 1;
    if (this.#length > this.#bytesMax) throw tooLarge(this.#bytesMax);
    this.#items.push(text);
  }
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request and the stored responses that it refers to exceed ${bytesMax} bytes in total. Start a new conversation, or raise REQUEST_TRANSLATED_BYTES_MAX.`,
  );
}

/** Starts with OpenAI's wording, which clients parse. */
function previousResponseNotFound(id: string): GatewayError {
  return new GatewayError(
    "previous_response_not_found",
    `Previous response with id '${quotable(id)}' not found. Send the whole conversation in \`input\`, because the gateway keeps responses for a limited time.`,
    { param: "previous_response_id" },
  );
}

function itemNotFound(id: string): GatewayError {
  return new GatewayError(
    "item_not_found",
    `Item with id '${quotable(id)}' not found. Send the item itself: stored items expire, and responses with \`store: false\` are never stored.`,
    { param: "input" },
  );
}

export function quotable(id: string): string {
  return id.slice(0, 100).replaceAll(/[^\w-]/g, "?");
}
