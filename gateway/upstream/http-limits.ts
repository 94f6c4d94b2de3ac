import type { Settings } from "../config/limit-variables.ts";

export type HttpLimits = Pick<
  Settings,
  | "upstreamConnectionsMax"
  | "upstreamQueuedCallsMax"
  | "upstreamKeepAliveTimeoutMs"
  | "upstreamHeadBytesMax"
  | "upstreamAnswerBytesMax"
  | "upstreamHeadFieldsMax"
>;
