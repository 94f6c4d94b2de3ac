import type { GatewayError } from "../errors.ts";
import type { Endpoint } from "../providers/provider.ts";

/** A request to `/v1`, as observers are told of it. Made only where there is one. Moments are those of `performance.now()`. */
export class ObservedRequest {
  readonly id: string;
  readonly method: string;
  /** Such as `/v1/chat/completions`; null for what is no endpoint. */
  readonly route: string | null;
  /** The header in which a client says what its request is part of, as it stands: it may be anything. */
  readonly traceparent: string | null;
  readonly startedAt = performance.now();
  /** Every call of an upstream, oldest first. */
  readonly calls: ObservedCall[] = [];

  constructor({ id, method, route, traceparent }: ObservedRequestOptions) {
    this.id = id;
    this.method = method;
    this.route = route;
    this.traceparent = traceparent;
  }

  /** An upstream is called. */
  call(candidate: ObservedUpstream): void {
    this.calls.push({
      candidate,
      startedAt: performance.now(),
      endedAt: null,
      httpStatus: null,
      refusal: null,
    });
  }

  /** It begins to answer. */
  callAnswered(httpStatus: number): void {
    const call = this.calls.at(-1);
    if (call) call.httpStatus = httpStatus;
  }

  /** It refused to look at the request, or could not be reached. */
  callRefused(reason: string): void {
    const call = this.calls.at(-1);
    if (call) Object.assign(call, { endedAt: performance.now(), refusal: reason });
  }
}

export type ObservedCall = {
  readonly candidate: ObservedUpstream;
  readonly startedAt: number;
  /** Null for a call that ended with the request. */
  endedAt: number | null;
  /** Null where no answer began, or was not waited for. */
  httpStatus: number | null;
  /** Why another upstream could be called in its place: `http_<status>`, or a code of ours; else null. */
  refusal: string | null;
};

/** Of a candidate, what observers report. */
export type ObservedUpstream = Readonly<{
  providerName: string;
  providerKind: string;
  preset: string | null;
  upstreamModel: { readonly name: string };
  target: { chat: { endpoint: Pick<Endpoint, "origin" | "answer"> } } | GatewayError;
}>;

type ObservedRequestOptions = Pick<ObservedRequest, "id" | "method" | "route" | "traceparent">;
