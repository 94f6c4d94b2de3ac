import type { GatewayError } from "../errors.ts";

/** What happens in an upstream call, in this order: headers, data any number of times, then end or error, once. */
export type UpstreamEvents = {
  onHeaders(status: number, headers: UpstreamHeaders): void;
  onData(bytes: Buffer): void;
  /** The answer is complete as far as HTTP can tell. */
  onEnd(): void;
  /**
   * There will be no more: `upstream_error` or `upstream_timeout`. Not told after an abort.
   * @param wasSent whether any of the request may have reached the upstream
   */
  onError(error: GatewayError, wasSent: boolean): void;
};

export type UpstreamHeaders = Record<string, string | string[] | undefined>;

/** An upstream call under way. */
export type UpstreamCall = {
  /** Whether any of the request may have reached the upstream, which may then have worked on it. */
  readonly wasSent: boolean;
  /** Stops reading; the upstream feels it when the buffers between are full. */
  pause(): void;
  resume(): void;
  /** Ends the call at once, whatever its state; nothing is told any more. */
  abort(): void;
};

/** How long an upstream may take, in milliseconds. */
export type UpstreamTimeouts = {
  connectTimeoutMs: number;
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
  totalTimeoutMs: number;
};
