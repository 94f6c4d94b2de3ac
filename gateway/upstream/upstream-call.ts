import type { GatewayError } from "../errors.ts";

/** The events of a call, in order: headers, any number of data events, and the end. An error replaces the rest. */
export type UpstreamEvents = {
  onHeaders(status: number, headers: UpstreamHeaders): void;
  onData(bytes: Buffer): void;
  /** Runs when the answer is complete according to HTTP. */
  onEnd(): void;
  /**
   * The last event, in place of `onEnd`. Never follows an abort.
   * @param wasSent whether any byte of the request may have reached the upstream
   */
  onError(error: GatewayError, wasSent: boolean): void;
};

export type UpstreamHeaders = Record<string, string | string[] | undefined>;

export type UpstreamCall = {
  /** Whether any byte of the request may have reached the upstream. */
  readonly wasSent: boolean;
  /** Stops reading. The upstream stops writing once the buffers are full. */
  pause(): void;
  resume(): void;
  /** Ends the call in any state. No event follows. */
  abort(): void;
};

export type UpstreamTimeouts = {
  connectTimeoutMs: number;
  firstByteTimeoutMs: number;
  idleTimeoutMs: number;
  totalTimeoutMs: number;
};

export type UpstreamRequest = {
  /** Ends with the empty line, and has one character per byte. */
  head: string;
  /** The parts of the body, in order. Null for a GET request. */
  body: readonly Buffer[] | null;
  bodyLength: number;
};
