import type { ChatRequest } from "../dialects/chat/read-chat-request.ts";
import { applyEdits, type Edit } from "../wire/apply-edits.ts";

/**
 * The body for an upstream that speaks chat completions itself: the client's own bytes, in which `model` is replaced and,
 * for a stream, the chunk with the usage is asked for. So big integers, floats, the order of keys and fields nobody here
 * knows arrive as they were written.
 */
export function spliceRequest(request: ChatRequest, upstreamModel: string): Buffer {
  const { bytes, layout } = request;
  const asksForUsage = request.stream && !request.includeUsage;
  if (layout === null) return reserialize(request, upstreamModel, asksForUsage);

  const { model, streamOptions } = layout;
  const edits: Edit[] = [{ ...model, text: JSON.stringify(upstreamModel) }];
  if (asksForUsage) {
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

/**
 * A member that occurs twice means one thing to this parser and perhaps another to the upstream's: a model could be
 * smuggled past the check. What was checked is what is sent.
 */
function reserialize(request: ChatRequest, upstreamModel: string, asksForUsage: boolean): Buffer {
  const body = { ...request.body, model: upstreamModel };
  return Buffer.from(JSON.stringify(asksForUsage ? { ...body, stream_options: withUsage(request) } : body));
}

function withUsage(request: ChatRequest): Record<string, unknown> {
  return { ...request.body.stream_options, include_usage: true };
}
