import { countTokens } from "../dialects/messages/count-tokens.ts";
import { messages } from "../dialects/messages/messages.ts";
import { readCountRequest } from "../dialects/messages/read-messages-request.ts";
import { readResponsesRequest } from "../dialects/responses/read-responses-request.ts";
import { responses } from "../dialects/responses/responses.ts";
import type { Dialect, DialectRequest } from "../dialects/dialect.ts";
import type { BodyLimits } from "../dialects/parse-body.ts";
import type { KnownKey } from "../keys/authenticate-key.ts";
import type { EndpointName } from "../providers/provider.ts";
import { resolveRoute } from "../routing/catalogue.ts";
import { type CollectedAnswer, collectAnswer } from "../upstream/collect-answer.ts";
import { estimateInputTokens } from "../usage/counting/estimate-input-tokens.ts";
import { spliceModel } from "../wire/bytes.ts";
import type { AnswerContext, ReceivedRequest } from "./operation.ts";
import { withClientHeaders } from "./conversation.ts";

export type TokenCounting = {
  dialect: Dialect;
  endpointName: EndpointName;
  read(bytes: Buffer, limits: BodyLimits): DialectRequest;
  /** The answer if the upstream cannot count, or if its count fails. */
  estimate(body: Record<string, unknown>): Promise<object>;
};

export const messageTokens: TokenCounting = {
  dialect: messages,
  endpointName: "messages/count_tokens",
  read: readCountRequest,
  estimate: (body) => countTokens({ body }),
};

/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
export const responseTokens: TokenCounting = {
  dialect: responses,
  endpointName: "responses/input_tokens",
  read: readResponsesRequest,
  estimate: (body) =>
    Promise.resolve({ object: "response.input_tokens", input_tokens: estimateInputTokens(body) }),
};

/** Returns the first candidate's count in JSON if possible, otherwise an estimate. Writes no usage record. */
export async function countRequestTokens(
  options: Pick<AnswerContext, "catalogue" | "limits" | "upstreams">,
  counting: TokenCounting,
  key: KnownKey,
  { bytes, headers, heldBody, findFollowUp }: ReceivedRequest,
  signal: AbortSignal,
): Promise<Buffer> {
  const { dialect } = counting;
  let request = counting.read(bytes, options.limits);
  const route = resolveRoute(options.catalogue, key, request.model);
  const followUp = await findFollowUp?.();
  if (followUp) {
    heldBody.add(Math.max(0, followUp.bytesLength - bytes.length));
    request = counting.read(followUp.join(), options.limits);
  }
  const candidate = route.candidates[0]?.[0];
  const api = candidate?.apis[counting.endpointName];
  if (candidate && api) {
    const target = withClientHeaders(api.endpoint, headers, dialect.native.forwardedHeaders);
    const { timeouts, upstreamModel } = candidate;
    const body = spliceModel(request, upstreamModel.name);
    const bytesMax = options.limits.upstreamEventBytesMax;
    const answer = await collectAnswer(options.upstreams, target, { timeouts, bytesMax, body, signal }).catch(
      () => null,
    );
    // An estimate is better than an error.
    if (answer && isCount(answer)) return answer.body;
  }
  return Buffer.from(JSON.stringify(await counting.estimate(request.body)));
}

function isCount({ status, body }: CollectedAnswer): boolean {
  return status === 200 && /"input_tokens"\s*:\s*\d/.test(body.toString("latin1"));
}
