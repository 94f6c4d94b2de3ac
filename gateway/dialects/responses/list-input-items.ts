import { isObject, listOf } from "../../wire/json.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { KeptTurn } from "../dialect.ts";
import { inputItems } from "./expand-input.ts";

/**
 * One page of the input of a response, the newest first by default.
 * https://platform.openai.com/docs/api-reference/responses/input-items
 * @param turns the kept turns, up to the response
 */
export function listInputItems(responseId: string, turns: readonly KeptTurn[], query: URLSearchParams) {
  const items = turns.flatMap(({ request, response }, turn) => {
    const isLast = turn === turns.length - 1;
    return [...inputItems(request), ...(isLast ? [] : listOf(response["output"]))];
  });
  const identified = items
    .filter(isObject)
    .map((item, index) => ({ id: idOf(item, responseId, index), ...item }));
  const ordered = query.get("order") === "asc" ? identified : identified.toReversed();
  const after = query.get("after");
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) throw invalidValue("after", "must be the ID of an item");
  const data = ordered.slice(start, start + readLimit(query.get("limit")));
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < ordered.length,
  };
}

/** Clients send most items without an ID. */
function idOf({ id }: Record<string, unknown>, responseId: string, index: number): string {
  return typeof id === "string" ? id : `${responseId.replace(/^resp_/, "in_")}_${index}`;
}

function readLimit(text: string | null): number {
  const limit = Number(text ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw invalidValue("limit", "must be from 1 to 100");
  return limit;
}
