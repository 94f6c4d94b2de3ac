import { randomFillSync } from "node:crypto";

/**
 * Creates an ID such as `key_01kahs6zxm8qv2c9d4r7tn5wbe`: a prefix and a lower-case ULID
 * (https://github.com/ulid/spec). IDs with the same prefix sort by creation time.
 */
export function createId(
  prefix: IdPrefix,
  { now, randomBytes }: { now(): number; randomBytes(size: number): Buffer },
): string {
  let id = formatTime(now());
  const random = randomBytes(10);
  for (let bit = 0; bit < 80; bit += 5) {
    const at = bit >> 3;
    const two = (random.readUInt8(at) << 8) | (at < 9 ? random.readUInt8(at + 1) : 0);
    id += alphabet.charAt((two >> (11 - (bit & 7))) & 31);
  }
  return `${prefix}_${id}`;
}

/** Checks only the format. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1));
}

/** The creation time in milliseconds since 1970. */
export function timeOfId(id: string): number {
  let time = 0;
  const from = id.indexOf("_") + 1;
  for (let at = from; at < from + 10; at++) time = time * 32 + alphabet.indexOf(id.charAt(at));
  return time;
}

/** An ID that sorts before every ID created at `time` or later, and after every earlier one. */
export function firstIdAt(prefix: IdPrefix, time: number): string {
  return `${prefix}_${formatTime(Math.min(Math.max(Math.ceil(time), 0), 32 ** 10 - 1))}`;
}

function formatTime(time: number): string {
  let text = "";
  for (let rest = time, digit = 0; digit < 10; digit++) {
    text = alphabet.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

export type IdPrefix = "key" | "mdl" | "prv" | "crd" | "usr" | "ses" | "req" | "aud" | "prc" | "spl";

/** Crockford's base 32: no i, l, o, u. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Fetches random bytes in batches, because every request needs a few for its ID. */
export function pooledRandomBytes(): (size: number) => Buffer {
  let pool = Buffer.alloc(0);
  return (size) => {
    if (pool.length < size) pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(size, poolBytes)));
    const bytes = pool.subarray(0, size);
    pool = pool.subarray(size);
    return bytes;
  };
}

const poolBytes = 8 * 1024;
