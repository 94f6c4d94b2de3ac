import type { StreamedEvent } from "./messages-dialect.ts";

type Block = Record<string, unknown> & { json?: string };

export type Message = {
  content: Block[];
  stop_reason: unknown;
  usage: Record<string, unknown>;
  [field: string]: unknown;
};

/** Assembles a message as Anthropic's SDKs do. Throws if the stream is invalid or incomplete. */
export function putTogether(events: StreamedEvent[]): Message {
  const [first, ...rest] = events;
  if (first?.type !== "message_start") throw new Error("It does not begin with message_start.");
  const message = first["message"] as Message;
  let open: Block | null = null;
  for (const [place, event] of rest.entries()) {
    const isLast = place === rest.length - 1;
    if (isLast !== (event.type === "message_stop")) throw new Error(`${event.type} at ${place}`);
    switch (event.type) {
      case "content_block_start":
        if (open || event["index"] !== message.content.length) throw new Error("A block within a block.");
        open = event["content_block"] as Block;
        message.content.push(open);
        break;
      case "content_block_delta":
        if (!open || event["index"] !== message.content.length - 1)
          throw new Error("A delta without a block.");
        addDelta(open, event["delta"] as Record<string, string>);
        break;
      case "content_block_stop":
        if (!open || event["index"] !== message.content.length - 1)
          throw new Error("An end without a block.");
        endBlock(open);
        open = null;
        break;
      case "message_delta":
        if (open) throw new Error("A block has no end.");
        Object.assign(message, event["delta"], { usage: event["usage"] });
        break;
      case "message_stop":
        if (message.stop_reason === null) throw new Error("It ends without a reason.");
    }
  }
  if (rest.at(-1)?.type !== "message_stop") throw new Error("It has no end.");
  return message;
}

function addDelta(
  block: Block,
  { type, text, thinking, signature, partial_json: json }: Record<string, string>,
): void {
  if (type === "text_delta") block["text"] = `${String(block["text"])}${text}`;
  else if (type === "thinking_delta") block["thinking"] = `${String(block["thinking"])}${thinking}`;
  else if (type === "signature_delta") block["signature"] = signature;
  else if (type === "input_json_delta") block.json = (block.json ?? "") + json;
  else throw new Error(`A delta of the type ${type}.`);
}

function endBlock(block: Block): void {
  if (block.json !== undefined) block["input"] = JSON.parse(block.json);
  delete block.json;
}
