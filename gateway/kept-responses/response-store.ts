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

/**
 * Packs a response into one buffer of its own, because small buffers keep the rest of Node's pool
 * alive. Format: six counts, the items' positions, and the bytes of each part.
 */
export function packResponse(kept: KeptResponse): Buffer {
  const { response, input, output, tokens } = kept;
  const packed = Buffer.allocUnsafeSlow(packedLength(kept));
  const counts = [
    response.length,
    input.starts.length,
    input.bytes.length,
    output.starts.length,
    output.bytes.length,
    tokens,
  ];
  let at = 0;
  for (const numbers of [Uint32Array.from(counts), input.starts, output.starts]) {
    const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    at += bytes.copy(packed, at);
  }
  for (const bytes of [response, input.bytes, output.bytes]) at += bytes.copy(packed, at);
  return packed;
}

function packedLength({ response, input, output }: KeptResponse): number {
  const numbers = countsLength + input.starts.length + output.starts.length;
  return numbers * numberBytes + response.length + input.bytes.length + output.bytes.length;
}

/** Copies nothing but positions at an odd address. Returns null for bytes in another format. */
export function unpackResponse(packed: Buffer): KeptResponse | null {
  if (packed.length < countsLength * numberBytes) return null;
  const counts = readNumbers(packed, 0, countsLength);
  const [responseLength = 0, inputCount = 0, inputLength = 0, outputCount = 0, outputLength = 0, tokens = 0] =
    counts;
  const numbers = countsLength + inputCount + outputCount;
  let at = numbers * numberBytes;
  if (at + responseLength + inputLength + outputLength !== packed.length) return null;
  const cut = (length: number) => packed.subarray(at, (at += length));
  const items = (from: number, count: number, bytes: Buffer): JsonItems => ({
    bytes,
    starts: readNumbers(packed, from * numberBytes, count),
  });
  return {
    response: cut(responseLength),
    input: items(countsLength, inputCount, cut(inputLength)),
    output: items(countsLength + inputCount, outputCount, cut(outputLength)),
    tokens,
  };
}

function readNumbers(packed: Buffer, at: number, count: number): Uint32Array {
  const offset = packed.byteOffset + at;
  if (offset % numberBytes === 0) return new Uint32Array(packed.buffer, offset, count);
  return new Uint32Array(Uint8Array.from(packed.subarray(at, at + count * numberBytes)).buffer);
}

const countsLength = 6;
const numberBytes = Uint32Array.BYTES_PER_ELEMENT;

/** The memory of a kept response besides its bytes, as `test/attack/kept-memory.alone.test.ts` measures it. */
export const responseOverheadBytes = 2_048;

export function countBytes(kept: KeptResponse): number {
  return packedLength(kept) + responseOverheadBytes;
}
