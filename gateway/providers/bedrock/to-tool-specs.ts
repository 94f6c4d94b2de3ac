import type { ChatRequestBody } from "../../wire/chat-completion.ts";
import { unsupported } from "../../wire/unsupported.ts";
import { cachePointAfter } from "./cache-point.ts";
import type { ConverseMessage, ToolConfig, ToolSpec } from "./converse-request.ts";
import { expectArray, expectObject, expectString, ifGiven } from "../../wire/expect-type.ts";
import type { ModelFamily } from "./model-family.ts";

/**
 * The functions of a request, those of `names` or all. `strict` is left out: many models refuse the whole request for it, and
 * the schema is given to them anyway.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
 */
export function toToolSpecs(
  body: ChatRequestBody,
  names: ReadonlySet<string> | null,
  family: ModelFamily,
): ToolConfig["tools"] {
  return (ifGiven(body["tools"], "tools", expectArray) ?? []).flatMap((value, index) => {
    const param = `tools[${index}]`;
    const tool = expectObject(value, param);
    if (tool["type"] !== "function") {
      throw unsupported(`${param}.type`, "Models on Bedrock call functions only.");
    }
    const spec = toToolSpec(expectObject(tool["function"], `${param}.function`), `${param}.function`);
    return names === null || names.has(spec.name)
      ? [{ toolSpec: spec }, ...cachePointAfter(tool, family, "tools")]
      : [];
  });
}

function toToolSpec({ name, description, parameters }: Record<string, unknown>, param: string): ToolSpec {
  const words = ifGiven(description, `${param}.description`, expectString) ?? "";
  return {
    name: expectString(name, `${param}.name`),
    // One that is there must say something.
    description: words.trim() === "" ? undefined : words,
    inputSchema: { json: ifGiven(parameters, `${param}.parameters`, expectObject) ?? emptySchema },
  };
}

/** The functions that were called in the conversation, of which no more is known than their names. */
export function toPastToolSpecs(messages: ConverseMessage[]): ToolConfig["tools"] {
  const blocks = messages.flatMap(({ content }) => content);
  const names = new Set(blocks.flatMap((block) => ("toolUse" in block ? block.toolUse.name : [])));
  return [...names].map((name) => ({ toolSpec: { name, inputSchema: { json: emptySchema } } }));
}

const emptySchema = { type: "object", properties: {} };
