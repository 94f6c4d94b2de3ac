import type { ExecutionContext } from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { AddressGuard } from "../../gateway/upstream/address-guard.ts";
import type { HttpLimits } from "../../gateway/upstream/answer-reader.ts";
import type {
  UpstreamCall,
  UpstreamHeaders,
  UpstreamTimeouts,
} from "../../gateway/upstream/upstream-call.ts";
import { Upstreams } from "../../gateway/upstream/upstreams.ts";
import type { Endpoint } from "../../gateway/providers/provider.ts";
import { hangMs } from "./eventually.ts";

/** Permits connections to any address by default. Closes the connections after the test. */
export function createUpstreams(
  t: Pick<ExecutionContext, "teardown">,
  { guard = new AddressGuard(["*"]), ...limits }: Partial<HttpLimits> & { guard?: AddressGuard } = {},
): Upstreams {
  const upstreams = new Upstreams({ guard, limits: { ...defaultHttpLimits, ...limits }, now: Date.now });
  t.teardown(() => upstreams.close());
  return upstreams;
}

const { limits } = readConfig({});

export const defaultHttpLimits: HttpLimits = {
  upstreamConnectionsMax: 100,
  upstreamQueuedCallsMax: limits.upstreamQueuedCallsMax,
  upstreamKeepAliveTimeoutMs: limits.upstreamKeepAliveTimeoutMs,
  upstreamAnswerBytesMax: limits.upstreamAnswerBytesMax,
  upstreamHeadBytesMax: limits.upstreamHeadBytesMax,
  upstreamHeadFieldsMax: limits.upstreamHeadFieldsMax,
};

/** Sends a POST request, or a GET request if the body is null. */
export function callUpstream(
  upstreams: Upstreams,
  url: string,
  { body = "{}", timeouts = {}, onData = () => {}, ...endpoint }: CallOptions = {},
): ObservedCall {
  const { origin, pathname, search } = new URL(url);
  const chunks: Buffer[] = [];
  const told: Outcome = { status: 0, headers: {}, body: "", error: null, cause: null, wasSent: true };
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  const finish = (ending: Partial<Outcome>) => {
    resolve({ ...told, body: Buffer.concat(chunks).toString("latin1"), ...ending });
  };
  const call = upstreams.call(
    { origin, path: pathname + search, headers: [], secret: null, ...endpoint },
    body === null ? null : [Buffer.from(body)],
    { ...patience, ...timeouts },
    {
      onHeaders: (status, headers) => Object.assign(told, { status, headers }),
      onData(bytes) {
        chunks.push(bytes);
        onData(bytes, call);
      },
      onEnd: () => finish({}),
      onError({ code, message, cause }, wasSent) {
        finish({ error: `${code}: ${message}`, cause: (cause as { code?: string })?.code ?? null, wasSent });
      },
    },
  );
  return { call, outcome };
}

type CallOptions = Partial<Pick<Endpoint, "headers" | "path" | "secret" | "sign">> & {
  body?: string | null;
  timeouts?: Partial<UpstreamTimeouts>;
  onData?: (bytes: Buffer, call: UpstreamCall) => void;
};

export type ObservedCall = {
  call: UpstreamCall;
  /** Never resolves after an abort. */
  outcome: Promise<Outcome>;
};

export type Outcome = {
  status: number;
  headers: UpstreamHeaders;
  /** The body, with one character per byte. */
  body: string;
  /** The error's code and message. Null after a regular end. */
  error: string | null;
  /** The code of the error's cause, if any. */
  cause: string | null;
  wasSent: boolean;
};

const patience = {
  connectTimeoutMs: hangMs,
  firstByteTimeoutMs: hangMs,
  idleTimeoutMs: hangMs,
  totalTimeoutMs: hangMs,
};
