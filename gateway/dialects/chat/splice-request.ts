import type { UpstreamModel } from "../../providers/provider.ts";
import { applyEdits, type Edit } from "../../wire/apply-edits.ts";
import { applyQuirks, changesBody, type ChatQuirks } from "../../wire/chat-quirks.ts";
import type { ChatRequest } from "./read-chat-request.ts";

/**
 * The body for an upstream that speaks chat completions: the client's own bytes, in which `model` is replaced and, for a
 * stream, the usage chunk is requested. Big integers, floats, key order and unknown fields arrive as they were written.
 */
export function spliceRequest(request: ChatRequest, { name }: UpstreamModel, quirks: ChatQuirks): Buffer {
  const { bytes, layout } = request;
  const addsUsage = request.stream && !request.includeUsage;
  // A member that occurs twice can mean one thing here and another upstream: what was checked is what is sent.
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
