import { randomBytes } from "node:crypto";
import test from "ava";
import { createId, firstIdAt, isId, timeOfId } from "../gateway/ids.ts";

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";

/** Digits of base 32 with Crockford's alphabet instead of Node's. */
function toCrockford(number: bigint, length: number): string {
  const digits = number.toString(32).padStart(length, "0");
  return Array.from(digits, (digit) => crockford.charAt(Number.parseInt(digit, 32))).join("");
}

test("an ID has the time in 48 bits and all 80 random bits", (t) => {
  const times = [0, 1, 1_764_257_662_000, 2 ** 40 - 1, 2 ** 48 - 1];
  const randoms = [
    Buffer.alloc(10),
    Buffer.alloc(10, 0xff),
    ...Array.from({ length: 64 }, () => randomBytes(10)),
  ];
  for (const time of times) {
    for (const random of randoms) {
      const id = createId("req", { now: () => time, randomBytes: () => random });
      const digits = toCrockford(BigInt(`0x${random.toString("hex")}`), 16);
      t.is(id, `req_${toCrockford(BigInt(time), 10)}${digits}`);
      t.true(isId("req", id));
      t.is(timeOfId(id), time);
      t.true(firstIdAt("req", time) <= id && (time === 0 || firstIdAt("req", time - 1) < id));
    }
  }
});
