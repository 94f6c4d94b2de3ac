import { GatewayError } from "../errors.ts";
import { badAnswer } from "./bad-answer.ts";
import { parseExactParts } from "./exact-numbers.ts";
import { countValues, isObject, scanMembers } from "./json.ts";

/** Parses one event of an upstream's stream. Throws for an event that is not an object or has too many values. */
export function parseEvent(data: string): Record<string, unknown> {
  const event = parseValue(data);
  if (!isObject(event)) throw badAnswer("malformed");
  return event;
}

/** Parses an event that may be any value. Throws for too many values. */
export function parseValue(data: string): unknown {
  // A short text cannot contain enough values to delay other requests.
  if (data.length > uncountedLengthMax) checkComplexity(Buffer.from(data), eventValuesMax);
  return parseKept(data);
}

/** Parses a whole answer of an upstream. Throws for an answer with too many values. */
export function parseAnswer(bytes: Buffer): unknown {
  if (bytes.length > uncountedLengthMax) checkComplexity(bytes, answerValuesMax);
  return parseKept(bytes.toString("utf8"));
}

function parseKept(text: string): unknown {
  try {
    return parseExactParts(text);
  } catch (error) {
    throw error instanceof GatewayError ? tooComplex() : error;
  }
}

const tooComplex = () => badAnswer("too complex", "answer_too_long");

/** Parses a part of an answer. Returns null for invalid JSON and for too many values. */
export function parsePart(bytes: Buffer): unknown {
  try {
    const object: unknown = parseAnswer(Buffer.concat([partStart, bytes, partEnd]));
    return isObject(object) ? object["part"] : null;
  } catch {
    return null;
  }
}

/** Counts the values before parsing, because parsing megabytes of small values would delay other requests. */
function checkComplexity(bytes: Buffer, valuesMax: number): void {
  const result = scanMembers(bytes, 0, bytes.length, depthMax, () => {}, countValues(valuesMax));
  if (result === "too deep" || result === "too many values") throw tooComplex();
}

// The scanner of values accepts only objects.
const partStart = Buffer.from('{"part":');
const partEnd = Buffer.from("}");
const uncountedLengthMax = 64 * 1024;
const depthMax = 1_000;
/** More than the log probabilities of a long answer. Parsing as many values takes some 100 ms. */
const answerValuesMax = 1_000_000;
/** More than the log probabilities of 1,000 tokens. Each value of an event can become an event for the client. */
const eventValuesMax = 100_000;
