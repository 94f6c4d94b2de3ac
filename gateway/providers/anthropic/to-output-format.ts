import { unsupported } from "../../wire/unsupported.ts";
import { expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import type { OutputFormat, TextBlock } from "./messages-request.ts";
import { toStrictSchema } from "./to-strict-schema.ts";

/**
 * A schema is a thing of its own for Anthropic; JSON without one can only be asked for in words.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function toOutputFormat(value: unknown): { format?: OutputFormat; instruction?: TextBlock } {
  const responseFormat = ifGiven(value, "response_format", expectObject);
  if (responseFormat === undefined) return {};
  const param = "response_format.json_schema";
  switch (expectString(responseFormat["type"], "response_format.type")) {
    case "text":
      return {};
    case "json_object":
      return { instruction: jsonInstruction };
    case "json_schema": {
      const { schema, description } = expectObject(responseFormat["json_schema"], param);
      const given = ifGiven(schema, `${param}.schema`, expectObject);
      if (given === undefined) return { instruction: jsonInstruction };
      const about = ifGiven(description, `${param}.description`, expectString);
      const described = about === undefined ? given : { description: about, ...given };
      return { format: { type: "json_schema", schema: toStrictSchema(described) } };
    }
    default:
      throw unsupported("response_format.type", "Claude can write text, json_object and json_schema.");
  }
}

const jsonInstruction: TextBlock = {
  type: "text",
  text: "Answer with one valid JSON object and nothing else: no text around it, no code fence.",
};
