import { randomFillSync } from "node:crypto";

/**
 * Creates an ID such as `key_01kahs6zxm8qv2c9d4r7tn5wbe`: a prefix and a lower-case ULID
 * (https://github.com/ulid/spec). IDs with the same prefix sort by creation time.
 */
export function createId(
  prefix: IdPrefix,
  { now, randomBytes }: { now(): number; randomBytes(size: number): Buffer },
): string {
  const random = randomBytes(10);
  return `${prefix}_${formatTime(now())}${toBase32(random, 0)}${toBase32(random, 5)}`;
}

/** Five bytes in eight digits. */
function toBase32(bytes: Buffer, at: number): string {
  const high = bytes.readUInt16BE(at) * 16 + (bytes.readUInt8(at + 2) >> 4);
  const low = bytes.readUIntBE(at + 2, 3) & 0xfffff;
  return pairOf(high >> 10) + pairOf(high & 1023) + pairOf(low >> 10) + pairOf(low & 1023);
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
  for (let rest = time, digit = 0; digit < 10; digit += 2) {
    text = pairOf(rest % 1024) + text;
    rest = Math.floor(rest / 1024);
  }
  return text;
}

export type IdPrefix = "key" | "mdl" | "prv" | "crd" | "usr" | "tem" | "ses" | "req" | "aud" | "prc" | "spl";

/** Crockford's base 32: no i, l, o, u. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const pairs = Array.from(alphabet, (first) => Array.from(alphabet, (second) => first + second)).flat();

function pairOf(bits: number): string {
  return pairs[bits] ?? "";
}

/** Fetches random bytes in batches, because every request needs a few for its ID. */
export function pooledRandomBytes(): (size: number) => Buffer {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (pool.length - used < size) {
      pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(size, poolBytes)));
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}

const poolBytes = 8 * 1024;
