import { applyEdits, type Edit, spliceModel } from "../../wire/bytes.ts";
import { isObject, isKey, scanMembers } from "../../wire/json.ts";
import { readMessagesUsage, type TokenUsage, readTokenUsage } from "../../wire/token-usage.ts";
import type { UpstreamEvent } from "../../wire/server-sent-events.ts";
import { parseEvent } from "../../wire/parse-upstream.ts";
import { badAnswer } from "../../wire/bad-answer.ts";
import { reportedError } from "../../wire/reported-error.ts";
import { scanAnswer } from "../../wire/scan-answer.ts";
import type { NativeDialect } from "../dialect.ts";
import { deltaNames, type EventForm, NamedEventReader } from "../named-event-reader.ts";
import { withoutSealedThoughts } from "./sealed-detail.ts";

export const nativeMessages: NativeDialect = {
  // Clients must not select a workspace or allow access from browsers. Other `anthropic-` headers may enable new
  // features, so they are forwarded.
  forwardedHeaders: /^anthropic-(?!workspace-id$|dangerous-)[\w-]{1,64}$/,
  buildRequest: (request, { name }) => spliceModel(withoutSealedThoughts(request), name),
  readAnswer(bytes, slug) {
    const { edits, usage, list } = scanMessage(bytes, { start: 0, end: bytes.length }, slug);
    if (list === null) throw badForm();
    return { bytes: applyEdits(bytes, edits), usage: readNativeUsage(usage) };
  },
  outputNames: deltaNames,
  createReader: (_request, slug, meter) => new NamedEventReader(new MessageEvents(slug), meter),
};

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
export class MessageEvents implements EventForm {
  readonly eventNames = new Set(["message_start", "message_delta", "message_stop", "error"]);
  /** A field instead of a getter, because the gateway reads it for every piece of a stream. */
  usage: TokenUsage | null = null;
  readonly #slug: string;
  #usageAtStart: unknown = null;
  #hasBegun = false;
  #hasStopReason = false;

  constructor(slug: string) {
    this.#slug = slug;
  }

  read({ name, data }: UpstreamEvent): ReturnType<EventForm["read"]> {
    switch (name) {
      case "message_start":
        return { data: this.#readStart(Buffer.from(data)), ending: null };
      case "message_delta":
        this.#readDelta(parseEvent(data));
        return { data: null, ending: null };
      case "message_stop":
        if (!this.#hasBegun || !this.#hasStopReason) throw badForm();
        return { data: null, ending: "done" };
      default:
        return { data: null, ending: reportedError(parseEvent(data)["error"], "mid-stream") };
    }
  }

  /** Some upstreams end after the stop reason. */
  lastEvent(): string | null {
    return this.#hasBegun && this.#hasStopReason
      ? 'event: message_stop\ndata: {"type":"message_stop"}\n\n'
      : null;
  }

  #readDelta({ delta, usage }: Record<string, unknown>): void {
    this.usage = readNativeUsage(this.#usageAtStart, usage) ?? this.usage;
    this.#hasStopReason ||= isObject(delta) && typeof delta["stop_reason"] === "string";
  }

  #readStart(bytes: Buffer): string {
    const edits: Edit[] = [];
    const result = scanMembers(bytes, 0, bytes.length, Infinity, (keyStart, keyEnd, start, end) => {
      if (!isKey(bytes, keyStart, keyEnd, "message")) return;
      const message = scanMessage(bytes, { start, end }, this.#slug);
      for (const edit of message.edits) edits.push(edit);
      this.#usageAtStart = message.usage;
      this.usage = readNativeUsage(message.usage);
    });
    if (result !== "complete" || edits.length === 0) throw badForm();
    this.#hasBegun = true;
    return applyEdits(bytes, edits).toString("utf8");
  }
}

function scanMessage(bytes: Buffer, range: { start: number; end: number }, slug: string) {
  const message = scanAnswer(bytes, range, { slug, listName: "content" });
  if (message === null) throw badForm();
  return message;
}

const badForm = () => badAnswer("not in Anthropic's format");

function readNativeUsage(...reports: unknown[]): TokenUsage | null {
  const usage = readMessagesUsage(...reports);
  if (usage === null) return null;
  const { input, cached, cacheWrite, output, reasoning, details } = usage;
  const counts = {
    prompt_tokens: input === null ? null : input + (cached ?? 0) + (cacheWrite ?? 0),
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  return readTokenUsage(counts, details);
}
