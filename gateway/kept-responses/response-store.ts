import type { JsonItems } from "../wire/json-items.ts";

/** The parts are JSON bytes, because parsed JSON can take twenty times the memory. */
export type KeptResponse = {
  response: Buffer;
  /** The request's input items, with references resolved. */
  input: JsonItems;
  /** The answer's items, including sealed reasoning that the client did not request. */
  output: JsonItems;
  /** The tokens of input and output that the upstream reported. 0 if unknown. */
  tokens: number;
};

/** The parts of a response that a follow-up needs. */
export type KeptItems = Pick<KeptResponse, "input" | "output" | "tokens">;

/** Another API key's response counts as unknown. */
export type ResponseStore = {
  /** Returns whether the response is kept. */
  keep(keyId: string, id: string, kept: KeptResponse): boolean;
  /** Finds a response and renews its expiry. May throw `service_unavailable`. */
  find(keyId: string, id: string): KeptResponse | null | Promise<KeptResponse | null>;
  /** Returns whether the response existed. */
  delete(keyId: string, id: string): boolean | Promise<boolean>;
  forget(keyId: string): void;
  close(): void;
};
