import type { AnswerEnvelope } from "../../../gateway/dialects/dialect.ts";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import type { DialectRequest } from "../../../gateway/dialects/dialect.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { anySize } from "../../helpers/body-limits.ts";

export type WrittenEvent = { type: string; sequence_number: number; [member: string]: unknown };

/** Throws if an event's name differs from the type in its data. */
export function readEvents(text: string): WrittenEvent[] {
  if (text === "") return [];
  if (!text.endsWith("\n\n")) throw new Error("The last event has no end.");
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((event) => {
      const [, name, data = ""] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? [];
      const parsed = JSON.parse(data) as WrittenEvent;
      if (parsed.type !== name) throw new Error(`${name} is called ${parsed.type}`);
      return parsed;
    });
}

export function requestFrom(request: object): DialectRequest {
  return responses.readRequest(Buffer.from(JSON.stringify(request)), anySize);
}

export function envelopeFor({ model }: { model: string }): AnswerEnvelope {
  return {
    id: "req_01kahs6zxm8qv2c9d4r7tn5wbe",
    createdSeconds: 1795255115,
    nowSeconds: () => 1795255116,
    slug: model,
    estimateInputTokens: () => 7,
    previousResponseId: null,
    keep: null,
  };
}

export function writeStream(
  request: DialectRequest,
  choices: readonly ChunkChoice[],
  usage: ChatUsage | null = null,
): string {
  const writer = responses.createStreamWriter(envelopeFor(request), request);
  return choices.map((choice) => writer.write(choice, usage)).join("") + writer.finish(usage);
}

/** Returns the items of all `response.output_item.done` events. Throws if earlier events contradict an item. */
export function gatherItems(events: WrittenEvent[]): unknown[] {
  const added = new Map<unknown, unknown>();
  const done: unknown[] = [];
  const deltas = new Map<unknown, string>();
  for (const event of events) {
    const { type, output_index: index, item, item_id: id, delta } = event as Record<string, unknown>;
    if (type === "response.output_item.added") added.set(index, (item as { id: string }).id);
    if (typeof delta === "string") deltas.set(id, (deltas.get(id) ?? "") + delta);
    if (type !== "response.output_item.done") continue;
    const { id: doneId } = item as { id: string };
    if (added.get(index) !== doneId) throw new Error(`${doneId} was never added`);
    const whole = JSON.stringify(item);
    const told = JSON.stringify(deltas.get(doneId) ?? "").slice(1, -1);
    if (!whole.includes('"message"') && !whole.includes(told)) throw new Error(`${told} is not in ${whole}`);
    done[index as number] = item;
  }
  if (done.length !== added.size) throw new Error("An item is not done.");
  return done;
}
