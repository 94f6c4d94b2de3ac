import { crc32 } from "node:zlib";
import type { Runtime } from "../runtime.ts";

/**
 * Generates a key value: `sk-gateway-`, 32 random bytes as 43 base62 digits, and the CRC32 of these digits as
 * 6 base62 digits. The checksum detects a typo without a lookup.
 */
export function generateKeyValue({ randomBytes }: Pick<Runtime, "randomBytes">): string {
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString("hex")}`), secretLength);
  return prefix + secret + checksum(secret);
}

export function isKeyValue(text: string): boolean {
  if (!keyValuePattern.test(text)) return false;
  const secret = text.slice(prefix.length, -checksumLength);
  return text.slice(-checksumLength) === checksum(secret);
}

export function maskKeyValue(lastFour: string): string {
  return `${prefix}…${lastFour}`;
}

export function lastFourOf(secret: string): string {
  return secret.slice(-4);
}

export function claimsToBeKeyValue(text: string): boolean {
  return text.startsWith(prefix);
}

const prefix = "sk-gateway-";
const secretLength = 43;
const checksumLength = 6;
const keyValuePattern = /^sk-gateway-[0-9A-Za-z]{49}$/;
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function checksum(secret: string): string {
  return toBase62(BigInt(crc32(secret)), checksumLength);
}

function toBase62(number: bigint, length: number): string {
  let text = "";
  for (let rest = number; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
