import type { ChatAnswer } from "../../providers/provider.ts";
import type { AnswerEnvelope, DialectRequest } from "../dialect.ts";
import { echoRequest } from "./echo-request.ts";
import {
  formatCall,
  formatImage,
  formatMessage,
  formatPart,
  formatReasoning,
  idPrefixOf,
} from "./format-items.ts";
import { formatResponse, idSuffix, incompleteReasonOf, type FormattedResponse } from "./format-response.ts";
import { readChoiceContent } from "./read-choice-content.ts";
import { ToolTable } from "./tool-table.ts";
import { isObject } from "../../wire/json.ts";
import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import { sealReasoning } from "./sealed-reasoning.ts";

/** The Responses API returns one answer, so further choices are dropped. */
export function formatAnswer(
  { choices, usage }: ChatAnswer,
  envelope: AnswerEnvelope,
  { body }: DialectRequest,
): object {
  const table = new ToolTable(body);
  const choice = choices.find(({ index }) => index === 0) ?? choices[0];
  const incompleteReason = incompleteReasonOf(choice?.finish_reason ?? null);
  const status = incompleteReason === null ? "completed" : "incomplete";
  const { thoughts, details, text, refusal, images, calls } = readChoiceContent(choice?.message ?? {});
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
  for (const image of images) output.push(formatImage(nextId("ig"), image));
  for (const [index, { id, name, arguments: args }] of calls.entries()) {
    const tool = table.find(name ?? "");
    const callId = id ?? `call_${idSuffix(envelope.id)}_${index}`;
    const call = { id: nextId(idPrefixOf(tool)), callId, tool, name: name ?? "" };
    output.push(formatCall(call, index === calls.length - 1 ? status : "completed", args));
  }
  const echo = echoRequest(body, table, envelope);
  return hidden.keep(formatResponse(envelope, echo, { status, output, usage, incompleteReason }), envelope);
}

export function formatLogprobs(logprobs: unknown): object[] {
  const tokens = isObject(logprobs) ? logprobs["content"] : null;
  return toList(tokens).flatMap((token) => {
    const known = formatToken(token);
    if (known === null || !isObject(token)) return [];
    return [
      { ...known, top_logprobs: toList(token["top_logprobs"]).flatMap((top) => formatToken(top) ?? []) },
    ];
  });
}

function formatToken(value: unknown): { token: string; logprob: number; bytes: number[] } | null {
  if (!isObject(value)) return null;
  const { token, logprob, bytes } = value;
  if (typeof token !== "string" || typeof logprob !== "number") return null;
  return { token, logprob, bytes: toList(bytes).filter((byte): byte is number => Number.isInteger(byte)) };
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Reasoning that the client did not request, but a follow-up needs. The gateway keeps the reasoning with the
 * response.
 */
export class HiddenReasoning {
  /** The sealed reasoning, by the position of its item. */
  readonly #sealed = new Map<number, string>();

  add(index: number, details: readonly ReasoningDetail[]): void {
    if (details.length > 0) this.#sealed.set(index, sealReasoning(details));
  }

  keep(response: FormattedResponse, { keep }: Pick<AnswerEnvelope, "keep">): object {
    if (keep === null) return response;
    const output = response.output.map((item, index) => {
      const sealed = this.#sealed.get(index);
      return sealed === undefined ? item : { ...item, encrypted_content: sealed };
    });
    return keep({ response, output }) ? response : { ...response, store: false };
  }
}

export function includes({ include }: Record<string, unknown>, what: Includable): boolean {
  return Array.isArray(include) && include.includes(what);
}

type Includable = "reasoning.encrypted_content" | "message.output_text.logprobs";
