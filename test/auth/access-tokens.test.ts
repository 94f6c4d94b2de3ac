import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "ava";
import { AccessTokens } from "../../gateway/auth/access-tokens.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { hashPassword, PasswordHasher, verifyPassword } from "../../gateway/auth/password-hasher.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { recommendedStrength } from "../../gateway/runtime.ts";
import { actionsOf, can, requirePermission } from "../../gateway/auth/permissions.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { sourcePaths } from "../helpers/source-tree.ts";
import { administrator, createConsoleClient, startTestGateway } from "../helpers/test-gateway.ts";
import { addPerson } from "../helpers/call-procedure.ts";

const now = Date.parse("2026-06-01T12:00:00Z");
const nowSeconds = now / 1000;
const secret = "s".repeat(44);
const otherSecret = "o".repeat(44);
const tokens = new AccessTokens([secret], { now: () => now });

const claims = {
  sid: "ses_1",
  sub: "usr_1",
  iss: "model-gateway",
  aud: "model-gateway-console",
  iat: nowSeconds,
  exp: nowSeconds + 600,
};
const header = {
  alg: "HS256",
  typ: "at+jwt",
  kid: createHash("sha256").update(`key id of ${secret}`).digest("hex").slice(0, 16),
};

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Forges a token. Without `changes`, the token is valid. */
function forge(
  changes: { header?: object; claims?: object; secret?: string; hash?: "sha256" | "sha384" | "sha512" } = {},
): string {
  const content = `${encode({ ...header, ...changes.header })}.${encode({ ...claims, ...changes.claims })}`;
  const hmac = createHmac(changes.hash ?? "sha256", changes.secret ?? secret);
  return `${content}.${hmac.update(content).digest("base64url")}`;
}

test("a token carries the person and the session for ten minutes", async (t) => {
  const { accessToken, expiresAt } = await tokens.sign({ userId: "usr_1", sessionId: "ses_1" });
  t.is(expiresAt.getTime(), now + 600_000);
  t.deepEqual(await tokens.verify(accessToken), { userId: "usr_1", sessionId: "ses_1" });
  const [head = "", body = ""] = accessToken.split(".");
  t.deepEqual(JSON.parse(Buffer.from(head, "base64url").toString()), header);
  t.deepEqual(JSON.parse(Buffer.from(body, "base64url").toString()), claims);

  const at = (time: number) => new AccessTokens([secret], { now: () => time }).verify(accessToken);
  t.not(await at(now + 599_000), null);
  t.is(await at(now + 600_000), null);
});

test("a handmade token verifies, so each forgery fails for its own defect", async (t) => {
  t.deepEqual(await tokens.verify(forge()), { userId: "usr_1", sessionId: "ses_1" });
});

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const [rightHeader = "", rightClaims = "", rightSignature = ""] = forge().split(".");

function signedByRsa(): string {
  const content = `${encode({ ...header, alg: "RS256" })}.${rightClaims}`;
  return `${content}.${sign("sha256", Buffer.from(content), privateKey).toString("base64url")}`;
}

const forgeries: Record<string, string> = {
  "alg none, no signature": `${encode({ ...header, alg: "none" })}.${rightClaims}.`,
  "alg None": `${encode({ ...header, alg: "None" })}.${rightClaims}.`,
  "alg NONE with the right signature": `${encode({ ...header, alg: "NONE" })}.${rightClaims}.${rightSignature}`,
  "no alg": forge({ header: { alg: undefined } }),
  "alg null": forge({ header: { alg: null } }),
  "alg a list": forge({ header: { alg: ["HS256"] } }),
  "alg in lower case": forge({ header: { alg: "hs256" } }),
  HS384: forge({ header: { alg: "HS384" }, hash: "sha384" }),
  HS512: forge({ header: { alg: "HS512" }, hash: "sha512" }),
  "HS512 in the header alone": forge({ header: { alg: "HS512" } }),
  RS256: signedByRsa(),
  "RS256's public key as the secret": forge({
    secret: publicKey.export({ type: "spki", format: "pem" }).toString(),
  }),
  "another secret": forge({ secret: otherSecret }),
  "an empty secret": forge({ secret: "" }),
  "the key id as the secret": forge({ secret: header.kid }),
  "an unknown key id": forge({ header: { kid: "0000000000000000" } }),
  "no key id": forge({ header: { kid: undefined } }),
  "a key id of another type": forge({ header: { kid: 1 } }),
  "a key id from the prototype": forge({ header: { kid: "__proto__" } }),
  "a key of its own": forge({ header: { jwk: { kty: "oct", k: "AAAA" }, kid: undefined }, secret: "\0\0\0" }),
  "a key elsewhere": forge({ header: { jku: "https://example.com/keys" }, secret: otherSecret }),
  "an unknown critical header": forge({ header: { crit: ["x"], x: 1 } }),
  "typ JWT": forge({ header: { typ: "JWT" } }),
  "no typ": forge({ header: { typ: undefined } }),
  "another issuer": forge({ claims: { iss: "somebody-else" } }),
  "no issuer": forge({ claims: { iss: undefined } }),
  "another audience": forge({ claims: { aud: "model-gateway" } }),
  "no audience": forge({ claims: { aud: undefined } }),
  "no subject": forge({ claims: { sub: undefined } }),
  "a subject that is no text": forge({ claims: { sub: 1 } }),
  "no session": forge({ claims: { sid: undefined } }),
  "a session that is no text": forge({ claims: { sid: { id: "ses_1" } } }),
  "no expiry": forge({ claims: { exp: undefined } }),
  "an expiry that is text": forge({ claims: { exp: String(nowSeconds + 600) } }),
  expired: forge({ claims: { exp: nowSeconds - 1, iat: nowSeconds - 601 } }),
  "expires now": forge({ claims: { exp: nowSeconds, iat: nowSeconds - 600 } }),
  "no time of issue": forge({ claims: { iat: undefined } }),
  "issued in the future": forge({ claims: { iat: nowSeconds + 60, exp: nowSeconds + 660 } }),
  "issued long ago, with an expiry far ahead": forge({
    claims: { iat: nowSeconds - 3_600, exp: nowSeconds + 1e6 },
  }),
  "not valid before later": forge({ claims: { nbf: nowSeconds + 60 } }),
  "another's name under the signature": `${rightHeader}.${encode({ ...claims, sub: "usr_2" })}.${rightSignature}`,
  "another session under the signature": `${rightHeader}.${encode({ ...claims, sid: "ses_2" })}.${rightSignature}`,
  "a longer life under the signature": `${rightHeader}.${encode({ ...claims, exp: 9e9 })}.${rightSignature}`,
  "no signature": `${rightHeader}.${rightClaims}.`,
  "half a signature": `${rightHeader}.${rightClaims}.${rightSignature.slice(0, 20)}`,
  "two parts": `${rightHeader}.${rightClaims}`,
  "four parts": `${forge()}.AA`,
  "a list for claims": `${rightHeader}.${encode([claims])}.${rightSignature}`,
  "not base64": `${rightHeader}.*.${rightSignature}`,
  "a space before it": ` ${forge()}`,
  "no token": "",
  "a refresh token": "ses_1.c2VjcmV0",
};

for (const [what, token] of Object.entries(forgeries)) {
  test(`a forged token is rejected: ${what}`, async (t) => {
    t.is(await tokens.verify(token), null);
  });
}

test("there are at least forty forgeries", (t) => {
  t.true(Object.keys(forgeries).length >= 40);
});

test("a single changed character invalidates a token", async (t) => {
  const token = forge();
  for (let at = 0; at < token.length; at++) {
    // Decoders ignore two low bits of the signature's last character, so the test changes a higher bit.
    const changed = String.fromCharCode(token.charCodeAt(at) ^ 0x10);
    const altered = token.slice(0, at) + changed + token.slice(at + 1);
    if ((await tokens.verify(altered)) !== null) t.fail(`not noticed at ${at}`);
  }
  t.pass();
});

test("the newest secret signs, and older ones still verify", async (t) => {
  const old = new AccessTokens([secret], { now: () => now });
  const ring = new AccessTokens([otherSecret, secret], { now: () => now });
  const [before, after] = await Promise.all(
    [old, ring].map((each) => each.sign({ userId: "usr_1", sessionId: "ses_1" })),
  );
  t.not(await ring.verify(before?.accessToken ?? ""), null);
  t.not(await ring.verify(after?.accessToken ?? ""), null);
  t.is(await old.verify(after?.accessToken ?? ""), null);
  const without = new AccessTokens([otherSecret], { now: () => now });
  t.is(await without.verify(before?.accessToken ?? ""), null);
});

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

const [admin, member] = [{ role: "admin" }, { role: "member" }] as const;
const all = actionsOf(admin);

test("every procedure for signed-in people has a rule, and every rule is of use", (t) => {
  const guarded = procedures.map(({ path }) => path).filter((path) => !isPublic(path));
  const others = ["keys.ofOthers", "keys.overrule", "limits.ofOthers", "teams.ofOthers"];
  t.deepEqual(
    all.toSorted(),
    [...guarded, ...others, "budgets.ofGateway", "credentials.ofRequests"].toSorted(),
  );
});

test("the rules and the access table agree", (t) => {
  for (const action of all) {
    const { access = "administrators" } = procedureTable[action] ?? {};
    t.is(can(member, action), access === "members", action);
  }
});

test("an action without a rule is a fault, whoever acts", (t) => {
  for (const path of ["keys.absent", "auth.state", "toString", "__proto__"]) {
    t.throws(() => requirePermission(admin, path), { message: /has no rule/ });
  }
  t.throws(() => requirePermission(member, "users.list"), { code: "forbidden" });
});

test("the console learns what the user may do, and loses it with the role", async (t) => {
  const gateway = await startTestGateway(t);
  const { email, password } = administrator;
  const { user } = await createConsoleClient(gateway.url).auth.signIn.mutate({ email, password });
  t.deepEqual(user.actions, all);
  const person = await addPerson(gateway, "second@example.com", "admin");
  t.deepEqual((await person.console.auth.me.query()).actions, all);
  await gateway.admin.users.setRole.mutate({ id: person.id, role: "member" });
  t.deepEqual((await person.console.auth.me.query()).actions, actionsOf(member));
});

test("no file but the rules compares roles", (t) => {
  const comparing = ["gateway", "console/src"]
    .flatMap((folder) => sourcePaths(".", folder))
    .filter((file) => /\brole [!=]== "(admin|member)"/.test(readFileSync(file, "utf8")));
  t.deepEqual(comparing, []);
});

function isPublic(path: string): boolean {
  return procedureTable[path]?.access === "everybody";
}
