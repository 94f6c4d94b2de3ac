/** One event of an upstream's stream, whatever it is framed in. */
export type UpstreamEvent = {
  /** Empty where the event has no name. */
  name: string;
  /** JSON as a rule. */
  data: string;
};

/** Makes events of the bytes of one stream, however the network cuts them. */
export type EventDecoder = {
  /** The events that the bytes complete. May throw anything where they cannot be any. */
  push(bytes: Buffer): UpstreamEvent[];
  /** Whether the event that is waited for is longer than it may be; nothing more can be pushed then. */
  readonly isTooLong: boolean;
};
