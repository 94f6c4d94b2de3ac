import { type Answer, type Asked, countCalls, type VendorForm } from "./native-upstream.ts";
import { checkOpenAiCall, openAiForm } from "./openai-upstream.ts";
import { readResponsesRequest, type ResponsesAsked } from "./responses-request.ts";
import { sealThought } from "./thought-seal.ts";
import type { Fields } from "./vendor-refusal.ts";

/**
 * OpenAI's Responses API. https://platform.openai.com/docs/api-reference/responses
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export const responsesForm: VendorForm = {
  ...openAiForm,
  model: "gpt-5.5",

  read(request) {
    checkOpenAiCall(request, "/v1/responses");
    return readResponsesRequest(request, responsesForm.model);
  },

  answer: (answer, asked) => buildResponse(answer, buildItems(answer, asked), asked),
  streamStart: (answer, asked) => buildEvents(answer, asked).slice(0, -1).map(toEvent),
  streamEnd: (answer, asked) => buildEvents(answer, asked).map(toEvent).slice(-1),
  streamError: (message) => toEvent({ type: "error", code: "server_error", message, param: null }, undefined),
};

function toEvent(event: Fields, sequence_number: number | undefined): Buffer {
  const { type, ...data } = event;
  return Buffer.from(
    `event: ${String(type)}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`,
  );
}

function buildResponse(answer: Answer | null, output: Item[], asked: Asked): Fields {
  const reason = answer === null ? undefined : incompleteReasons[answer.finish];
  const end = reason === undefined ? "completed" : "incomplete";
  return {
    id: `resp_0b9cf51f6f1d2f4e${asked.turns.length}`,
    object: "response",
    created_at: 1763700000,
    status: answer === null ? "in_progress" : end,
    background: false,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: null,
    max_output_tokens: asked.outputTokensMax,
    model: "gpt-5.5-2026-04-23",
    output: output.map(({ whole }) => whole),
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: "medium", summary: null },
    service_tier: "default",
    store: false,
    temperature: 1,
    text: { format: buildFormat(asked), verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: answer === null ? null : buildUsage(answer),
    user: null,
    metadata: {},
  };
}

function buildFormat({ schema }: Asked): object {
  return schema === null
    ? { type: "text" }
    : { type: "json_schema", name: "output", description: null, strict: true, schema };
}

const incompleteReasons: Partial<Record<Answer["finish"], string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

function buildUsage({ usage: { input, cached, output, thinking } }: Answer): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: input + output,
  };
}

/** `begun` is the item when it starts in the stream, `whole` the complete item. `events` come between them. */
type Item = { begun: Fields; events: Fields[]; whole: Fields };

function buildItems({ thoughts, text, calls }: Answer, asked: Asked): Item[] {
  const turn = asked.turns.length;
  const items: Item[] = [];
  if (thoughts.length > 0)
    items.push(buildReasoning(`rs_68af4dc1e1${turn}`, thoughts, asked as ResponsesAsked));
  if (text.length > 0) items.push(buildMessage(`msg_68af4dc1e2${turn}`, text));
  for (const [at, call] of calls.entries()) items.push(buildCall(countCalls(asked.turns) + at, call));
  return items;
}

function buildReasoning(id: string, thoughts: string[], { sealsThoughts }: ResponsesAsked): Item {
  const text = thoughts.join("");
  const seal = sealsThoughts ? { encrypted_content: sealThought(text) } : {};
  const item = { id, type: "reasoning", ...seal };
  const place = { item_id: id, summary_index: 0 };
  const part = { type: "summary_text", text };
  return {
    begun: { ...item, summary: [] },
    events: [
      { type: "response.reasoning_summary_part.added", ...place, part: { ...part, text: "" } },
      ...thoughts.map((delta) => ({ type: "response.reasoning_summary_text.delta", ...place, delta })),
      { type: "response.reasoning_summary_text.done", ...place, text },
      { type: "response.reasoning_summary_part.done", ...place, part },
    ],
    whole: { ...item, summary: [part] },
  };
}

function buildMessage(id: string, pieces: string[]): Item {
  const text = pieces.join("");
  const item = { id, type: "message", role: "assistant" };
  const place = { item_id: id, content_index: 0 };
  const part = { type: "output_text", annotations: [], logprobs: [], text };
  return {
    begun: { ...item, status: "in_progress", content: [] },
    events: [
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...pieces.map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        delta,
        logprobs: [],
        obfuscation: "x7Kq",
      })),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
    ],
    whole: { ...item, status: "completed", content: [part] },
  };
}

function buildCall(number: number, { name, input }: Answer["calls"][number]): Item {
  const json = JSON.stringify(input);
  const id = `fc_68af4dc1e3${number}`;
  const item = { id, type: "function_call", call_id: `call_AbCdEfGhIjKlMnOpQrStUv${number}`, name };
  return {
    begun: { ...item, status: "in_progress", arguments: "" },
    events: [
      ...[json.slice(0, 3), json.slice(3)].filter(Boolean).map((delta) => ({
        type: "response.function_call_arguments.delta",
        item_id: id,
        delta,
        obfuscation: "x7",
      })),
      { type: "response.function_call_arguments.done", item_id: id, arguments: json },
    ],
    whole: { ...item, status: "completed", arguments: json },
  };
}

function buildEvents(answer: Answer, asked: Asked): Fields[] {
  const items = buildItems(answer, asked);
  const response = buildResponse(answer, items, asked);
  const begun = buildResponse(null, [], asked);
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: item.begun },
      ...item.events.map((event) => ({ ...event, output_index })),
      { type: "response.output_item.done", output_index, item: item.whole },
    ]),
    { type: `response.${String(response["status"])}`, response },
  ];
}
