import type { EmbeddingsRequestBody } from "../../wire/chat-completion.ts";
import { invalidType, invalidValue } from "../../wire/parameter-errors.ts";
import {
  aString,
  checkOptional,
  checkRequired,
  integerFrom,
  parameterCheck,
  type BodyLimits,
  OutlinedRequest,
  outlineModelBody,
  requestSchema,
  requestMembers,
} from "../parse-body.ts";

export type EmbeddingsRequest = OutlinedRequest<EmbeddingsRequestBody>;

/** Throws like `Dialect.readRequest`. https://platform.openai.com/docs/api-reference/embeddings/create */
export function readEmbeddingsRequest(bytes: Buffer, limits: BodyLimits): EmbeddingsRequest {
  const { outline, parseWhole, modelRange } = outlineModelBody(bytes, limits, embeddingsMembers);
  checkRequired(outline, requiredParameters);
  checkOptional(outline, optionalParameters);
  const members = { bytes, outline: outline as EmbeddingsRequestBody, parseWhole, modelRange };
  const request = new OutlinedRequest(members);
  request.stream = false;
  return request;
}

const tokens = { type: "array", items: { type: "integer", minimum: 0 } };

const inputSchema = {
  anyOf: [
    { type: "string" },
    { type: "array", minItems: 1, items: { type: "string" } },
    { ...tokens, minItems: 1 },
    { type: "array", minItems: 1, items: tokens },
  ],
};

const textsOrTokens = parameterCheck(inputSchema, (input, name) => {
  if (typeof input === "string") return;
  if (!Array.isArray(input)) throw invalidType(name, "a string or an array", input);
  if (input.length === 0) throw invalidValue(name, "must not be empty");
  const areTexts = input.every((item) => typeof item === "string");
  const areTokens = input.every(isToken);
  const areTokenLists = input.every((item) => Array.isArray(item) && item.every(isToken));
  if (!areTexts && !areTokens && !areTokenLists)
    throw invalidType(name, "strings, or lists of token IDs", input);
});

function isToken(item: unknown): boolean {
  return Number.isInteger(item) && (item as number) >= 0;
}

const anEncoding = parameterCheck({ enum: ["float", "base64"] }, (value, name) => {
  if (value !== "float" && value !== "base64") throw invalidValue(name, "must be float or base64", value);
});

const requiredParameters = [
  ["model", aString],
  ["input", textsOrTokens],
] as const;

const optionalParameters = [
  ["encoding_format", anEncoding],
  ["dimensions", integerFrom(1)],
] as const;

const embeddingsMembers = requestMembers(requiredParameters, optionalParameters);

export const embeddingsRequestSchema = requestSchema(requiredParameters, optionalParameters);
