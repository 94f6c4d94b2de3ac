import type { RelayedApi, RelayedRequest } from "../dialects/dialect.ts";
import { GatewayError } from "../errors.ts";
import { estimateInputTokens } from "../usage/counting/estimate-input-tokens.ts";
import { AnswerRelay, type AnswerReading } from "./answer-relay.ts";
import { withClientHeaders } from "./conversation.ts";
import type { Operation } from "./operation.ts";

/** The operation of an API without translation. Rejects models whose upstream does not have the API. */
export function relayed<Request extends RelayedRequest>(api: RelayedApi<Request>): Operation<Request> {
  const { endpointName, telemetryName, wording, forwardedHeaders } = api;
  return {
    endpointName,
    telemetryName,
    read: api.readRequest,
    estimateInputTokens: ({ body }) => estimateInputTokens(api.promptOf(body)),
    prepare({ context, exchange, request, headers }, { apis, upstreamModel, timeouts }) {
      const { model: slug } = request;
      const upstream = apis[endpointName];
      if (upstream === undefined) throw notSupported(slug, wording);
      const endpoint = withClientHeaders(upstream.endpoint, headers, forwardedHeaders);
      const parts = api.buildRequest(request, upstreamModel);
      return {
        events: new AnswerRelay(exchange, readingOf(api, slug), context.limits.upstreamAnswerBytesMax),
        begin: (events) => context.upstreams.call(endpoint, parts, timeouts, events),
      };
    },
  };
}

function readingOf({ readAnswer }: RelayedApi, slug: string): AnswerReading {
  return (bytes, contentType) => readAnswer(bytes, slug, contentType);
}

function notSupported(slug: string, { purpose, modelKind }: RelayedApi["wording"]): GatewayError {
  const message = `The model \`${slug}\` does not support ${purpose}. Choose ${modelKind}.`;
  return new GatewayError("invalid_value", message, { param: "model" });
}
