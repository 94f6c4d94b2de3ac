import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv, type ValidateFunction } from "ajv";

/** Looks at answers and events with OpenAI's own description of them. */
export type ResponseSchema = {
  /** What is wrong with a whole answer; empty where nothing is. */
  faultsOfAnswer(answer: unknown): string[];
  faultsOfEvent(event: unknown): string[];
};

/** Null where the description is not at hand: it is not ours to publish. */
export function loadResponseSchema(): ResponseSchema | null {
  const file = path.resolve(import.meta.dirname, "../../../../shared/reference/openai-responses.schema.json");
  if (!existsSync(file)) return null;
  const document = JSON.parse(readFileSync(file, "utf8")) as Document;
  // What it has beyond JSON Schema belongs to OpenAPI.
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, "openai");
  const compile = (name: string) => ajv.compile({ $ref: `openai#/components/schemas/${name}` });
  const answer = compile("Response");
  // One by one: an event that fits none of sixty forms would have hundreds of faults.
  const events = new Map(
    document.components.schemas.ResponseStreamEvent.anyOf.map(({ $ref }) => {
      const name = $ref.slice($ref.lastIndexOf("/") + 1);
      return [document.components.schemas[name]?.properties?.type?.enum?.[0], compile(name)];
    }),
  );
  return {
    faultsOfAnswer: (value) => faultsOf(answer, value),
    faultsOfEvent(value) {
      const { type } = value as { type?: string };
      const validate = events.get(type);
      return validate ? faultsOf(validate, value) : [`no event is called ${type}`];
    },
  };
}

type Definition = { properties?: { type?: { enum?: string[] } } };

type Document = {
  components: {
    schemas: Record<string, Definition> & { ResponseStreamEvent: { anyOf: { $ref: string }[] } };
  };
};

function faultsOf(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
