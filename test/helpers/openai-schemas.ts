import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv, type ValidateFunction } from "ajv";

/** Validators for OpenAI's schemas. An empty list means that the value is valid. */
export type OpenAiSchemas = {
  faultsOfAnswer(answer: unknown): string[];
  faultsOfEvent(event: unknown): string[];
  faultsOfCompletion(completion: unknown): string[];
  faultsOfChunk(chunk: unknown): string[];
};

/** Returns null if the schemas are missing. The project does not include them. */
export function loadOpenAiSchemas(): OpenAiSchemas | null {
  const responses = readDocument("openai-responses.schema.json");
  const chat = readDocument("openai-chat.schema.json");
  if (responses === null || chat === null) return null;
  // Strict mode would reject OpenAPI's additional keywords.
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(responses, "responses");
  ajv.addSchema(chat, "chat");
  const compile = (name: string) => ajv.compile({ $ref: `${name}` });
  const answer = compile("responses#/components/schemas/Response");
  const completion = compile("chat#/components/schemas/CreateChatCompletionResponse");
  const chunk = compile("chat#/components/schemas/CreateChatCompletionStreamResponse");
  // Each event is validated only against its type's schema. All schemas would turn one error into hundreds.
  const { schemas } = responses.components;
  const events = new Map(
    (schemas["ResponseStreamEvent"]?.anyOf ?? []).map(({ $ref }) => {
      const name = $ref.slice($ref.lastIndexOf("/") + 1);
      return [schemas[name]?.properties?.type?.enum?.[0], compile(`responses#/components/schemas/${name}`)];
    }),
  );
  return {
    faultsOfAnswer: (value) => faultsOf(answer, value),
    faultsOfCompletion: (value) => faultsOf(completion, value),
    faultsOfChunk: (value) => faultsOf(chunk, value),
    faultsOfEvent(value) {
      const { type } = value as { type?: string };
      const validate = events.get(type);
      return validate ? faultsOf(validate, value) : [`no event is called ${type}`];
    },
  };
}

type Definition = { anyOf?: { $ref: string }[]; properties?: { type?: { enum?: string[] } } };

type Document = { components: { schemas: Record<string, Definition> } };

function readDocument(name: string): Document | null {
  const file = path.resolve(import.meta.dirname, "../../../shared/reference", name);
  return existsSync(file) ? (spellNulls(JSON.parse(readFileSync(file, "utf8"))) as Document) : null;
}

/** Rewrites OpenAPI's `nullable` as JSON Schema, because Ajv supports `nullable` only beside a type. */
function spellNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(spellNulls);
  if (typeof schema !== "object" || schema === null) return schema;
  const { nullable, ...rest }: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, spellNulls(value)]),
  );
  if (nullable !== true) return nullable === undefined ? rest : { ...rest, nullable };
  return { anyOf: [rest, { type: "null" }] };
}

function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? [])
    .map(({ instancePath, message }) => `${instancePath} ${message}`)
    .filter((fault) => fault !== nullUsage);
}

/** OpenAI's streams start with `usage: null`, which Open Responses requires and OpenAI's schema forbids. */
const nullUsage = "/response/usage must be object";
