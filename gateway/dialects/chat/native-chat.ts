import { GatewayError } from "../../errors.ts";
import { applyEdits, type Edit } from "../../wire/bytes.ts";
import { readChatUsage, applyQuirks, changesBody, type ChatQuirks } from "../../wire/chat-completion.ts";
import { readErrorMessage } from "../../wire/read-error-message.ts";
import { scanAnswer } from "../../wire/scan-answer.ts";
import type { NativeDialect, NativePiece, NativeReader } from "../dialect.ts";
import { ChunkRewriter } from "./chunk-rewriter.ts";
import type { ChatRequest } from "./read-chat-request.ts";
import type { UpstreamModel } from "../../providers/provider.ts";

/** Upstreams with the chat completions API, which is the most common one. */
export const nativeChat: NativeDialect<ChatRequest> = {
  forwardedHeaders: null,
  buildRequest(request, model, quirks) {
    if (quirks === null) throw new Error("The quirks of the chat completions upstream are missing.");
    return spliceRequest(request, model, quirks);
  },
  readAnswer(bytes, slug) {
    const answer = scanAnswer(bytes, { start: 0, end: bytes.length }, { slug, listName: "choices" });
    if (!answer?.hasList) throw badForm("not in OpenAI's format");
    return { bytes: applyEdits(bytes, answer.edits), usage: readChatUsage(answer.usage, answer.serviceTier) };
  },
  // OpenAI-compatible upstreams use several names for reasoning.
  outputNames: () => /"(?:content|reasoning_content|reasoning|refusal|arguments)"\s*:\s*"/g,
  createReader({ includeUsage }, slug, meter) {
    return new ChunkReader(new ChunkRewriter({ slug, includeUsage, meter }), includeUsage);
  },
};

class ChunkReader implements NativeReader {
  readonly #rewriter: ChunkRewriter;
  readonly #includeUsage: boolean;

  constructor(rewriter: ChunkRewriter, includeUsage: boolean) {
    this.#rewriter = rewriter;
    this.#includeUsage = includeUsage;
  }

  read(events: Buffer): NativePiece {
    const { bytes, usage, ending } = this.#rewriter.rewrite(events);
    if (ending === null) return { bytes, usage, ending };
    if (ending.kind === "done") return { bytes: this.#withLastEvents(bytes), usage, ending: "done" };
    const error =
      ending.kind === "error" ? reportedError(ending.payload) : badForm("not made of chat completion chunks");
    return { bytes, usage, ending: error };
  }

  /**
   * Some upstreams send the usage in their last chunk with choices. A client that requested a usage chunk still gets
   * one.
   */
  #withLastEvents(bytes: Buffer): Buffer {
    const chunk = this.#includeUsage ? this.#rewriter.missingUsageChunk() : null;
    const last = chunk === null ? [doneEvent] : [Buffer.from(`data: ${chunk}\n\n`), doneEvent];
    return Buffer.concat([bytes, ...last]);
  }
}

function reportedError(payload: Buffer): GatewayError {
  const message =
    readErrorMessage(payload) ?? "The provider reported an error mid-stream. Retry the request.";
  return new GatewayError("upstream_error", message, { reason: "reported_error" });
}

/** @param what completes the sentence "The provider's answer was" */
function badForm(what: string): GatewayError {
  const message = `The provider's response was ${what}. Retry the request, and check the provider if the error persists.`;
  return new GatewayError("upstream_error", message, { reason: "unreadable_answer" });
}

const doneEvent = Buffer.from("data: [DONE]\n\n");

/**
 * The body for an upstream that speaks chat completions: the client's bytes with another `model` and, for a stream, a
 * request for the usage chunk. Large integers, key order and unknown fields stay as written.
 */
export function spliceRequest(request: ChatRequest, { name }: UpstreamModel, quirks: ChatQuirks): Buffer {
  const { bytes, layout } = request;
  const addsUsage = request.stream && !request.includeUsage;
  // Two parsers may disagree about a duplicate member, so the checked value is sent.
  if (layout === null || changesBody(request.body, quirks)) {
    const body = { ...applyQuirks(request.body, quirks), model: name };
    return Buffer.from(JSON.stringify(addsUsage ? { ...body, stream_options: withUsage(request) } : body));
  }

  const { model, streamOptions, maxCompletionTokensKey } = layout;
  const edits: Edit[] = [{ ...model, text: JSON.stringify(name) }];
  if (maxCompletionTokensKey && quirks.maxTokensName !== "max_completion_tokens") {
    edits.push({ ...maxCompletionTokensKey, text: quirks.maxTokensName });
  }
  if (addsUsage) {
    if (streamOptions) edits.push({ ...streamOptions, text: JSON.stringify(withUsage(request)) });
    else {
      const first = bytes.indexOf("{") + 1;
      edits.push({ start: first, end: first, text: '"stream_options":{"include_usage":true},' });
    }
  }
  return applyEdits(
    bytes,
    edits.sort((left, right) => left.start - right.start),
  );
}

function withUsage(request: ChatRequest): Record<string, unknown> {
  return { ...request.body.stream_options, include_usage: true };
}
