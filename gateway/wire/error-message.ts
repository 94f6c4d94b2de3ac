import { isObject, parseJson } from "./json.ts";

/** Finds a message in OpenAI's format and its variants, FastAPI's `detail`, lists of errors, and texts. */
export function findErrorMessage(body: unknown): string | null {
  const message = messageOf(body, depthMax);
  return message === "" ? null : message;
}

/** Returns an empty text without a message. */
function messageOf(value: unknown, depth: number): string {
  if (typeof value === "string") return value.trim();
  if (depth === 0) return "";
  if (Array.isArray(value)) return joined(value.slice(0, itemsMax).map((item) => messageOf(item, depth - 1)));
  if (!isObject(value)) return "";
  for (const name of messageNames) {
    const message = messageOf(value[name], depth - 1) || (name === "errors" ? ofMembers(value[name]) : "");
    if (message !== "") return withSource(withPlace(message, value), value, depth);
  }
  return "";
}

/** Some frameworks send an object with a list of messages for each invalid member. */
function ofMembers(errors: unknown): string {
  const members = isObject(errors) ? Object.entries(errors).slice(0, itemsMax) : [];
  return joined(
    members.map(([name, value]) => {
      const message = messageOf(value, 2);
      return message === "" ? "" : `${name}: ${message}`;
    }),
  );
}

/** FastAPI and Mistral name the invalid member in `loc`. */
function withPlace(message: string, { loc: place }: Record<string, unknown>): string {
  if (!Array.isArray(place)) return message;
  const names = place
    .slice(0, itemsMax)
    .filter((name) => typeof name === "string" || typeof name === "number");
  return names.length === 0 ? message : `${names.join(".")}: ${message}`;
}

/** OpenRouter puts the error of its own upstream into `metadata.raw`, as text. */
function withSource(message: string, { metadata }: Record<string, unknown>, depth: number): string {
  const raw = isObject(metadata) ? metadata["raw"] : null;
  if (typeof raw !== "string") return message;
  const source = messageOf(parseJson(raw) ?? raw, depth - 1);
  return source === "" ? message : `${message}: ${source}`;
}

function joined(messages: string[]): string {
  return messages.filter((message) => message !== "").join("; ");
}

/** Ordered from the most specific one. An object under one of these names is searched too. */
const messageNames = [
  "message",
  // AWS uses both `message` and `Message`.
  "Message",
  "msg",
  "detail",
  "details",
  "errors",
  "error",
  "error_description",
  "description",
  "reason",
  "title",
];

const depthMax = 5;
const itemsMax = 10;
