/** The parts are JSON bytes, because parsed JSON can take twenty times the memory. */
export type KeptResponse = {
  response: Buffer;
  /** The request's input items, with references resolved. */
  input: Buffer;
  /** The answer's items, including sealed reasoning that the client did not request. */
  output: Buffer;
};

/** The parts of a response that a follow-up needs. */
export type KeptItems = Pick<KeptResponse, "input" | "output">;

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

/** The assumed memory of a response besides its bytes. */
export const responseOverheadBytes = 1_024;

export function countBytes({ response, input, output }: KeptResponse): number {
  return response.length + input.length + output.length + responseOverheadBytes;
}
