import { randomBytes } from "node:crypto";
import test from "ava";
import { PasswordHasher, hashPassword } from "../../gateway/auth/password-hasher.ts";
import { recommendedStrength } from "../../gateway/runtime.ts";
import { GatewayError } from "../../gateway/errors.ts";

const runtime = { randomBytes, hashStrength: recommendedStrength };

// The weakest argon2id hash, of another password.
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
