import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import test from "ava";
import fc from "fast-check";
import { readOrCreateKeyFile } from "../../gateway/credentials/open-secret-box.ts";
import { keyIdOf, sealingKeyIdOf, SecretBox } from "../../gateway/credentials/secret-box.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

const box = new SecretBox(randomBytes(32), { randomBytes });
const field = { kind: "credential", id: "crd_1", field: "secret" };
const secret = "sk-upstream-0123456789-abcdefghij";

/** Changes one part of an envelope. The index is 2 for the IV, 3 for the ciphertext and 4 for the tag. */
function withPart(envelope: string, index: number, change: (bytes: Buffer) => Buffer): string {
  const parts = envelope.split(".");
  parts[index] = change(Buffer.from(parts[index] ?? "", "base64url")).toString("base64url");
  return parts.join(".");
}

test("any sealed text opens again", (t) => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 5_000 }), (text) => {
      return box.open(box.seal(text, field), field) === text;
    }),
    { examples: [[""], ["é🦜\0"]] },
  );
  t.pass();
});

test("an envelope contains its version, key id, a 96-bit IV and a 128-bit tag", (t) => {
  const [version, keyId, iv = "", ciphertext = "", tag = "", ...more] = box.seal(secret, field).split(".");
  t.is(version, "gw1");
  t.regex(keyId ?? "", /^[0-9a-f]{16}$/);
  t.is(Buffer.from(iv, "base64url").length, 12);
  t.is(Buffer.from(ciphertext, "base64url").length, secret.length);
  t.is(Buffer.from(tag, "base64url").length, 16);
  t.deepEqual(more, []);
});

test("the same secret is sealed differently each time and never shown", (t) => {
  const envelopes = Array.from({ length: 1_000 }, () => box.seal(secret, field));
  t.is(new Set(envelopes.map((envelope) => envelope.split(".")[2])).size, 1_000);
  t.deepEqual(findLeaks(envelopes.join(), { secret }), []);
});

test("an envelope opens only in its own context", (t) => {
  const envelope = box.seal(secret, field);
  const elsewhere = [
    { ...field, id: "crd_2" },
    { ...field, kind: "provider" },
    { ...field, field: "other" },
    { kind: "crd_1", id: "credential", field: "secret" },
    { kind: 'credential","crd_1', id: "secret", field: "" },
    { kind: "credentialcrd_1", id: "", field: "secret" },
  ];
  for (const place of elsewhere) t.throws(() => box.open(envelope, place), undefined, JSON.stringify(place));
});

test("a single flipped bit is detected", (t) => {
  const envelope = box.seal(secret, field);
  for (const index of [2, 3, 4]) {
    const { length } = Buffer.from(envelope.split(".")[index] ?? "", "base64url");
    for (let bit = 0; bit < length * 8; bit++) {
      const changed = withPart(envelope, index, (bytes) => {
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        return bytes;
      });
      t.throws(() => box.open(changed, field), undefined, `part ${index}, bit ${bit}`);
    }
  }
});

test("a shortened or extended part is rejected, including the tag", (t) => {
  const envelope = box.seal(secret, field);
  for (const index of [2, 3, 4]) {
    const { length } = Buffer.from(envelope.split(".")[index] ?? "", "base64url");
    for (let size = 0; size < length; size++) {
      const changed = withPart(envelope, index, (bytes) => bytes.subarray(0, size));
      t.throws(() => box.open(changed, field), undefined, `part ${index} of ${size} bytes`);
    }
    const longer = withPart(envelope, index, (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]));
    t.throws(() => box.open(longer, field));
  }
});

test("an envelope of another key is rejected, with key ids and no secret in the error", (t) => {
  const other = new SecretBox(randomBytes(32), { randomBytes });
  const envelope = box.seal(secret, field);
  const error = t.throws(() => other.open(envelope, field));
  t.true(error?.message.includes(envelope.split(".")[1] ?? "no key id"));
  t.false(error?.message.includes(secret));

  const keyId = other.seal("", field).split(".")[1] ?? "";
  const parts = envelope.split(".");
  t.throws(() => other.open(["gw1", keyId, ...parts.slice(2)].join("."), field));
});

test("one key seals, and previous ones still open", (t) => {
  const [first, second, opener] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const ring = new SecretBox(first, { randomBytes });
  const old = ring.seal(secret, field);
  ring.sealWith(second);
  ring.openWith(opener);

  t.is(sealingKeyIdOf(ring.seal(secret, field)), keyIdOf(second));
  t.is(ring.open(old, field), secret);
  t.is(ring.open(new SecretBox(opener, { randomBytes }).seal(secret, field), field), secret);
});

test("a locked box opens what it can, seals nothing, and reports it as temporary", (t) => {
  const key = randomBytes(32);
  const locked = new SecretBox(null, { randomBytes });
  t.throws(() => locked.seal(secret, field), { instanceOf: GatewayError, code: "service_unavailable" });
  locked.openWith(key);
  t.is(locked.open(new SecretBox(key, { randomBytes }).seal(secret, field), field), secret);
  t.throws(() => locked.seal(secret, field), { instanceOf: GatewayError });
});

test("an unknown format is rejected", (t) => {
  const envelope = box.seal(secret, field);
  for (const text of [
    "",
    secret,
    envelope.replace("gw1", "gw2"),
    envelope.replace("gw1", "GW1"),
    `${envelope}.AA`,
    envelope.split(".").slice(0, 4).join("."),
    ".".repeat(4),
  ]) {
    t.throws(() => box.open(text, field), { message: /form/ }, text);
  }
});

test("secrets sealed by the first version still open", (t) => {
  const key = Buffer.from("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "hex");
  const old = "gw1.4773d12e2371bb93.7d-q2r-VQmPRiVhG.IK9CcrOxvDmBpVApzw.7zWDLjCIReVkW9SLB_MRIQ";
  t.is(new SecretBox(key, { randomBytes }).open(old, field), "an old secret");
});

async function modeOf(file: string): Promise<string> {
  return ((await stat(file)).mode & 0o777).toString(8);
}

test("a key file is created on first use, readable by its owner only, and reused", async (t) => {
  const folder = path.join(await createTestFolder(t), "data");
  const file = path.join(folder, "master.key");

  const key = readOrCreateKeyFile(file, { randomBytes });

  t.is(key.length, 32);
  t.is(await modeOf(file), "600");
  t.is(await modeOf(folder), "700");
  t.is((await readFile(file, "utf8")).trim(), key.toString("base64"));
  t.deepEqual(readOrCreateKeyFile(file, { randomBytes: () => t.fail() as never }), key);
  t.deepEqual(await readdir(folder), ["master.key"], "no draft is left behind");
});

test("processes that start together share one key", async (t) => {
  const folder = await createTestFolder(t);
  const script = `
    import { readOrCreateKeyFile } from ${JSON.stringify(new URL("../../gateway/credentials/open-secret-box.ts", import.meta.url).href)};
    import { randomBytes } from "node:crypto";
    const keys = [];
    for (let index = 0; index < 20; index++)
      keys.push(readOrCreateKeyFile(${JSON.stringify(folder)} + "/" + index + ".key", { randomBytes }).toString("base64"));
    console.log(keys.join());`;
  const run = () => promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", script]);

  const outputs = await Promise.all(Array.from({ length: 4 }, run));

  t.is(new Set(outputs.map(({ stdout }) => stdout)).size, 1);
  t.is((await readdir(folder)).length, 20);
});

test("a broken key file is reported by name and left unchanged", async (t) => {
  const folder = await createTestFolder(t);
  const file = path.join(folder, "master.key");
  for (const broken of [
    "",
    "too short",
    randomBytes(31).toString("base64"),
    randomBytes(64).toString("hex"),
  ]) {
    await writeFile(file, broken);
    const error = t.throws(() => readOrCreateKeyFile(file, { randomBytes }));
    t.true(error?.message.includes(file));
    t.regex(error?.message ?? "", /32 bytes in base64.*backup/);
    t.true(broken === "" || !error?.message.includes(broken));
    t.is(await readFile(file, "utf8"), broken);
  }
});

test("an unreadable key file is not replaced", async (t) => {
  const folder = await createTestFolder(t);
  const file = path.join(folder, "master.key");
  // Root ignores permissions but cannot read a folder as a file.
  readOrCreateKeyFile(path.join(file, "inner.key"), { randomBytes });
  await chmod(file, 0o700);
  t.throws(() => readOrCreateKeyFile(file, { randomBytes }), { code: "EISDIR" });
});
