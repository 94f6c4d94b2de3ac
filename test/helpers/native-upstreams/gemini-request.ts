import type { SeenRequest } from "../scripted-upstream.ts";
import { readContents, unknownName } from "./gemini-contents.ts";
import type { Asked } from "./native-upstream.ts";
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
} from "./vendor-refusal.ts";

/**
 * Validates a generateContent request. https://ai.google.dev/api/generate-content
 * @param generation 2 is Gemini 2.5, which accepts only a thinking budget. 3 also accepts a thinking level, and
 * requires signatures.
 */
export function readGenerateRequest(request: SeenRequest, stream: boolean, generation: 2 | 3): Asked {
  const body = readJson(request.body);
  const topLevel =
    "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent model serviceTier store";
  onlyKnown(body, topLevel, (name) => unknownName(name, ""));
  const config = asFields(body["generationConfig"] ?? {}, "generation_config");
  onlyKnown(config, configFields, (name) => unknownName(name, "generation_config"));
  const calling = readCalling(body["toolConfig"] ?? {});
  return {
    stream,
    system: readSystem(body["systemInstruction"]),
    turns: readContents(body["contents"], generation),
    tools: asOptionalList(body["tools"], "tools").flatMap(readTools),
    forcedTool:
      calling["mode"] === "ANY" ? String(asOptionalList(calling["allowedFunctionNames"], "")[0]) : null,
    schema: readSchema(config),
    temperature: asOptionalNumber(config["temperature"], "temperature"),
    outputTokensMax: asOptionalNumber(config["maxOutputTokens"], "max_output_tokens"),
    stop: asOptionalList(config["stopSequences"], "stop_sequences").map((each) =>
      asText(each, "stop_sequences"),
    ),
    isThinking: readThinking(config, generation),
    includesUsage: true,
  };
}

const configFields =
  "stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution";

function readSystem(instruction: unknown): string {
  if (instruction === undefined) return "";
  const { parts, role: _role, ...rest } = asFields(instruction, "system_instruction");
  onlyKnown(rest, "", (name) => unknownName(name, "system_instruction"));
  const texts = asList(parts, "parts").map((part) => asText(asFields(part, "parts")["text"], "text"));
  demand(texts.length > 0, "GenerateContentRequest.system_instruction.parts: must not be empty.");
  return texts.join("\n");
}

function readCalling(toolConfig: unknown): Fields {
  const { functionCallingConfig = {}, ...rest } = asFields(toolConfig, "tool_config");
  onlyKnown(rest, "retrievalConfig includeServerSideToolInvocations", (name) =>
    unknownName(name, "tool_config"),
  );
  const calling = asFields(functionCallingConfig, "tool_config.function_calling_config");
  const { mode = "AUTO", allowedFunctionNames, ...extra } = calling;
  onlyKnown(extra, "", (name) => unknownName(name, "tool_config.function_calling_config"));
  demand(/^(AUTO|ANY|NONE|VALIDATED)$/.test(String(mode)), `Invalid value at 'mode': ${String(mode)}`);
  demand(
    allowedFunctionNames === undefined || mode === "ANY" || mode === "VALIDATED",
    "Please set allowed_function_names only when function calling mode is ANY.",
  );
  return calling;
}

function readTools(each: unknown): Asked["tools"] {
  const { functionDeclarations, ...rest } = asFields(each, "tools");
  onlyKnown(rest, "", (name) => unknownName(name, "tools[0]"));
  return asList(functionDeclarations, "function_declarations").map((declaration) => {
    const { name, description, parameters, parametersJsonSchema, ...extra } = asFields(
      declaration,
      "tools[0]",
    );
    onlyKnown(extra, "behavior response responseJsonSchema", (field) =>
      unknownName(field, "tools[0].function_declarations[0]"),
    );
    demand(
      /^[a-zA-Z_][\w.:-]{0,127}$/.test(String(name)),
      "GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.",
    );
    demand(
      parameters === undefined || parametersJsonSchema === undefined,
      "parameters and parameters_json_schema must not both be set",
    );
    if (parameters !== undefined) checkSchema(parameters, "tools[0].function_declarations[0].parameters");
    return {
      name: String(name),
      description: asText(description, "description"),
      parameters: parametersJsonSchema ?? parameters,
    };
  });
}

/** `parameters` and `responseSchema` accept a subset of OpenAPI schemas. https://ai.google.dev/api/caching#Schema */
function checkSchema(schema: unknown, where: string): void {
  const { properties, items, anyOf, ...rest } = asFields(schema, where);
  const known =
    "type format title description nullable enum maxItems minItems required minProperties maxProperties minLength maxLength pattern example propertyOrdering default minimum maximum";
  onlyKnown(rest, known, (name) => unknownName(name, where));
  const type = String(rest["type"] ?? "").toUpperCase();
  demand(
    type !== "OBJECT" || Object.keys(asFields(properties ?? {}, where)).length > 0,
    `GenerateContentRequest.${where}.properties: should be non-empty for OBJECT type`,
  );
  for (const [name, each] of Object.entries(properties ?? {}))
    checkSchema(each, `${where}.properties[${name}]`);
  for (const each of [items ?? [], anyOf ?? []].flat()) checkSchema(each, where);
}

function readSchema(config: Fields): unknown {
  const { responseMimeType, responseSchema, responseJsonSchema } = config;
  if (responseSchema === undefined && responseJsonSchema === undefined) return null;
  demand(
    responseMimeType === "application/json",
    "Unable to submit request because response_schema requires response_mime_type to be application/json.",
  );
  if (responseSchema !== undefined) checkSchema(responseSchema, "generation_config.response_schema");
  return responseJsonSchema ?? responseSchema;
}

/** Returns whether the response includes thoughts. https://ai.google.dev/gemini-api/docs/thinking */
function readThinking(config: Fields, generation: 2 | 3): boolean {
  const thinking = asFields(config["thinkingConfig"] ?? {}, "thinking_config");
  const { includeThoughts = false, thinkingLevel: level, thinkingBudget: budget, ...rest } = thinking;
  onlyKnown(rest, "", (name) => unknownName(name, "generation_config.thinking_config"));
  demand(level === undefined || generation === 3, "Thinking level is not supported for this model.");
  demand(
    level === undefined || /^(minimal|low|medium|high)$/i.test(String(level)),
    `Invalid value at 'generation_config.thinking_config.thinking_level', "${String(level)}"`,
  );
  demand(
    level === undefined || budget === undefined,
    "You can only set one of thinking budget and thinking level.",
  );
  demand(budget === undefined || Number.isInteger(budget), "Invalid value at 'thinking_budget' (TYPE_INT32)");
  return includeThoughts === true;
}
