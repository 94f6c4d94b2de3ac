/** One event of an upstream's stream, in any framing. */
export type UpstreamEvent = {
  /** Empty for an unnamed event. */
  name: string;
  /** The data, usually JSON. */
  data: string;
};

/** Decodes the events of one stream, in any chunking. */
export type EventDecoder = {
  /** Returns the events that these bytes complete. May throw any error for malformed bytes. */
  push(bytes: Buffer): UpstreamEvent[];
  /** Whether the incomplete event exceeds its limit. No further bytes are accepted then. */
  readonly isTooLong: boolean;
};
