import type { FollowUp } from "../completions/operation.ts";
import type { BodyLimits } from "../dialects/parse-body.ts";
import { GatewayError } from "../errors.ts";
import {
  countValues,
  isKey,
  isObject,
  openBrace,
  parseShortJson,
  quote,
  scanMembers,
  type VisitMember,
} from "../wire/json.ts";
import { LongTexts } from "../wire/long-texts.ts";
import { itemAt, joinItems, type JsonItems, listItems, splitItems, withCommas } from "../wire/json-items.ts";
import type { KeptItems } from "./response-store.ts";

export type FollowUpLimits = BodyLimits & Readonly<Record<"requestTranslatedBytesMax", number>>;

/** `id` is untrusted: a client may send any text. */
export type FindResponse = (id: string) => KeptItems | null | Promise<KeptItems | null>;

/** Finds possible references to kept responses without parsing the body. */
export function mayFollowUp(bytes: Buffer): boolean {
  return bytes.includes('"previous_response_id"') || bytes.includes('"item_reference"');
}

/** A follow-up, and the items of its joined input. */
export type ResolvedFollowUp = FollowUp & { joinInput(): JsonItems };

/**
 * Finds the kept responses that a request refers to. Joins bytes and parses only short references. Null for a body
 * without references, and for an invalid body. Throws `request_too_large`, and `service_unavailable` from `find`.
 */
export async function readFollowUp(
  bytes: Buffer,
  limits: FollowUpLimits,
  find: FindResponse,
): Promise<ResolvedFollowUp | null> {
  const body = readBodyMembers(bytes, limits);
  if (body === null) return null;
  const { previousId } = body;
  const references = body.items.map(referenceOf);
  const referenced = references.filter((id) => id !== null);
  if (previousId === null && referenced.length === 0) return null;

  const responseIds = referenced.map((id) => readItemId(id)?.responseId ?? null);
  const found = await findAll(new Set([previousId, ...responseIds].filter((id) => id !== null)), find);
  if (found.size > 0) return resolve(body, references, found, limits.requestTranslatedBytesMax);
  const [firstReference = ""] = referenced;
  return {
    kept: { bytes: 0, tokens: null },
    bytesLength: bytes.length,
    previousResponseId: previousId,
    missing: previousId === null ? itemNotFound(firstReference) : previousResponseNotFound(previousId),
    join: () => bytes,
    joinInput: () => listItems(body.items),
  };
}

/** @param references the ID that each item of the input refers to, or null */
function resolve(
  { previousId, previousMember, others, items }: BodyMembers,
  references: readonly (string | null)[],
  found: ReadonlyMap<string, KeptItems>,
  bytesMax: number,
): ResolvedFollowUp {
  const findItem = itemFinder(found);
  const kept = previousId === null ? undefined : found.get(previousId);
  const previous = kept ? [kept.input, kept.output] : [];
  let missing = previousId === null || kept ? null : previousResponseNotFound(previousId);
  const own: Buffer[] = [];
  for (const [index, item] of items.entries()) {
    const id = references[index] ?? null;
    const text = id === null ? null : findItem(id);
    if (id !== null && text === null) missing ??= itemNotFound(id);
    own.push(text ?? item);
  }
  const input = [...previous.map(({ bytes }) => bytes), ...own].filter(({ length }) => length > 0);
  // A small body can refer to a large item many times.
  if (lengthOf(input) + input.length > bytesMax) throw tooLarge(bytesMax);
  const members = kept || previousMember === null ? others : [...others, previousMember];
  const parts = [
    Buffer.from("{"),
    ...withCommas([...members, Buffer.from('"input":[')]),
    ...withCommas(input),
    Buffer.from("]}"),
  ];
  const keptBytes = lengthOf(previous.map(({ bytes }) => bytes));
  return {
    kept: { bytes: keptBytes, tokens: kept?.tokens || null },
    bytesLength: lengthOf(parts),
    previousResponseId: previousId,
    missing,
    join: () => Buffer.concat(parts),
    joinInput: () => joinItems([...previous, listItems(own)]),
  };
}

type BodyMembers = {
  previousId: string | null;
  /** The text of the member `previous_response_id`, with its name. */
  previousMember: Buffer | null;
  /** The text of the other members, without `input`. */
  others: Buffer[];
  /** The text of each item of `input`. */
  items: Buffer[];
};

/** Null for an invalid body, as far as a scan finds out. Of several members with one name, the last counts. */
function readBodyMembers(bytes: Buffer, limits: BodyLimits): BodyMembers | null {
  const { requestJsonDepthMax, requestJsonValuesMax } = limits;
  const others: Buffer[] = [];
  const read: Omit<BodyMembers, "others"> = { previousId: null, previousMember: null, items: [] };
  const visit: VisitMember = (keyStart, keyEnd, start, end) => {
    const member = bytes.subarray(keyStart - 1, end);
    if (isKey(bytes, keyStart, keyEnd, "input")) read.items = readInput(bytes, start, end);
    else if (isKey(bytes, keyStart, keyEnd, "previous_response_id")) {
      read.previousMember = member;
      read.previousId = bytes[start] === quote ? String(parseShortJson(bytes, start, end)) : null;
    } else others.push(member);
  };
  const count = countValues(requestJsonValuesMax);
  const texts = new LongTexts(bytes);
  const result = scanMembers(bytes, 0, bytes.length, requestJsonDepthMax, visit, count, texts);
  return result === "complete" ? { ...read, others } : null;
}

/** Returns the input items of a valid request. A text is the message of a user. */
export function readInputItems(bytes: Buffer): JsonItems {
  let items: Buffer[] = [];
  scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(bytes, keyStart, keyEnd, "input")) items = readInput(bytes, start, end);
  });
  return listItems(items);
}

function readInput(bytes: Buffer, start: number, end: number): Buffer[] {
  if (bytes[start] !== quote) return splitItems(bytes, start, end);
  return [
    Buffer.concat([Buffer.from('{"role":"user","content":'), bytes.subarray(start, end), Buffer.from("}")]),
  ];
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
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

/** Real references are short. */
function referenceOf(item: Buffer): string | null {
  if (!item.includes('"item_reference"')) return null;
  const parsed = parseShortJson(item, 0, item.length);
  if (!isObject(parsed) || parsed["type"] !== "item_reference") return null;
  const { id } = parsed;
  return typeof id === "string" ? id : null;
}

async function findAll(ids: Set<string>, find: FindResponse): Promise<ReadonlyMap<string, KeptItems>> {
  const known = [...ids].slice(0, lookupsMax);
  const found = await Promise.all(known.map(async (id) => [id, await find(id)] as const));
  return new Map(found.flatMap(([id, each]) => (each ? [[id, each]] : [])));
}

/** Real requests refer to fewer responses. */
const lookupsMax = 1_000;

/** Finds each item at most once. */
function itemFinder(responses: ReadonlyMap<string, KeptItems>): (id: string) => Buffer | null {
  const items = new Map<string, Buffer | null>();
  return (id) => {
    let item = items.get(id);
    if (item === undefined) items.set(id, (item = findItemIn(responses, id)));
    return item;
  };
}

function findItemIn(responses: ReadonlyMap<string, KeptItems>, id: string): Buffer | null {
  const place = readItemId(id);
  const response = place && responses.get(place.responseId);
  const item = response && itemAt(place.isInput ? response.input : response.output, place.index);
  if (!item || item[0] !== openBrace) return null;
  const ownId = readId(item);
  return ownId === id || (place.isInput && ownId === undefined) ? item : null;
}

/** Returns undefined for an item without an ID. */
function readId(item: Buffer): unknown {
  let id: unknown;
  scanMembers(item, 0, item.length, Infinity, (keyStart, keyEnd, start, end) => {
    if (isKey(item, keyStart, keyEnd, "id")) id = parseShortJson(item, start, end);
  });
  return id;
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
