import type { Settings } from "../config/limit-variables.ts";

/** What bounds the connections to one upstream, and what is taken from it before a body. */
export type HttpLimits = Pick<
  Settings,
  | "upstreamConnectionsMax"
  | "upstreamQueuedCallsMax"
  | "upstreamKeepAliveTimeoutMs"
  | "upstreamHeadBytesMax"
  | "upstreamAnswerBytesMax"
  | "upstreamHeadFieldsMax"
>;
