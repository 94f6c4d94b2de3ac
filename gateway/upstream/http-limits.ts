import type { Settings } from "../config/limit-variables.ts";

/** Bounds connections to one upstream, and the bytes of a response head. */
export type HttpLimits = Pick<
  Settings,
  | "upstreamConnectionsMax"
  | "upstreamQueuedCallsMax"
  | "upstreamKeepAliveTimeoutMs"
  | "upstreamHeadBytesMax"
  | "upstreamAnswerBytesMax"
  | "upstreamHeadFieldsMax"
>;
