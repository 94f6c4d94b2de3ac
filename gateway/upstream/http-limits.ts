import type { Settings } from "../config/limit-variables.ts";

/** The limits of the connections to one upstream, and of their answers. */
export type HttpLimits = Pick<
  Settings,
  | "upstreamConnectionsMax"
  | "upstreamQueuedCallsMax"
  | "upstreamKeepAliveTimeoutMs"
  | "upstreamHeadBytesMax"
  | "upstreamAnswerBytesMax"
  | "upstreamHeadFieldsMax"
>;
