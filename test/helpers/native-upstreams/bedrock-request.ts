import type { SeenRequest } from "../scripted-upstream.ts";
import { extraneous, readConverseMessages } from "./bedrock-messages.ts";
import type { Asked } from "./native-upstream.ts";
import {
  asFields,
  asList,
  asOptionalList,
  asOptionalNumber,
  asText,
  demand,
  demandClosed,
  type Fields,
  onlyKnown,
  readJson,
} from "./vendor-refusal.ts";

/**
 * Validates a Converse request for a Claude model.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 * https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 */
export function readConverseRequest(
  request: SeenRequest,
  stream: boolean,
  thinking: "by budget" | "always",
): Asked {
  const body = readJson(request.body);
  const topLevel =
    "messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig";
  onlyKnown(body, topLevel, extraneous);
  const inference = asFields(body["inferenceConfig"] ?? {}, "inferenceConfig");
  onlyKnown(inference, "maxTokens temperature topP stopSequences", extraneous);
  const tools = asFields(body["toolConfig"] ?? { tools: [], toolChoice: { auto: {} } }, "toolConfig");
  onlyKnown(tools, "tools toolChoice", extraneous);
  const choice = asFields(tools["toolChoice"] ?? { auto: {} }, "toolConfig.toolChoice");
  demand(
    body["toolConfig"] === undefined || asList(tools["tools"], "toolConfig.tools").length > 0,
    "Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
  );
  const turns = readConverseMessages(body["messages"]);
  const usesTools = turns.some(({ parts }) => parts.some((part) => "call" in part || "result" in part));
  demand(
    !usesTools || body["toolConfig"] !== undefined,
    "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
  );
  return {
    stream,
    system: asOptionalList(body["system"], "system").map(readSystem).join("\n"),
    turns,
    tools: asList(tools["tools"], "toolConfig.tools").map(readTool),
    forcedTool:
      choice["tool"] === undefined ? null : asText(asFields(choice["tool"], "tool")["name"], "tool.name"),
    schema: readSchema(asFields(body["outputConfig"] ?? {}, "outputConfig")),
    temperature: asOptionalNumber(inference["temperature"], "temperature"),
    outputTokensMax: asOptionalNumber(inference["maxTokens"], "maxTokens"),
    stop: asOptionalList(inference["stopSequences"], "stopSequences").map((each) =>
      asText(each, "stopSequences"),
    ),
    isThinking: (thinking === "always" ? readEffort : readThinking)(body, inference, choice),
    includesUsage: true,
  };
}

function readSystem(each: unknown): string {
  const { text, ...rest } = asFields(each, "system");
  onlyKnown(rest, "", extraneous);
  demand(
    typeof text === "string" && text.length > 0,
    "Value at 'system.1.member.text' failed: Member must have length greater than or equal to 1",
  );
  return text;
}

function readTool(each: unknown): Asked["tools"][number] {
  const { toolSpec, ...others } = asFields(each, "toolConfig.tools");
  onlyKnown(others, "", extraneous);
  const { name, description, inputSchema, strict, ...rest } = asFields(toolSpec, "toolSpec");
  onlyKnown(rest, "", extraneous);
  demand(/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)), "Value at 'toolSpec.name' failed to satisfy constraint");
  demand(
    description !== "",
    "Value at 'toolSpec.description': Member must have length greater than or equal to 1",
  );
  const parameters = asFields(asFields(inputSchema, "toolSpec.inputSchema")["json"], "inputSchema.json");
  demand(
    parameters["type"] === "object",
    "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.",
  );
  if (strict === true) demandClosed(parameters, "tools.0.custom");
  return { name: String(name), description: asText(description ?? "", "description"), parameters };
}

function readSchema(outputConfig: Fields): unknown {
  onlyKnown(outputConfig, "textFormat", extraneous);
  if (outputConfig["textFormat"] === undefined) return null;
  const { type, structure, ...rest } = asFields(outputConfig["textFormat"], "outputConfig.textFormat");
  onlyKnown(rest, "", extraneous);
  demand(
    type === "json_schema",
    "Value at 'outputConfig.textFormat.type' failed: Member must satisfy enum value set: [json_schema]",
  );
  const { jsonSchema, ...others } = asFields(structure, "outputConfig.textFormat.structure");
  onlyKnown(others, "", extraneous);
  const definition = asFields(jsonSchema, "jsonSchema");
  onlyKnown(definition, "schema name description", extraneous);
  const schema = readJson(asText(definition["schema"], "jsonSchema.schema"));
  demandClosed(schema, "output_config.format.schema");
  return schema;
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html */
function readThinking(body: Fields, inference: Fields, choice: Fields): boolean {
  const more = asFields(body["additionalModelRequestFields"] ?? {}, "additionalModelRequestFields");
  onlyKnown(more, "thinking anthropic_beta tool_choice top_k", (name) =>
    theModel(`${name}: Extra inputs are not permitted`),
  );
  const thinking = asFields(more["thinking"] ?? { type: "disabled" }, "thinking");
  demand(thinking["type"] !== "adaptive", theModel("adaptive thinking is not supported on this model"));
  if (thinking["type"] === "disabled") return false;
  const budget = Number(thinking["budget_tokens"]);
  demand(
    budget >= 1024,
    theModel("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
  );
  demand(
    budget < Number(inference["maxTokens"] ?? 4096),
    theModel("`max_tokens` must be greater than `thinking.budget_tokens`."),
  );
  demand(
    (inference["temperature"] ?? 1) === 1,
    theModel("`temperature` may only be set to 1 when thinking is enabled."),
  );
  demand(
    choice["auto"] !== undefined,
    theModel("Thinking may not be enabled when tool_choice forces tool use."),
  );
  return !goesOnAfterTools(asList(body["messages"], "messages"));
}

/**
 * Returns whether the thoughts have their text. https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5
 */
function readEffort(body: Fields, inference: Fields, choice: Fields): boolean {
  const more = asFields(body["additionalModelRequestFields"] ?? {}, "additionalModelRequestFields");
  onlyKnown(more, "thinking output_config anthropic_beta tool_choice", (name) =>
    theModel(`${name}: Extra inputs are not permitted`),
  );
  demand(
    body["outputConfig"] === undefined,
    theModel("output_config.format: Structured output is not supported for this model."),
  );
  const { type, display } = asFields(more["thinking"] ?? { type: "adaptive" }, "thinking");
  demand(
    type === "adaptive",
    theModel(
      `"thinking.type.${String(type)}" is not supported for this model. Use "thinking.type.adaptive".`,
    ),
  );
  for (const name of ["temperature", "topP"]) {
    demand(inference[name] === undefined, theModel(`\`${name}\` is deprecated for this model.`));
  }
  const forced = asFields(more["tool_choice"] ?? { type: "auto" }, "tool_choice");
  demand(
    choice["auto"] !== undefined && (forced["type"] === "auto" || forced["type"] === "none"),
    theModel("Thinking may not be enabled when tool_choice forces tool use."),
  );
  return display === "summarized";
}

/** Returns whether the conversation ends with tool results. If so, throws unless the model's turn starts with thoughts. */
function goesOnAfterTools(messages: unknown[]): boolean {
  const kinds = messages.map((each) =>
    asList(asFields(each, "messages")["content"], "content").flatMap(kindsOf),
  );
  if (!kinds.at(-1)?.includes("toolResult")) return false;
  const first =
    kinds[kinds.findLastIndex((names, at) => at % 2 === 0 && !names.includes("toolResult")) + 1]?.[0];
  demand(
    first === "reasoningContent",
    theModel(
      "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
    ),
  );
  return true;
}

function kindsOf(block: unknown): string[] {
  return Object.keys(asFields(block, "content"));
}

function theModel(message: string): string {
  return `The model returned the following errors: ${message}`;
}
