import type { GatewayError } from "../../errors.ts";
import { applyEdits, type Edit, spliceModel } from "../../wire/bytes.ts";
import { isKey, isObject, listOf, scanMembers } from "../../wire/json.ts";
import { readChatDetails, readTokenUsage, type TokenUsage } from "../../wire/token-usage.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import { parseEvent, parsePart, parseValue } from "../../wire/parse-upstream.ts";
import { badAnswer, upstreamReported } from "../../wire/bad-answer.ts";
import { reportedError } from "../../wire/reported-error.ts";
import { scanAnswer } from "../../wire/scan-answer.ts";
import { unsupported } from "../../wire/parameter-errors.ts";
import { withoutSealedReasoning } from "./sealed-content.ts";
import type { NativeDialect } from "../dialect.ts";
import { deltaNames, type EventForm, NamedEventReader } from "../named-event-reader.ts";

export const nativeResponses: NativeDialect = {
  // With this header, Codex announces that the input contains its tools.
  forwardedHeaders: /^x-openai-internal-codex-responses-lite$/,
  buildRequest(request, { name }) {
    // Without a stream, the gateway would not see the usage of a background request.
    if (request.outline["background"] === true && !request.stream)
      throw unsupported("background", noBackground);
    return spliceModel(withoutSealedReasoning(request), name);
  },
  readAnswer(bytes, slug) {
    const { edits, usage, list, error } = scanResponse(bytes, { start: 0, end: bytes.length }, slug);
    if (list === null) throw badForm();
    if (isObject(error)) throw toUpstreamError(error, "in its response");
    return { bytes: applyEdits(bytes, edits), usage };
  },
  outputNames: deltaNames,
  createReader: (_request, slug, meter) => new NamedEventReader(new ResponseEvents(slug), meter),
};

const noBackground =
  "the gateway supports background responses only as streams. Remove `background`, or set `stream`.";

export class ResponseEvents implements EventForm {
  readonly eventNames = new Set([
    "response.queued",
    "response.created",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "error",
  ]);
  usage: TokenUsage | null = null;
  readonly #slug: string;

  constructor(slug: string) {
    this.#slug = slug;
  }

  read({ name, data }: UpstreamEvent): ReturnType<EventForm["read"]> {
    if (name === "error") return { data: null, ending: readError(parseValue(data)) };
    const bytes = Buffer.from(data);
    const edits: Edit[] = [];
    const result = scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd, start, end) => {
      if (!isKey(bytes, keyStart, keyEnd, "response")) return;
      const response = scanResponse(bytes, { start, end }, this.#slug);
      for (const edit of response.edits) edits.push(edit);
      this.usage = response.usage ?? this.usage;
    });
    if (result !== "complete" || edits.length === 0) throw badForm();
    if (name === "response.failed") return { data: null, ending: readFailure(parseEvent(data)) };
    const isEnd = name === "response.completed" || name === "response.incomplete";
    return { data: applyEdits(bytes, edits).toString("utf8"), ending: isEnd ? "done" : null };
  }
}

function scanResponse(bytes: Buffer, range: { start: number; end: number }, slug: string) {
  const response = scanAnswer(bytes, range, { slug, listName: "output" });
  if (response === null) throw badForm();
  const { usage, serviceTier, list } = response;
  return { ...response, usage: readUsage(usage, serviceTier, list ? countSearches(bytes, list) : 0) };
}

export function readUsage(usage: unknown, serviceTier: unknown, searches: number): TokenUsage | null {
  if (!isObject(usage)) return null;
  const counts = {
    prompt_tokens: usage["input_tokens"],
    prompt_tokens_details: usage["input_tokens_details"],
    completion_tokens: usage["output_tokens"],
    completion_tokens_details: usage["output_tokens_details"],
  };
  return readTokenUsage(counts, readChatDetails(usage, serviceTier, searches));
}

/** OpenAI charges only for the action `search`. https://developers.openai.com/api/docs/guides/tools-web-search */
function countSearches(bytes: Buffer, { start, end }: { start: number; end: number }): number {
  const output = bytes.subarray(start, end);
  if (!output.includes('"web_search_call"')) return 0;
  return listOf(parsePart(output)).filter((item) => {
    if (!isObject(item) || item["type"] !== "web_search_call" || item["status"] === "failed") return false;
    return !isObject(item["action"]) || item["action"]["type"] === "search";
  }).length;
}

function readFailure(event: unknown): GatewayError {
  const response = isObject(event) ? event["response"] : null;
  return toUpstreamError(isObject(response) ? response["error"] : null);
}

/** OpenAI documents the members in the event itself. Its server sends them in `error`. */
function readError(event: unknown): GatewayError {
  return toUpstreamError(isObject(event) && isObject(event["error"]) ? event["error"] : event);
}

/** Keeps the upstream's code, because clients act on codes such as `context_length_exceeded`. */
function toUpstreamError(
  error: unknown,
  where: "in its response" | "mid-stream" = "mid-stream",
): GatewayError {
  const reported = reportedError(error, where);
  const { message, code } = isObject(error) ? error : {};
  if (reported.withoutAnswer?.status !== null || typeof code !== "string") return reported;
  if (!/^[\w.-]{1,64}$/.test(code)) return reported;
  return upstreamReported(message, where, { status: 502, type: "server_error", param: null, code });
}

const badForm = () => badAnswer("not in OpenAI's format");
