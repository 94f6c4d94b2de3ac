import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import { GatewayError } from "../errors.ts";
import { GrowingBody } from "../wire/bytes.ts";
import type { HeldBody } from "./body-budget.ts";

type EncodedBody = {
  bytes: Buffer;
  /** One of `isDecodable`. */
  encoding: string;
  bytesMax: number;
  held: HeldBody;
};

export function isDecodable(encoding: string): boolean {
  return decoders.has(encoding);
}

/**
 * Decompresses a body that has arrived, so that a slow client occupies no decoder. `held` pays for the body, and
 * its holder for the decoder until the decoder's thread has ended, even if the client leaves earlier.
 */
export async function decodeBody(body: EncodedBody): Promise<Buffer> {
  const { bytes, encoding, held } = body;
  const createDecoder = decoders.get(encoding);
  const windowBytes = readWindowBytes(encoding, bytes);
  if (createDecoder === undefined || windowBytes === null) throw invalidCompression(encoding);
  if (windowBytes > windowBytesMax) throw windowTooLarge(encoding);
  const slot = held.joinDecoders();
  held.onRelease(() => slot.leave());
  const working = held.holdMore();
  const stop = () => {
    working.release();
    slot.leave();
  };
  try {
    await slot.ready;
    held.subtract(bytes.length);
    working.add(windowBytes + (bytesBesidesWindow.get(encoding) ?? 0) + bytes.length);
  } catch (error) {
    held.onRelease(null);
    stop();
    throw error;
  }
  const decoder = createDecoder();
  // A destroyed decoder keeps its memory until its thread has returned, which calls back.
  decoder.on("error", stop);
  decoder.write(bytes, stop);
  try {
    return await expand(body, decoder);
  } finally {
    held.onRelease(null);
  }
}

function expand({ bytes, encoding, bytesMax, held }: EncodedBody, decoder: Transform): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const lengthMax = Math.min(bytesMax, Math.max(expandedBytesFree, bytes.length * expansionFactorMax));
  const body = new GrowingBody(lengthMax, true);
  const fail = (error: unknown) => {
    decoder.destroy();
    body.clear();
    reject(error);
  };
  held.onRelease(() => fail(invalidCompression(encoding)));
  decoder.on("data", (chunk: Buffer) => {
    try {
      if (body.length + chunk.length > lengthMax) throw tooLarge(bytesMax);
      held.add(chunk.length);
      // A small chunk would keep the decoder's whole output buffer.
      body.append(chunk.length < chunkSize / 2 ? Buffer.from(chunk) : chunk);
    } catch (error) {
      fail(error);
    }
  });
  decoder.on("error", () => fail(invalidCompression(encoding)));
  decoder.on("end", () => {
    // Node ignores what follows the first frame, such as a frame with a larger window.
    const isWhole = "bytesWritten" in decoder && decoder.bytesWritten === bytes.length;
    if (!isWhole) return fail(invalidCompression(encoding));
    // A release from now on must not free what the caller receives.
    held.onRelease(null);
    resolve(body.bytes);
  });
  decoder.end();
  return promise;
}

const windowBytesMax = 4 * 1024 * 1024;
/** The most memory of each decoder besides its window, such as brotli's three groups of 256 tables. */
const bytesBesidesWindow: ReadonlyMap<string, number> = new Map([
  ["gzip", 128 * 1024],
  ["x-gzip", 128 * 1024],
  ["br", 3 * 1024 * 1024],
  ["zstd", 768 * 1024],
]);

/** Each chunk waits for a thread of the pool, so small chunks are slow. */
const chunkSize = 65_536;

const createGzipDecoder = () => createGunzip({ chunkSize });

const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGzipDecoder],
  ["x-gzip", createGzipDecoder],
  ["br", () => createBrotliDecompress({ chunkSize })],
  ["zstd", () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 22 } })],
]);

/** Real requests expand less than `expansionFactorMax` times. */
const expansionFactorMax = 200;
const expandedBytesFree = 1_048_576;

/** The bytes that a decoder of `body` allocates for earlier output. Null if the body's header is invalid. */
function readWindowBytes(encoding: string, body: Buffer): number | null {
  if (encoding === "br") return readBrotliWindow(body);
  return encoding === "zstd" ? readZstdWindow(body) : gzipWindowBytes;
}

const gzipWindowBytes = 32 * 1024;

/** RFC 7932, section 9.1. Windows beyond 16 MB need a flag of the decoder, which nothing sets. */
function readBrotliWindow(body: Buffer): number | null {
  const [first] = body;
  if (first === undefined) return null;
  const [low, middle] = [(first >> 1) & 7, (first >> 4) & 7];
  if ((first & 1) === 0) return 2 ** 16;
  if (low !== 0) return 2 ** (17 + low);
  if (middle === 1) return null;
  return 2 ** (middle === 0 ? 17 : 8 + middle);
}

/** RFC 8878, section 3.1.1.1. Skippable frames are invalid here. */
function readZstdWindow(body: Buffer): number | null {
  const descriptor = body[4];
  if (descriptor === undefined || body.readUInt32LE(0) !== zstdMagic) return null;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if (!isSingleSegment) {
    const window = body[5];
    return window === undefined ? null : 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8);
  }
  // The window of a single segment is its content.
  const start = 5 + ((1 << (descriptor & 3)) >> 1);
  const size = 2 ** (descriptor >> 6);
  if (body.length < start + size) return null;
  if (size === 8) return Number(body.readBigUInt64LE(start));
  return body.readUIntLE(start, size) + (size === 2 ? 256 : 0);
}

const zstdMagic = 0xfd2fb528;

export function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request body is larger than ${bytesMax} bytes. Send a smaller request.`,
  );
}

function windowTooLarge(encoding: string): GatewayError {
  const message = `The ${encoding} window of the body exceeds 4 MB. Use a smaller window, or check its Content-Encoding.`;
  return new GatewayError("invalid_body", message);
}

function invalidCompression(encoding: string): GatewayError {
  const message = `The request body is not one valid ${encoding} stream. Check its Content-Encoding.`;
  return new GatewayError("invalid_body", message);
}
