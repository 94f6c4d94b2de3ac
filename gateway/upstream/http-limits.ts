import type { Limits } from "../config/limit-variables.ts";

/** What bounds the connections to one upstream, and what is taken from it before a body. */
export type HttpLimits = Pick<
  Limits,
  | "upstreamConnectionsMax"
  | "upstreamQueuedCallsMax"
  | "upstreamKeepAliveTimeoutMs"
  | "upstreamHeadBytesMax"
  | "upstreamAnswerBytesMax"
  | "upstreamHeadFieldsMax"
>;
