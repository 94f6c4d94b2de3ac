import { parseBody, type BodyLimits } from "../../dialects/parse-body.ts";
import { GatewayError } from "../../errors.ts";
import { comma, countValues, isKey, parseShortJson, scanMembers } from "../../wire/json.ts";
import { LongTexts } from "../../wire/long-texts.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";

/** One `response.create` event of a client. */
export type Turn = {
  /** Turns with the same ID run one after another. Null if the client sent none. */
  streamId: string | null;
  /** The body of the equivalent streamed HTTP request. Not parsed yet. */
  bytes: Buffer;
  /** Whether the turn only submits input for later turns, with `generate: false`. */
  isWarmUp: boolean;
};

/**
 * Cuts the event's own members out of a client's message, without parsing the others. Changes the message, because a
 * copy of a long one would block other requests. Throws a `GatewayError` for a message of another type, or of no type.
 * https://developers.openai.com/api/docs/guides/websocket-mode
 */
export function readTurn(message: Buffer, limits: BodyLimits): Turn {
  const event: Partial<Record<EventMember, unknown>> = {};
  const others: [start: number, end: number][] = [];
  const count = countValues(limits.requestJsonValuesMax);
  const visit = (keyStart: number, keyEnd: number, start: number, end: number) => {
    const name = eventMembers.find((each) => isKey(message, keyStart, keyEnd, each));
    if (name === undefined) others.push([keyStart - 1, end]);
    else event[name] = readShort(message, start, end);
  };
  // The skipper is faster for texts with many escapes.
  const texts = new LongTexts(message);
  const result = scanMembers(message, 0, message.length, limits.requestJsonDepthMax, visit, count, texts);
  if (result !== "complete") throw problemOf(message, limits);
  const { type, stream_id: streamId = null, generate } = event;
  if (type !== "response.create") throw invalidValue("type", "must be response.create", type);
  if (streamId !== null && (typeof streamId !== "string" || streamId.length > streamIdCharactersMax)) {
    const expected = `must be a string of at most ${streamIdCharactersMax} characters`;
    throw invalidValue("stream_id", expected, streamId);
  }
  return { streamId, bytes: keepMembers(message, others), isWarmUp: generate === false };
}

/** Moves the members to the start of the message, followed by `stream`, which is shorter than `type` was. */
function keepMembers(message: Buffer, members: readonly [start: number, end: number][]): Buffer {
  // A short message may be a part of a received chunk, which must not stay in memory.
  const bytes = message.length < message.buffer.byteLength ? Buffer.from(message) : message;
  bytes[0] = openBrace;
  let length = 1;
  for (const [start, end] of members) {
    bytes.copyWithin(length, start, end);
    length += end - start;
    bytes[length++] = comma;
  }
  length += bytes.write('"stream":true}', length);
  return bytes.subarray(0, length);
}

/** The members that only the event has, and `stream`, which each turn sets. */
const eventMembers = ["type", "stream_id", "generate", "stream"] as const;

type EventMember = (typeof eventMembers)[number];

/** A long value is valid for none of the members. */
function readShort(bytes: Buffer, start: number, end: number): unknown {
  return end - start > valueBytesMax ? undefined : parseShortJson(bytes, start, end);
}

/** Parses an invalid message only for its error, which is the error of an HTTP request. */
function problemOf(message: Buffer, limits: BodyLimits): unknown {
  try {
    parseBody(message, limits, () => {});
  } catch (error) {
    return error;
  }
  return new GatewayError("invalid_body", "The message is not a JSON object. Send an object.");
}

const openBrace = 0x7b;
const streamIdCharactersMax = 128;
/** Enough for the characters of a stream ID as escapes. */
const valueBytesMax = 1_024;
