import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import test from "ava";
import fc from "fast-check";
import {
  claimsToBeKeyValue,
  generateKeyValue,
  isKeyValue,
  lastFourOf,
  maskKeyValue,
} from "../../gateway/keys/key-value.ts";
import { hashKeyValue } from "../../gateway/keys/authenticate-key.ts";
import { anyCharacter } from "../helpers/any-character.ts";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Decodes base62 without the gateway's code. */
function fromBase62(text: string): bigint {
  return [...text].reduce((number, digit) => number * 62n + BigInt(digits.indexOf(digit)), 0n);
}

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const keyValue = bytes32.map((bytes) => generateKeyValue({ randomBytes: () => bytes }));

test("a key value is the prefix, 32 random bytes and their CRC32 in base62", (t) => {
  fc.assert(
    fc.property(bytes32, (bytes) => {
      const value = generateKeyValue({ randomBytes: () => bytes });
      const [, secret = "", checksum = ""] =
        /^sk-gateway-([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/.exec(value) ?? [];
      return (
        fromBase62(secret) === BigInt(`0x${bytes.toString("hex")}`) &&
        fromBase62(checksum) === BigInt(crc32(secret)) &&
        isKeyValue(value)
      );
    }),
    { examples: [[Buffer.alloc(32)], [Buffer.alloc(32, 255)]] },
  );
  t.pass();
});

test("a key value uses 32 random bytes", (t) => {
  const sizes: number[] = [];
  generateKeyValue({
    randomBytes(size) {
      sizes.push(size);
      return randomBytes(size);
    },
  });
  t.deepEqual(sizes, [32]);
});

test("a single wrong character is detected without a lookup", (t) => {
  const value = generateKeyValue({ randomBytes });
  for (let at = 0; at < value.length; at++) {
    for (const character of digits + "-_ é\0") {
      if (character === value[at]) continue;
      const changed = value.slice(0, at) + character + value.slice(at + 1);
      if (isKeyValue(changed)) t.fail(`not noticed: ${character} at ${at}`);
    }
  }
  t.pass();
});

test("swapped, missing and extra characters are detected", (t) => {
  fc.assert(
    fc.property(keyValue, fc.nat(59), fc.constantFrom(...digits), (value, at, character) => {
      const [left, right] = [value.charAt(at), value.charAt(at + 1)];
      const swapped = value.slice(0, at) + right + left + value.slice(at + 2);
      const shorter = value.slice(0, at) + value.slice(at + 1);
      const longer = value.slice(0, at) + character + value.slice(at);
      return (swapped === value || !isKeyValue(swapped)) && !isKeyValue(shorter) && !isKeyValue(longer);
    }),
  );
  t.pass();
});

test("any other text is an invalid key and throws no error", (t) => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => !isKeyValue(text)));
  const value = generateKeyValue({ randomBytes });
  for (const text of [
    "",
    "sk-gateway-",
    `${value}\n`,
    ` ${value}`,
    value.toUpperCase(),
    `${value}${value}`,
  ]) {
    t.false(isKeyValue(text), JSON.stringify(text));
  }
});

test("the stored form of a key value is its SHA-256", (t) => {
  const value = generateKeyValue({ randomBytes });
  t.is(hashKeyValue(value), createHash("sha256").update(value).digest("hex"));
});

test("the displayed part of a key value is its last four characters", (t) => {
  const value = generateKeyValue({ randomBytes });
  t.is(maskKeyValue(lastFourOf(value)), `sk-gateway-…${value.slice(-4)}`);
});

test("an invalid key with our prefix is recognized, and a foreign key is not", (t) => {
  t.true(claimsToBeKeyValue("sk-gateway-wrong"));
  t.false(claimsToBeKeyValue("sk-ant-api03-something"));
});

test("ten thousand key values are all different", (t) => {
  const values = Array.from({ length: 10_000 }, () => generateKeyValue({ randomBytes }));
  t.is(new Set(values).size, 10_000);
});
