import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import test from "ava";
import { AccessTokens } from "../../gateway/auth/access-tokens.ts";

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
