import type { SeenRequest } from "../scripted-upstream.ts";
import { addPart, type Asked, type Turn } from "./native-upstream.ts";
import {
  asFields,
  asList,
  asOptionalList,
  asOptionalNumber,
  asText,
  demand,
  type Fields,
  readDataUrl,
  readJson,
  VendorRefusal,
} from "./vendor-refusal.ts";

/**
 * Validates a chat completion request for OpenAI or Azure.
 * https://platform.openai.com/docs/api-reference/chat/create
 * @param model the required `model`, or null if the path contains it
 */
export function readOpenAiRequest(request: SeenRequest, model: string | null): Asked {
  demand(
    /^application\/json\b/.test(request.headers["content-type"] ?? ""),
    "You must send a JSON body with the header 'Content-Type: application/json'.",
  );
  const body = readJson(request.body);
  if (model !== null && body["model"] !== model) {
    throw new VendorRefusal("not found", `The model '${String(body["model"])}' does not exist.`);
  }
  const messages = asList(body["messages"], "messages").map((each) => asFields(each, "messages"));
  const systems = messages.filter(({ role }) => role === "system" || role === "developer");
  const format = asFields(body["response_format"] ?? { type: "text" }, "response_format");
  const choice = body["tool_choice"];
  return {
    stream: body["stream"] === true,
    system: systems.map(({ content }) => readText(content)).join("\n"),
    turns: readTurns(messages.filter((message) => !systems.includes(message))),
    tools: asOptionalList(body["tools"], "tools").map(readTool),
    forcedTool:
      typeof choice === "object" && choice !== null
        ? asText(asFields(asFields(choice, "tool_choice")["function"], "tool_choice")["name"], "tool_choice")
        : null,
    schema:
      format["type"] === "json_schema"
        ? asFields(format["json_schema"], "response_format.json_schema")["schema"]
        : null,
    temperature: asOptionalNumber(body["temperature"], "temperature"),
    outputTokensMax: asOptionalNumber(body["max_completion_tokens"] ?? body["max_tokens"], "max_tokens"),
    stop: [body["stop"] ?? []].flat().map((each) => asText(each, "stop")),
    isThinking: body["reasoning_effort"] !== undefined && body["reasoning_effort"] !== "none",
    includesUsage: asFields(body["stream_options"] ?? {}, "stream_options")["include_usage"] === true,
  };
}

function readTurns(messages: Fields[]): Turn[] {
  const turns: Turn[] = [];
  const callIds: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    const { role, content } = message;
    if (role === "tool") {
      const id = asText(message["tool_call_id"], "tool_call_id");
      demand(
        open.includes(id),
        "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
      );
      open = open.filter((each) => each !== id);
      addPart(turns, "user", { result: readText(content), ofCall: callIds.indexOf(id) });
      continue;
    }
    demand(
      open.length === 0,
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    );
    if (role === "user") readUserContent(content, turns);
    else readAssistantMessage(message, turns);
    open = asOptionalList(message["tool_calls"], "tool_calls").map((call) =>
      asText(asFields(call, "tool_calls")["id"], "tool_calls.id"),
    );
    callIds.push(...open);
  }
  demand(open.length === 0, "The last 'tool_calls' have no response messages.");
  return turns;
}

/** Rejects images and files, which only the user may send. */
function readText(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = asList(content, "messages.content").map((each) => asFields(each, "messages.content"));
  return parts
    .map(({ type, text }) => {
      demand(type === "text", `Invalid value: '${String(type)}'. Supported values are: 'text'.`);
      return asText(text, "messages.content.text");
    })
    .join("");
}

function readUserContent(content: unknown, turns: Turn[]): void {
  if (typeof content === "string") return addPart(turns, "user", { text: content });
  for (const each of asList(content, "messages.content")) {
    const part = asFields(each, "messages.content");
    if (part["type"] === "text") addPart(turns, "user", { text: asText(part["text"], "text") });
    else if (part["type"] === "file") {
      const { filename, file_data: file } = asFields(part["file"], "file");
      asText(filename, "file.filename");
      addPart(turns, "user", readDataUrl(file, "file.file_data"));
    } else {
      const { url } = asFields(part["image_url"], "image_url");
      addPart(turns, "user", readDataUrl(url, "image_url.url"));
    }
  }
}

function readAssistantMessage(message: Fields, turns: Turn[]): void {
  demand(message["role"] === "assistant", `Invalid role: ${String(message["role"])}`);
  const calls = asOptionalList(message["tool_calls"], "tool_calls").map((each) =>
    asFields(each, "tool_calls"),
  );
  const { reasoning_content: thought } = message;
  const content = Array.isArray(message["content"]) ? readText(message["content"]) : message["content"];
  if (typeof thought === "string") addPart(turns, "assistant", { thought });
  if (typeof content === "string" && content !== "") addPart(turns, "assistant", { text: content });
  demand(typeof content === "string" || calls.length > 0, "Invalid value for 'content': expected a string.");
  for (const call of calls) {
    const { name, arguments: input } = asFields(call["function"], "tool_calls.function");
    addPart(turns, "assistant", { call: asText(name, "name"), input: readJson(asText(input, "arguments")) });
  }
}

function readTool(each: unknown): Asked["tools"][number] {
  const tool = asFields(each, "tools");
  demand(tool["type"] === "function", "Invalid value for 'tools[0].type'.");
  const { name, description = "", parameters } = asFields(tool["function"], "tools.function");
  demand(/^[a-zA-Z0-9_-]{1,64}$/.test(asText(name, "name")), "Invalid 'tools[0].function.name'.");
  return { name: asText(name, "name"), description: asText(description, "description"), parameters };
}
