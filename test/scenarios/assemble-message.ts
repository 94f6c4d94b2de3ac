import type OpenAI from "openai";

export type Message = OpenAI.ChatCompletionMessage & {
  reasoning_content?: string;
  reasoning_details?: Detail[];
};

type Detail = { index?: number; [field: string]: unknown };

/** The SDK's helper would keep only the last piece of `reasoning_content` and `reasoning_details`. */
export function assembleMessage(deltas: OpenAI.ChatCompletionChunk.Choice.Delta[]): Message {
  const message: Message = { role: "assistant", content: null, refusal: null };
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  for (const delta of deltas) {
    const {
      content,
      reasoning_content: reasoning,
      reasoning_details: details = [],
    } = delta as Partial<Message>;
    if (content) message.content = (message.content ?? "") + content;
    if (reasoning) message.reasoning_content = (message.reasoning_content ?? "") + reasoning;
    for (const detail of details) addDetail((message.reasoning_details ??= []), detail);
    for (const { index, id, function: called } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
      call.id += id ?? "";
      call.function.name += called?.name ?? "";
      call.function.arguments += called?.arguments ?? "";
    }
  }
  return calls.length === 0 ? message : { ...message, tool_calls: calls };
}

/** Joins pieces with the same index and type. Pieces without an index stay separate. */
function addDetail(details: Detail[], piece: Detail): void {
  const begun = details.find(({ index, type }) => index === piece.index && type === piece["type"]);
  if (begun === undefined || piece.index === undefined) return void details.push({ ...piece });
  for (const [field, value] of Object.entries(piece)) {
    const isContinued = field === "text" || field === "summary" || field === "data";
    const before = begun[field];
    begun[field] =
      isContinued && typeof before === "string" && typeof value === "string"
        ? before + value
        : (value ?? before);
  }
}
