import { addPart, type Turn } from "./native-upstream.ts";
import { openSeal } from "./thought-seal.ts";
import { asFields, asList, asText, demand, type Fields, onlyKnown } from "./vendor-refusal.ts";

/**
 * Converts the contents of a request to turns. Throws if their order or a part is invalid.
 * https://ai.google.dev/api/caching#Content
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
export function readContents(list: unknown, generation: 2 | 3): Turn[] {
  const contents = asList(list, "contents").map((each) => readContent(each));
  demand(contents.length > 0, "GenerateContentRequest.contents: contents is not specified");
  const turns: Turn[] = [];
  const calls: Call[] = [];
  let open: Call[] = [];
  for (const [at, { role, parts }] of contents.entries()) {
    checkOrder(parts, open, at);
    const isCurrent = !contents.slice(at + 1).some(isQuestion);
    if (generation === 3 && isCurrent) demandSignature(parts);
    open = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [readCall(functionCall)]));
    calls.push(...open);
    for (const part of parts) readPart(part, { role, turns, calls });
  }
  demand(open.length === 0, "Please ensure that function call turns are followed by their responses.");
  return turns;
}

type Content = { role: Turn["role"]; parts: Fields[] };

type Call = { id: unknown; name: string; isAnswered: boolean };

function readContent(each: unknown): Content {
  const { role = "user", parts, ...rest } = asFields(each, "contents");
  onlyKnown(rest, "", (name) => unknownName(name, "contents[0]"));
  demand(role === "user" || role === "model", "Please use a valid role: user, model.");
  const list = asList(parts, "contents.parts").map((part) => asFields(part, "contents.parts"));
  demand(list.length > 0, "GenerateContentRequest.contents[0].parts: contents.parts must not be empty.");
  return { role: role === "model" ? "assistant" : "user", parts: list };
}

/** A turn starts with user content other than a function response. */
function isQuestion({ role, parts }: Content): boolean {
  return role === "user" && parts.some(({ functionResponse }) => functionResponse === undefined);
}

function checkOrder(parts: Fields[], open: Call[], at: number): void {
  const responses = parts.filter(({ functionResponse }) => functionResponse !== undefined);
  demand(
    responses.length === open.length,
    `Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn. (contents[${at}])`,
  );
}

/**
 * Only the first of parallel calls has a signature. Gemini 3 requires it, and accepts two fixed values for foreign
 * calls. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
function demandSignature(parts: Fields[]): void {
  const first = parts.find(({ functionCall }) => functionCall !== undefined);
  if (first === undefined) return;
  const { name } = asFields(first["functionCall"], "function_call");
  demand(
    first["thoughtSignature"] !== undefined,
    `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(name)}\` , position 1. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  );
}

const skippingSignatures = ["context_engineering_is_the_way_to_go", "skip_thought_signature_validator"];

function readCall(functionCall: unknown): Call {
  const { id, name, args, ...rest } = asFields(functionCall, "function_call");
  onlyKnown(rest, "", (extra) => unknownName(extra, "contents[0].parts[0].function_call"));
  asFields(args ?? {}, "function_call.args");
  return { id, name: asText(name, "function_call.name"), isAnswered: false };
}

function readPart(
  part: Fields,
  { role, turns, calls }: { role: Turn["role"]; turns: Turn[]; calls: Call[] },
) {
  const { thought = false, thoughtSignature, ...data } = part;
  onlyKnown(data, "text inlineData fileData functionCall functionResponse", (name) =>
    unknownName(name, "contents[0].parts[0]"),
  );
  demand(
    Object.keys(data).length === 1,
    "GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field",
  );
  if (thoughtSignature !== undefined) {
    const isOurs =
      openSeal(thoughtSignature) !== null || skippingSignatures.includes(String(thoughtSignature));
    demand(isOurs, "Thought signature is not valid.");
  }
  const sealed = openSeal(thoughtSignature)?.thought ?? "";
  if (sealed !== "") addPart(turns, role, { thought: sealed });
  if (data["text"] !== undefined) {
    // An empty text only carries a signature. Thought summaries are skipped, because the signature restores the
    // thoughts.
    if (thought === false && data["text"] !== "")
      addPart(turns, role, { text: asText(data["text"], "text") });
  } else if (data["inlineData"] !== undefined) {
    const { mimeType, data: image, ...rest } = asFields(data["inlineData"], "inline_data");
    onlyKnown(rest, "", (name) => unknownName(name, "contents[0].parts[0].inline_data"));
    addPart(turns, role, { image: asText(image, "data"), mediaType: asText(mimeType, "mime_type") });
  } else if (data["functionCall"] !== undefined) {
    const { name, args = {} } = asFields(data["functionCall"], "function_call");
    addPart(turns, role, { call: String(name), input: args });
  } else if (data["functionResponse"] !== undefined) {
    addPart(turns, role, readResponse(data["functionResponse"], calls));
  } else demand(false, "Cannot fetch content from the provided URL.");
}

/** Matches a response to the first unanswered call with its name, and with its ID if it has one. */
function readResponse(functionResponse: unknown, calls: Call[]): { result: string; ofCall: number } {
  const { id, name, response, ...rest } = asFields(functionResponse, "function_response");
  onlyKnown(rest, "parts willContinue scheduling", (extra) => unknownName(extra, "function_response"));
  demand(
    typeof name === "string" && name !== "",
    "GenerateContentRequest.contents[0].parts[0].function_response.name: Name cannot be empty.",
  );
  demand(
    typeof response === "object" && response !== null && !Array.isArray(response),
    `Invalid value at 'contents[0].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(response)}`,
  );
  const ofCall = calls.findIndex(
    (call) => !call.isAnswered && call.name === name && (id === undefined || call.id === id),
  );
  const call = calls[ofCall];
  demand(call !== undefined, `No function call for the function response of ${name}, id ${String(id)}.`);
  call.isAnswered = true;
  // The result is the member `output` or `result`. If both are missing, the whole object is the result.
  const { output = (response as Fields)["result"] ?? response } = response as Fields;
  return { result: typeof output === "string" ? output : JSON.stringify(output), ofCall };
}

export function unknownName(name: string, where: string): string {
  return `Invalid JSON payload received. Unknown name "${name}" at '${where}': Cannot find field.`;
}
