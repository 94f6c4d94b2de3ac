/**
 * Returns the bytes that a decoder of `body` allocates for earlier output, from the body's header. Null if the
 * header is invalid.
 */
export function readWindowBytes(encoding: string, body: Buffer): number | null {
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
