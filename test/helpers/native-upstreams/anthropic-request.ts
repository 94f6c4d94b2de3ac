import type { SeenRequest } from "../scripted-upstream.ts";
import { readClaudeMessages } from "./anthropic-messages.ts";
import { type ClaudeModel, readThinking } from "./anthropic-thinking.ts";
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
 * Validates a Messages API request. https://platform.claude.com/docs/en/api/messages
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function readMessagesRequest(request: SeenRequest, model: ClaudeModel): ClaudeAsked {
  const body = readJson(request.body);
  const betas = String(request.headers["anthropic-beta"]);
  const sampling = request.headers["anthropic-version"] === "2023-06-01" ? samplingFields : "";
  onlyKnown(
    body,
    `${topLevel} ${sampling} ${fieldsOf(betas)}`,
    (name) => `${name}: Extra inputs are not permitted`,
  );
  const outputTokensMax = body["max_tokens"];
  demand(typeof outputTokensMax === "number", "max_tokens: Field required");
  demand(
    outputTokensMax <= model.outputTokensMax,
    `max_tokens: ${outputTokensMax} > ${model.outputTokensMax}, which is the maximum allowed number of output tokens for ${model.name}`,
  );
  const choice = asFields(body["tool_choice"] ?? { type: "auto" }, "tool_choice");
  const outputConfig = asFields(body["output_config"] ?? {}, "output_config");
  const thinking = readThinking(body, model, betas);
  return {
    stream: body["stream"] === true,
    system: readSystem(body["system"] ?? []),
    turns: readClaudeMessages(thinking.messages, model, betas),
    tools: asOptionalList(body["tools"], "tools").map((tool) => readTool(tool, betas)),
    forcedTool: choice["type"] === "tool" ? asText(choice["name"], "tool_choice.name") : null,
    schema: readSchema(outputConfig),
    temperature: asOptionalNumber(body["temperature"], "temperature"),
    outputTokensMax,
    stop: asOptionalList(body["stop_sequences"], "stop_sequences").map((each) =>
      asText(each, "stop_sequences"),
    ),
    isThinking: thinking.isOn,
    includesUsage: true,
    omitsThoughts: thinking.isOmitted,
    prefix: thinking.prefix,
  };
}

/**
 * `omitsThoughts`: thoughts have a signature and no text. `prefix` identifies the earlier conversation, for a
 * model with bound thoughts.
 */
export type ClaudeAsked = Asked & { omitsThoughts: boolean; prefix?: string };

const topLevel =
  "model messages max_tokens metadata output_config service_tier stop_sequences stream system thinking tool_choice tools cache_control container inference_geo";

/** API version 2026-10-21 removed these fields. https://platform.claude.com/docs/en/api/migration-2026-10-21 */
const samplingFields = "temperature top_k top_p";

function fieldsOf(betas: string): string {
  const names = betas.split(",").map((name) => name.trim());
  return Object.entries(betaFields)
    .flatMap(([beta, fields]) => (names.includes(beta) ? [fields] : []))
    .join(" ");
}

/**
 * The members that each beta permits, at the top level or in tools:
 * https://platform.claude.com/docs/en/build-with-claude/context-editing
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
 */
const betaFields: Record<string, string> = {
  "context-management-2025-06-27": "context_management",
  "advanced-tool-use-2025-11-20": "defer_loading allowed_callers input_examples",
};

function readSystem(system: unknown): string {
  if (typeof system === "string") return system;
  const texts = asList(system, "system").map((block) => asText(asFields(block, "system")["text"], "system"));
  demand(!texts.includes(""), "system: text content blocks must be non-empty");
  return texts.join("\n");
}

function readTool(each: unknown, betas: string): Asked["tools"][number] {
  const { name, description = "", input_schema: parameters, strict, ...rest } = asFields(each, "tools");
  onlyKnown(
    rest,
    `type cache_control eager_input_streaming ${fieldsOf(betas)}`,
    (extra) => `tools.0.custom.${extra}: Extra inputs are not permitted`,
  );
  demand(/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)), "tools.0.custom.name: String should match pattern");
  demand(
    asFields(parameters, "tools.0.custom.input_schema")["type"] === "object",
    "tools.0.custom.input_schema.type: Field required",
  );
  if (strict === true) demandClosed(parameters, "tools.0.custom");
  return { name: String(name), description: asText(description, "tools.0.custom.description"), parameters };
}

function readSchema(outputConfig: Fields): unknown {
  onlyKnown(outputConfig, "effort format", (name) => `output_config.${name}: Extra inputs are not permitted`);
  if (outputConfig["format"] === undefined || outputConfig["format"] === null) return null;
  const { type, schema, ...rest } = asFields(outputConfig["format"], "output_config.format");
  onlyKnown(rest, "", (name) => `output_config.format.${name}: Extra inputs are not permitted`);
  demand(type === "json_schema", "output_config.format.type: Input should be 'json_schema'");
  demandClosed(asFields(schema, "output_config.format.schema"), "output_config.format.schema");
  return schema;
}
