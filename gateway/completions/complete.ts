import { readChatRequest } from "../dialects/chat/read-chat-request.ts";
import type { Limits } from "../limit-variables.ts";
import type { Catalogue } from "../models/catalogue.ts";
import { resolveRoute } from "../models/resolve-route.ts";
import { playAnswer } from "../upstream/local-call.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { AnswerRelay } from "./answer-relay.ts";
import type { Exchange } from "./exchange.ts";
import { spliceRequest } from "./splice-request.ts";
import { StreamRelay } from "./stream-relay.ts";

export type CompleteOptions = { catalogue: Catalogue; upstreams: Upstreams; limits: Limits };

/**
 * The way of every chat completion: read what is asked, decide where it goes, call, relay. What comes back arrives at the
 * relay, which ends the exchange. Throws a `GatewayError` for a request that cannot be made.
 */
export function complete(
  { catalogue, upstreams, limits }: CompleteOptions,
  exchange: Exchange,
  bytes: Buffer,
): void {
  const request = readChatRequest(bytes, limits.requestJsonDepthMax);
  exchange.describe(request.body.model, request.stream);

  const route = resolveRoute(catalogue, exchange.key, request.body.model);

  const relay = request.stream
    ? new StreamRelay(exchange, {
        slug: route.slug,
        withholdsUsage: !request.includeUsage,
        eventBytesMax: limits.upstreamEventBytesMax,
        pingIntervalMs: limits.streamPingIntervalMs,
        clientStallTimeoutMs: limits.clientStallTimeoutMs,
      })
    : new AnswerRelay(exchange, route.slug, limits.upstreamAnswerBytesMax);

  const { target, timeouts } = route;
  if (target.reach === "none") throw target.reason;
  if (target.reach === "network") {
    const upstreamBytes = spliceRequest(request, route.upstreamModel);
    exchange.call(route, () => upstreams.call(target.endpoint, upstreamBytes, timeouts, relay));
  } else {
    const answer = target.provider.answerChat(
      { ...request.body, model: route.upstreamModel, stream_options: { include_usage: true } },
      { id: `chatcmpl-${exchange.id}`, createdSeconds: Math.floor(exchange.createdAt.getTime() / 1000) },
    );
    exchange.call(route, () => playAnswer(answer, timeouts, relay));
  }
}
