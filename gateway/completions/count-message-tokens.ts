import { countTokens } from "../dialects/messages/count-tokens.ts";
import { messages } from "../dialects/messages/messages.ts";
import { readCountRequest } from "../dialects/messages/read-messages-request.ts";
import { GatewayError } from "../errors.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import { resolveRoute } from "../routing/catalogue.ts";
import type { Candidate } from "../routing/candidate.ts";
import { type CollectedAnswer, collectAnswer } from "../upstream/collect-answer.ts";
import { spliceModel } from "../wire/json.ts";
import type { AnswerContext } from "./answer-request.ts";
import { withClientHeaders } from "./conversation.ts";
import type { ClientHeaders } from "./operation.ts";

/**
 * Counts the tokens of a messages request: by its upstream where it can, otherwise by an estimate. Writes no usage
 * record.
 * @returns the answer in JSON
 */
export async function countMessageTokens(
  options: Pick<AnswerContext, "catalogue" | "limits" | "upstreams">,
  key: KnownKey,
  bytes: Buffer,
  clientHeaders: ClientHeaders,
  signal: AbortSignal,
): Promise<Buffer> {
  const request = readCountRequest(bytes, options.limits);
  const route = resolveRoute(options.catalogue, key, request.model);
  const candidate = route.candidates[0]?.[0];
  const counted = candidate && (await countUpstream(options, candidate, request, clientHeaders, signal));
  return counted ?? Buffer.from(JSON.stringify(await countTokens(request)));
}

/** Null where the upstream cannot count: an estimate is better than an error. */
async function countUpstream(
  { upstreams, limits }: Pick<AnswerContext, "limits" | "upstreams">,
  { target, timeouts, upstreamModel }: Candidate,
  request: ReturnType<typeof readCountRequest>,
  clientHeaders: ClientHeaders,
  signal: AbortSignal,
): Promise<Buffer | null> {
  const endpoint = target instanceof GatewayError ? undefined : target.dialects["messages/count_tokens"];
  if (!endpoint) return null;
  const bytesMax = limits.upstreamEventBytesMax;
  const body = spliceModel(request, upstreamModel.name);
  const answer = await collectAnswer(
    upstreams,
    withClientHeaders(endpoint, clientHeaders, messages.native.headerNames),
    {
      timeouts,
      bytesMax,
      body,
      signal,
    },
  ).catch(() => null);
  return answer && isCount(answer) ? answer.body : null;
}

function isCount({ status, body }: CollectedAnswer): boolean {
  return status === 200 && /"input_tokens"\s*:\s*\d/.test(body.toString("latin1"));
}
