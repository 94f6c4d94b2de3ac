import { invalidValue } from "../wire/parameter-errors.ts";
import { isObject } from "../wire/json.ts";

/**
 * A page of a response's input items. Throws `invalid_value`.
 * https://platform.openai.com/docs/api-reference/responses/input-items
 */
export function listInputItems(items: readonly unknown[], responseId: string, query: URLSearchParams) {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalidValue("limit", "must be from 1 to 100");
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", "must be one of asc, desc");
  const listed = items.map((item, index) => formatItem(item, `${responseId.slice(5)}_in${index}`));
  if (order === "desc") listed.reverse();
  const after = query.get("after");
  const from = after === null ? 0 : listed.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) throw invalidValue("after", "must be the ID of an item of this list");
  const data = listed.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < listed.length,
  };
}

/** OpenAI gives every item an ID, a type and parts. */
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
