import { GatewayError } from "../../errors.ts";
import { isObject, listOf } from "../../wire/json.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import type { KeptItems } from "../dialect.ts";

/**
 * Replaces `previous_response_id` by the conversation before it, and each `item_reference` by its item. Other bodies are
 * returned as they are. Throws `previous_response_not_found` or `not_found` for anything that is not kept.
 * https://platform.openai.com/docs/guides/conversation-state
 */
export function expandInput(body: Record<string, unknown>, kept: KeptItems): Record<string, unknown> {
  const { previous_response_id: previousId, ...rest } = body;
  const hasPrevious = typeof previousId === "string";
  if (!hasPrevious && !listOf(body["input"]).some(isReference)) return body;
  const before = hasPrevious ? itemsUntil(previousId, kept) : [];
  const input = [...before, ...inputItems(body)];
  return { ...rest, input: replaceReferences(input, kept) };
}

function itemsUntil(id: string, kept: KeptItems): unknown[] {
  const turns = kept.turnsUntil(id);
  if (turns === null) {
    throw new GatewayError(
      "previous_response_not_found",
      `Previous response with id '${id.slice(0, 64)}' not found. Send the whole conversation in \`input\`.`,
      { param: "previous_response_id" },
    );
  }
  return turns.flatMap(({ request, response }) => [...inputItems(request), ...listOf(response["output"])]);
}

/** The input as a list of items. */
export function inputItems({ input }: Record<string, unknown>): unknown[] {
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : listOf(input);
}

/** Each item may be referenced once, as at OpenAI, so that references cannot multiply it. */
function replaceReferences(items: unknown[], kept: KeptItems): unknown[] {
  const outputs = new Map<string, Map<string, unknown>>();
  return items.map((item, index) => {
    if (!isReference(item)) return item;
    const param = `input[${index}].id`;
    const { id } = item;
    if (typeof id !== "string") throw invalidValue(param, "must be the ID of an item");
    const responseId = id.replace(/^[a-z]+_(\w+)_\d+$/, "resp_$1");
    const output = outputs.get(responseId) ?? outputOf(responseId, kept);
    outputs.set(responseId, output);
    const found = output.get(id);
    if (found === undefined) {
      throw new GatewayError(
        "not_found",
        `Item with id '${id.slice(0, 64)}' not found, or referenced twice. Send the item itself, or set \`store\` to false.`,
        { param },
      );
    }
    output.delete(id);
    return found;
  });
}

function outputOf(responseId: string, kept: KeptItems): Map<string, unknown> {
  const items = listOf(kept.response(responseId)?.["output"]);
  return new Map(items.flatMap((item) => (isObject(item) ? [[String(item["id"]), item] as const] : [])));
}

function isReference(item: unknown): item is { id?: unknown } {
  return isObject(item) && item["type"] === "item_reference";
}
