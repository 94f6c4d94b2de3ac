import { type Attributes, SpanKind } from "@opentelemetry/api";
import { GatewayError } from "../errors.ts";
import type { ObservedCall, ObservedUpstream } from "../usage/observed-request.ts";
import type { EndedRequest } from "../usage/request-observer.ts";
import { genAiOperationName, genAiProviderName } from "./gen-ai-names.ts";

/**
 * A request's calls of upstreams, as their spans have them.
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md
 */
export function describeCalls(ended: EndedRequest): DescribedCall[] {
  return (ended.request?.calls ?? []).map((call, index, calls) => {
    const isLast = index === calls.length - 1;
    const { candidate, startedAt, endedAt } = call;
    const operation = genAiOperationName(ended.record.endpoint);
    const status = statusOf(call);
    const errorType = errorTypeOf(call, isLast ? ended : null);
    const firstTokenAt = isLast && ended.record.stream ? ended.firstTokenAt : null;
    return {
      name: `${operation} ${candidate.upstreamModel.name}`,
      kind: isLocal(candidate) ? SpanKind.INTERNAL : SpanKind.CLIENT,
      startedAt,
      endedAt,
      hasFailed: errorType !== null && errorType !== cancelled,
      attributes: {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": genAiProviderName(candidate),
        "gen_ai.request.model": candidate.upstreamModel.name,
        ...(ended.record.stream && { "gen_ai.request.stream": true }),
        ...(index > 0 && { "http.request.resend_count": index }),
        ...(status !== null && { "http.response.status_code": status }),
        ...(firstTokenAt !== null && {
          "gen_ai.response.time_to_first_chunk": (firstTokenAt - startedAt) / 1_000,
        }),
        ...(errorType !== null && { "error.type": errorType }),
        ...describeServer(candidate),
      },
    };
  });
}

type DescribedCall = {
  name: string;
  kind: SpanKind;
  /** By `performance.now()`; the end is null for a call that ended with its request. */
  startedAt: number;
  endedAt: number | null;
  hasFailed: boolean;
  attributes: Attributes;
};

function statusOf({ httpStatus, refusal }: ObservedCall): number | null {
  const refused = /^http_(\d{3})$/.exec(refusal ?? "")?.[1];
  return refused === undefined ? httpStatus : Number(refused);
}

/** @param ended the request, where the call is its last one and ended with it */
function errorTypeOf(call: ObservedCall, ended: EndedRequest | null): string | null {
  const status = statusOf(call);
  if (status !== null && status !== 200) return String(status);
  if (call.refusal !== null) return call.refusal;
  return ended?.record.status === "CANCELLED" ? cancelled : (ended?.errorCode ?? null);
}

/** Whether the upstream is inside this process. */
function isLocal({ target }: ObservedUpstream): boolean {
  return !(target instanceof GatewayError) && target.chat.endpoint.answer !== undefined;
}

function describeServer({ target }: ObservedUpstream): Attributes {
  if (target instanceof GatewayError || target.chat.endpoint.answer) return {};
  const { hostname, port, protocol } = new URL(target.chat.endpoint.origin);
  return { "server.address": hostname, "server.port": Number(port || (protocol === "https:" ? 443 : 80)) };
}

const cancelled = "cancelled";
