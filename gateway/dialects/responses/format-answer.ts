import type { ChatAnswer } from "../../providers/provider.ts";
import type { AnswerEnvelope, DialectRequest } from "../dialect.ts";
import { echoRequest } from "./echo-request.ts";
import { formatCall, formatMessage, formatPart, formatReasoning, idPrefixOf } from "./format-items.ts";
import { formatLogprobs } from "./format-logprobs.ts";
import { formatResponse, idSuffix, incompleteReasonOf } from "./format-response.ts";
import { HiddenReasoning } from "./hidden-reasoning.ts";
import { includes } from "./includes.ts";
import { readChoiceContent } from "./read-choice-content.ts";
import { ToolTable } from "./tool-table.ts";

/** Formats a whole answer. A response has one choice, so further ones are dropped. */
export function formatAnswer(
  { choices, usage }: ChatAnswer,
  envelope: AnswerEnvelope,
  { body }: DialectRequest,
): object {
  const table = new ToolTable(body);
  const choice = choices.find(({ index }) => index === 0) ?? choices[0];
  const incompleteReason = incompleteReasonOf(choice?.finish_reason ?? null);
  const status = incompleteReason === null ? "completed" : "incomplete";
  const { thoughts, details, text, refusal, calls } = readChoiceContent(choice?.message ?? {});
  const output: object[] = [];
  const nextId = (prefix: string) => `${prefix}_${idSuffix(envelope.id)}_${output.length}`;

  const hidden = new HiddenReasoning();
  const isShown = includes(body, "reasoning.encrypted_content");
  if (thoughts !== "" || (details.length > 0 && (isShown || envelope.keep !== null))) {
    if (!isShown) hidden.add(output.length, details);
    output.push(formatReasoning(nextId("rs"), thoughts, isShown ? details : []));
  }
  const logprobs = includes(body, "message.output_text.logprobs") ? formatLogprobs(choice?.logprobs) : [];
  const parts = [
    ...(text === "" ? [] : [formatPart("output_text", text, logprobs)]),
    ...(refusal === "" ? [] : [formatPart("refusal", refusal, [])]),
  ];
  if (parts.length > 0) {
    output.push(formatMessage(nextId("msg"), calls.length > 0 ? "completed" : status, parts));
  }
  for (const [index, { id, name, arguments: args }] of calls.entries()) {
    const tool = table.find(name ?? "");
    const callId = id ?? `call_${idSuffix(envelope.id)}_${index}`;
    const call = { id: nextId(idPrefixOf(tool)), callId, tool, name: name ?? "" };
    output.push(formatCall(call, index === calls.length - 1 ? status : "completed", args));
  }
  const echo = echoRequest(body, table, envelope);
  return hidden.keep(formatResponse(envelope, echo, { status, output, usage, incompleteReason }), envelope);
}
