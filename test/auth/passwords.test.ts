import { randomBytes } from "node:crypto";
import test from "ava";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { hashPassword, PasswordHasher, verifyPassword } from "../../gateway/auth/password-hasher.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { recommendedStrength } from "../../gateway/runtime.ts";

const runtime = { randomBytes, hashStrength: recommendedStrength };

test("a password is stored as an argon2id PHC string with its own salt", async (t) => {
  const [one, two] = [
    await hashPassword("correct horse", runtime),
    await hashPassword("correct horse", runtime),
  ];
  t.regex(one, /^\$argon2id\$v=19\$m=47104,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  t.not(one, two);
  t.not(one.split("$")[4], two.split("$")[4]);
});

test("the exact password verifies, and similar ones fail", async (t) => {
  const hash = await hashPassword("correct horse é", runtime);
  t.true(await verifyPassword("correct horse é", hash, runtime));
  // Keyboards differ in whether they send composed or decomposed characters.
  t.true(await verifyPassword("correct horse e\u0301", hash, runtime));
  for (const wrong of ["", "correct horse", "Correct horse é", "correct horse é ", hash]) {
    t.false(await verifyPassword(wrong, hash, runtime), wrong);
  }
});

test("a hash of another strength still verifies", async (t) => {
  const { argon2Sync } = await import("node:crypto");
  const nonce = Buffer.from("somesalt01234567");
  const used = { memory: 4096, passes: 3, parallelism: 1, tagLength: 32 };
  const tag = argon2Sync("argon2id", { message: "correct horse", nonce, ...used });
  const encode = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  const phc = `$argon2id$v=19$m=4096,t=3,p=1$${encode(nonce)}$${encode(tag)}`;
  t.true(await verifyPassword("correct horse", phc, runtime));
  t.false(await verifyPassword("wrong horse", phc, runtime));
});

test.serial("without a hash no password verifies, and the check takes as long", async (t) => {
  const hash = await hashPassword("correct horse", runtime);
  const time = async (against: string | null) => {
    const before = process.cpuUsage();
    t.false(await verifyPassword("wrong horse", against, runtime));
    return cpuMsSince(before);
  };
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const [known, unknown]: [number[], number[]] = [[], []];
  for (let round = 0; round < 7; round++) {
    known.push(await time(hash));
    unknown.push(await time(null));
  }
  const ratio = median(unknown) / median(known);
  // Without a hash computation, the ratio would be about 0.001.
  t.true(ratio > 0.3 && ratio < 3, `ratio ${ratio}`);
  t.false(await verifyPassword("", null, runtime));
});

test("a hash of another format never verifies", async (t) => {
  for (const hash of [
    "",
    "none",
    "$2b$12$abcdefghijklmnopqrstuv",
    "$argon2id$v=19$m=47104,t=1,p=1$short$short",
  ]) {
    t.false(await verifyPassword("correct horse", hash, runtime), hash);
  }
});

// The weakest argon2id parameters make verification fast. The hash matches no password of these tests.
const weakHash = `$argon2id$v=19$m=8,t=1,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

test("passwords are hashed one at a time, in order of arrival", async (t) => {
  const hasher = new PasswordHasher(runtime);
  const strongHash = await hashPassword("correct horse", runtime);
  const ended: string[] = [];
  await Promise.all([
    hasher.verify("correct horse", strongHash).then((isRight) => ended.push(`strong ${isRight}`)),
    hasher.verify("correct horse", weakHash).then((isRight) => ended.push(`weak ${isRight}`)),
    hasher.hash("correct horse").then(() => ended.push("hash")),
    hasher.verify("correct horse", weakHash).then((isRight) => ended.push(`weak ${isRight}`)),
  ]);
  t.deepEqual(ended, ["strong true", "weak false", "hash", "weak false"]);
});

test("a hundred passwords wait, and further ones are refused", async (t) => {
  const hasher = new PasswordHasher(runtime);
  for (let round = 0; round < 2; round++) {
    const attempts = await Promise.allSettled(
      Array.from({ length: 111 }, () => hasher.verify("correct horse", weakHash)),
    );
    const refused = attempts.filter(({ status }) => status === "rejected");
    t.is(refused.length, 10);
    for (const { reason } of refused as PromiseRejectedResult[]) {
      t.true(reason instanceof GatewayError);
      t.like(reason, { code: "service_unavailable", retryAfterSeconds: 3 });
    }
  }
});
