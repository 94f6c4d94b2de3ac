/** One event of an upstream's stream, in any framing. */
export type UpstreamEvent = {
  /** Empty for an unnamed event. */
  name: string;
  /** Usually JSON. */
  data: string;
};

/** Decodes the events of one stream, in any chunking. */
export type EventDecoder = {
  /** The events completed by these bytes. May throw anything for malformed bytes. */
  push(bytes: Buffer): UpstreamEvent[];
  /** Whether the incomplete event exceeds its limit. Nothing can be pushed afterwards. */
  readonly isTooLong: boolean;
};
