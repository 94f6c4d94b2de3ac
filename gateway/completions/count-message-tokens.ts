import { countTokens } from "../dialects/messages/count-tokens.ts";
import { readCountRequest } from "../dialects/messages/read-messages-request.ts";
import type { KnownKey } from "../keys/key-cache.ts";
import { resolveRoute } from "../models/resolve-route.ts";
import type { Way } from "../models/way.ts";
import { type CollectedAnswer, collectAnswer } from "../upstream/collect-answer.ts";
import type { CompleteOptions } from "./complete-options.ts";
import { type ClientHeaders, spliceModel, withClientHeaders } from "./converse.ts";

/**
 * How many tokens a request for a message has: as its upstream counts them, or else as well as can be told here. Nothing
 * is made, so nothing is written down.
 * @returns the answer in JSON
 */
export async function countMessageTokens(
  options: CompleteOptions,
  key: KnownKey,
  bytes: Buffer,
  clientHeaders: ClientHeaders,
  signal: AbortSignal,
): Promise<Buffer> {
  const request = readCountRequest(bytes, options.limits);
  const route = resolveRoute(options.catalogue, key, request.model);
  const way = route.ways[0]?.[0];
  const counted = way && (await askUpstream(options, way, request, clientHeaders, signal));
  return counted ?? Buffer.from(JSON.stringify(await countTokens(request)));
}

/** Null where it does not count, or cannot now: a rough number is worth more than none. */
async function askUpstream(
  { upstreams, limits }: CompleteOptions,
  { target, timeouts, upstreamModel }: Way,
  request: ReturnType<typeof readCountRequest>,
  clientHeaders: ClientHeaders,
  signal: AbortSignal,
): Promise<Buffer | null> {
  const endpoint = target.reach === "network" ? target.dialects["messages/count_tokens"] : undefined;
  if (!endpoint) return null;
  const bytesMax = limits.upstreamEventBytesMax;
  const body = spliceModel(request, upstreamModel.name);
  const answer = await collectAnswer(upstreams, withClientHeaders(endpoint, clientHeaders), {
    timeouts,
    bytesMax,
    body,
    signal,
  }).catch(() => null);
  return answer && isCount(answer) ? answer.body : null;
}

function isCount({ status, body }: CollectedAnswer): boolean {
  return status === 200 && /"input_tokens"\s*:\s*\d/.test(body.toString("latin1"));
}
