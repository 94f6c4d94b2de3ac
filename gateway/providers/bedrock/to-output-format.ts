import { unsupported } from "../../wire/unsupported.ts";
import type { OutputConfig } from "./converse-request.ts";
import { expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import type { ModelFamily } from "./model-family.ts";

export type OutputFormat = {
  outputConfig?: OutputConfig | undefined;
  /** What has to be said to the model in words, as there is no parameter for it. */
  instruction?: string | undefined;
};

/** https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html */
export function toOutputFormat(responseFormat: unknown, family: ModelFamily): OutputFormat {
  const format = ifGiven(responseFormat, "response_format", expectObject) ?? { type: "text" };
  switch (format["type"]) {
    case "text":
      return {};
    case "json_object":
      return { instruction: "Answer with a JSON object and nothing else, without a code fence." };
    case "json_schema":
      return toSchemaFormat(format["json_schema"], "response_format.json_schema", family);
    default:
      throw unsupported("response_format.type", "Use text, json_object or json_schema.");
  }
}

function toSchemaFormat(value: unknown, param: string, family: ModelFamily): OutputFormat {
  const named = expectObject(value, param);
  const schema = JSON.stringify(expectObject(named["schema"], `${param}.schema`));
  if (!takesSchema(family)) return { instruction: `${schemaInstruction}\n${schema}` };
  const name = ifGiven(named["name"], `${param}.name`, expectString);
  const description = ifGiven(named["description"], `${param}.description`, expectString);
  const structure = { jsonSchema: { schema, name, description } };
  return { outputConfig: { textFormat: { type: "json_schema", structure } } };
}

/**
 * Bedrock holds requests for Claude to a schema of its own, which does not know this parameter for older models and, so far,
 * for many newer ones: "output_config.format: Extra inputs are not permitted".
 */
function takesSchema({ name, version }: ModelFamily): boolean {
  return name !== "claude" || version === 405 || version === 406;
}

const schemaInstruction =
  "Answer with a JSON object that matches this JSON schema and nothing else, without a code fence:";
