import type { ChatRequest } from "../dialects/chat/read-chat-request.ts";
import type { ChatQuirks, UpstreamModel } from "../providers/provider.ts";
import { toPlainChat } from "./to-plain-chat.ts";
import { applyEdits, type Edit } from "../wire/apply-edits.ts";

/**
 * The body for an upstream that speaks chat completions itself: the client's own bytes, in which `model` is replaced and,
 * for a stream, the chunk with the usage is asked for. So big integers, floats, the order of keys and fields nobody here
 * knows arrive as they were written.
 */
export function spliceRequest(
  request: ChatRequest,
  upstreamModel: UpstreamModel,
  quirks: ChatQuirks,
): Buffer {
  const { bytes, layout } = request;
  const asksForUsage = request.stream && !request.includeUsage;
  if (request.isTranslated) {
    return reserialize(
      { ...request, body: toPlainChat(request.body, upstreamModel, quirks) },
      upstreamModel,
      asksForUsage,
      quirks,
    );
  }
  if (layout === null || wantsOtherRoles(request, quirks) || hasBothLimits(request, quirks)) {
    return reserialize(request, upstreamModel, asksForUsage, quirks);
  }

  const { model, streamOptions, maxCompletionTokensKey } = layout;
  const edits: Edit[] = [{ ...model, text: JSON.stringify(upstreamModel.name) }];
  if (maxCompletionTokensKey && quirks.maxTokensName !== "max_completion_tokens") {
    edits.push({ ...maxCompletionTokensKey, text: quirks.maxTokensName });
  }
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
 * Needed for a quirk in the depth of the body, and for a member that occurs twice: that means one thing to this parser and
 * perhaps another to the upstream's, so that a model could be smuggled past the check. What was checked is what is sent.
 */
function reserialize(
  request: ChatRequest,
  upstreamModel: UpstreamModel,
  asksForUsage: boolean,
  quirks: ChatQuirks,
): Buffer {
  const { max_completion_tokens: maxTokens, ...rest } = request.body;
  const body = {
    ...rest,
    model: upstreamModel.name,
    // `null` is as good as nothing, and must not take the place of the other name's number.
    ...(maxTokens !== undefined && maxTokens !== null && { [quirks.maxTokensName]: maxTokens }),
    ...(wantsOtherRoles(request, quirks) && {
      messages: request.body.messages.map((message) =>
        message.role === "developer" ? { ...message, role: quirks.developerRole } : message,
      ),
    }),
  };
  return Buffer.from(JSON.stringify(asksForUsage ? { ...body, stream_options: withUsage(request) } : body));
}

function wantsOtherRoles({ body }: ChatRequest, { developerRole }: ChatQuirks): boolean {
  return developerRole !== "developer" && body.messages.some(({ role }) => role === "developer");
}

/** A new name for the one must not make a second of the other. */
function hasBothLimits({ body }: ChatRequest, { maxTokensName }: ChatQuirks): boolean {
  return (
    maxTokensName === "max_tokens" &&
    body["max_tokens"] !== undefined &&
    body["max_completion_tokens"] !== undefined
  );
}

function withUsage(request: ChatRequest): Record<string, unknown> {
  return { ...request.body.stream_options, include_usage: true };
}
