import type { SeenRequest } from "../scripted-upstream.ts";
import type { Asked } from "./native-upstream.ts";
import { readResponsesInput } from "./responses-input.ts";
import {
  asFields,
  asList,
  asOptionalList,
  asOptionalNumber,
  asText,
  demand,
  type Fields,
  onlyKnown,
  readJson,
  VendorRefusal,
} from "./vendor-refusal.ts";

/** Validates a Responses API request. https://platform.openai.com/docs/api-reference/responses/create */
export function readResponsesRequest(request: SeenRequest, model: string): ResponsesAsked {
  demand(
    /^application\/json\b/.test(request.headers["content-type"] ?? ""),
    "You must send a JSON body with the header 'Content-Type: application/json'.",
  );
  const body = readJson(request.body);
  onlyKnown(body, topLevel, (name) => `Unknown parameter: '${name}'.`);
  if (body["model"] !== model) {
    throw new VendorRefusal("not found", `The requested model '${String(body["model"])}' does not exist.`);
  }
  const choice = body["tool_choice"];
  const reasoning = asFields(body["reasoning"] ?? {}, "reasoning");
  const { system, turns } = readResponsesInput(body["input"], body["store"] !== false);
  return {
    stream: body["stream"] === true,
    system: [body["instructions"] ?? "", system].filter((text) => text !== "").join("\n"),
    turns,
    tools: asOptionalList(body["tools"], "tools").flatMap(readTool),
    forcedTool:
      typeof choice === "object" && choice !== null
        ? asText(asFields(choice, "tool_choice")["name"], "tool_choice.name")
        : null,
    schema: readSchema(asFields(body["text"] ?? {}, "text")),
    temperature: asOptionalNumber(body["temperature"], "temperature"),
    outputTokensMax: asOptionalNumber(body["max_output_tokens"], "max_output_tokens"),
    stop: [],
    isThinking: Object.keys(reasoning).length > 0 && reasoning["effort"] !== "none",
    includesUsage: true,
    sealsThoughts: asOptionalList(body["include"], "include").includes("reasoning.encrypted_content"),
  };
}

/** `sealsThoughts`: thoughts are also returned encrypted. */
export type ResponsesAsked = Asked & { sealsThoughts: boolean };

/** Includes `client_metadata`, which Codex sends to OpenAI. */
const topLevel =
  "background client_metadata context_management conversation include input instructions max_output_tokens max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user";

/** Tools that OpenAI runs itself are not forwarded to the model. */
function readTool(each: unknown): Asked["tools"] {
  const tool = asFields(each, "tools");
  const { type, name, description = "" } = tool;
  if (type === "namespace") return asList(tool["tools"], "tools[0].tools").flatMap(readTool);
  if (type !== "function" && type !== "custom") {
    demand(builtInTools.has(String(type)), `Invalid value: '${String(type)}'. Param: tools[0].type`);
    return [];
  }
  demand(/^[a-zA-Z0-9_-]{1,128}$/.test(asText(name, "tools[0].name")), "Invalid 'tools[0].name'.");
  if (type === "function") demandParameters(tool);
  return [
    {
      name: asText(name, "tools[0].name"),
      description: asText(description, "tools[0].description"),
      parameters: tool["parameters"],
    },
  ];
}

const builtInTools = new Set(["web_search", "tool_search"]);

function demandParameters({ name, parameters }: Fields): void {
  demand(
    asFields(parameters, "tools[0].parameters")["type"] === "object",
    `Invalid schema for function '${String(name)}': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
  );
}

function readSchema(text: Fields): unknown {
  const format = asFields(text["format"] ?? { type: "text" }, "text.format");
  if (format["type"] !== "json_schema") return null;
  asText(format["name"], "text.format.name");
  return asFields(format["schema"], "text.format.schema");
}
