import { parseExact } from "../wire/exact-numbers.ts";
import { isObject } from "../wire/json.ts";
import { itemAt, type JsonItems } from "../wire/json-items.ts";
import { invalidValue } from "../wire/parameter-errors.ts";

/**
 * Parses only the items of the page.
 * https://platform.openai.com/docs/api-reference/responses/input-items
 */
export function listInputItems(items: JsonItems, responseId: string, query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalidValue("limit", "must be a whole number from 1 to 100", query.get("limit"));
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", "must be asc or desc", order);
  const list = new ListedItems(items, responseId);
  const count = items.starts.length;
  // Positions count in the requested order.
  const indexAt = (position: number) => (order === "asc" ? position : count - 1 - position);
  const after = query.get("after");
  const from = after === null ? 0 : indexAt(list.find(after, order)) + 1;
  const until = Math.min(count, from + limit);
  const data = [];
  for (let position = from; position < until; position++) data.push(list.at(indexAt(position)));
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: until < count,
  };
}

class ListedItems {
  readonly #items: JsonItems;
  readonly #suffix: string;

  constructor(items: JsonItems, responseId: string) {
    this.#items = items;
    this.#suffix = `${responseId.slice("resp_".length)}_in`;
  }

  at(index: number): { id: string } {
    const bytes = itemAt(this.#items, index);
    return formatItem(bytes && parseItem(bytes), `${this.#suffix}${index}`);
  }

  /**
   * Returns the index of the first item in this order with the ID. Parses only items that contain the ID's text.
   * Throws `invalid_value` for an unknown ID.
   */
  find(id: string, order: "asc" | "desc"): number {
    const { bytes, starts } = this.#items;
    const text = JSON.stringify(id);
    const generated = Number(id.split(this.#suffix)[1] ?? NaN);
    let found = generated < starts.length && this.at(generated).id === id ? generated : -1;
    for (let at = bytes.indexOf(text); at !== -1;) {
      const index = this.#indexOf(at);
      const isNearer = found === -1 || (order === "asc" ? index < found : index > found);
      if (isNearer && this.at(index).id === id) found = index;
      if (found === index && order === "asc") break;
      const next = starts[index + 1];
      at = next === undefined ? -1 : bytes.indexOf(text, next);
    }
    if (found === -1) throw invalidValue("after", "must be the ID of an item of this list", id);
    return found;
  }

  /** Returns the index of the item that contains the position. */
  #indexOf(position: number): number {
    const { starts } = this.#items;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Returns null for invalid text, which some upstreams accept. */
function parseItem(bytes: Buffer): unknown {
  try {
    return parseExact(bytes.toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** OpenAI's API gives every item an ID and a type, and every message a list of parts. */
function formatItem(item: unknown, suffix: string): { id: string } {
  const { id, type = "message", content, ...rest } = isObject(item) ? item : {};
  const prefix = idPrefixes.get(String(type)) ?? "item";
  const parts =
    typeof content === "string" && type === "message"
      ? [{ type: rest["role"] === "assistant" ? "output_text" : "input_text", text: content }]
      : content;
  return {
    id: typeof id === "string" ? id : `${prefix}_${suffix}`,
    type,
    ...(type === "message" && { status: "completed" }),
    ...rest,
    ...(parts !== undefined && { content: parts }),
  } as { id: string };
}

const idPrefixes = new Map([
  ["message", "msg"],
  ["reasoning", "rs"],
  ["function_call", "fc"],
  ["function_call_output", "fc"],
  ["custom_tool_call", "ctc"],
  ["custom_tool_call_output", "ctc"],
]);
