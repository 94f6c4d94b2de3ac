import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, request as send } from "node:http";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import test, { type ExecutionContext } from "ava";
import { GatewayError } from "../../gateway/errors.ts";
import { decodeBody } from "../../gateway/http/decode-body.ts";
import { BodyBudget } from "../../gateway/http/body-budget.ts";
import { ClientGoneError, readBody } from "../../gateway/http/read-body.ts";
import { eventually } from "../helpers/eventually.ts";
import { listen } from "../helpers/listen.ts";

const bytesMax = 200_000;

async function readPieces(
  t: ExecutionContext,
  pieces: readonly Buffer[],
  { headers = {}, budgetBytes = 16 * 1024 * 1024, leaves = false }: ReadOptions = {},
) {
  const budget = new BodyBudget(budgetBytes);
  const held = budget.hold("key_1");
  const { promise, resolve } = Promise.withResolvers<{ read: Buffer | Error; request: IncomingMessage }>();
  const server = createServer((request, response) => {
    void readBody(request, bytesMax, held)
      .catch((error: Error) => error)
      .then((read) => {
        resolve({ read, request });
        response.end();
      });
  });
  const port = await listen(t, server);
  const client = send({ port, method: "POST", headers, agent: false });
  client.on("error", () => {});
  client.on("response", (response) => response.resume());
  for (const piece of pieces) await new Promise<void>((written) => client.write(piece, () => written()));
  if (leaves) client.destroy();
  else client.end();
  const { read } = await promise;
  client.destroy();
  return { read, budget, held };
}

type ReadOptions = { headers?: Record<string, string | number>; budgetBytes?: number; leaves?: boolean };

for (const [name, sizes] of Object.entries({
  "no byte": [],
  "one piece": [1_000],
  "one-byte pieces": Array.from({ length: 300 }, () => 1),
  "pieces that grow": [1, 10, 100, 1_000, 10_000, 100_000],
  "as many bytes as allowed": [bytesMax - 1, 1],
})) {
  test(`a body of ${name} arrives as sent`, async (t) => {
    const pieces = sizes.map((size, index) => Buffer.alloc(size, index));
    const { read, budget, held } = await readPieces(t, pieces);
    t.deepEqual(read, Buffer.concat(pieces));
    t.is(budget.bytes, Buffer.concat(pieces).length);
    held.release();
    held.release();
    t.is(budget.bytes, 0);
  });
}

const fastBrotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const compressions = { gzip: gzipSync, "x-gzip": gzipSync, br: fastBrotli, zstd: zstdCompressSync };

for (const [encoding, compress] of Object.entries(compressions)) {
  const headers = { "content-encoding": encoding };

  test(`a ${encoding} body is decompressed`, async (t) => {
    const text = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 97));
    const bytes = compress(text);
    const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 20), bytes.subarray(20)];
    const { read, budget, held } = await readPieces(t, pieces, { headers });
    t.deepEqual(read, text);
    t.is(budget.bytes, text.length);
    held.release();
    t.is(budget.bytes, 0);
  });

  test(`a ${encoding} body that is truncated or garbage is refused`, async (t) => {
    const bytes = compress(Buffer.alloc(1_000, "abc"));
    for (const pieces of [[bytes.subarray(0, -6)], [Buffer.from("no compression at all")]]) {
      const { read, budget } = await readPieces(t, pieces, { headers });
      t.true(read instanceof GatewayError && read.code === "invalid_body", String(read));
      t.is(budget.bytes, 0);
    }
  });

  test(`a ${encoding} bomb is refused when it has expanded to the limit`, async (t) => {
    const bytes = compress(Buffer.alloc(50_000_000));
    const { read, budget } = await readPieces(t, [bytes], { headers, budgetBytes: 16 * 1024 * 1024 });
    t.true(read instanceof GatewayError && read.code === "request_too_large", String(read));
    t.is(budget.bytes, 0);
  });
}

const refusals: Record<string, [pieces: Buffer[], options: ReadOptions, code: string]> = {
  "a body that is too large": [[Buffer.alloc(bytesMax), Buffer.alloc(1)], {}, "request_too_large"],
  "a body declared too large": [[], { headers: { "content-length": bytesMax + 1 } }, "request_too_large"],
  "a body in an unknown encoding": [
    [],
    { headers: { "content-encoding": "deflate" } },
    "unsupported_encoding",
  ],
  "a body beyond the budget": [[Buffer.alloc(6_000)], { budgetBytes: 10_000 }, "service_unavailable"],
};

for (const [name, [pieces, options, code]] of Object.entries(refusals)) {
  test(`${name} is refused and holds no budget`, async (t) => {
    const { read, budget } = await readPieces(t, pieces, options);
    t.true(read instanceof GatewayError && read.code === code, String(read));
    t.is(budget.bytes, 0);
  });
}

test("a disconnecting client holds no budget", async (t) => {
  const { read, budget } = await readPieces(t, [Buffer.alloc(10)], { leaves: true });
  t.true(read instanceof ClientGoneError);
  t.is(budget.bytes, 0);
});

test("one key may hold half of the budget, and the others share the rest", (t) => {
  const budget = new BodyBudget(100);
  const [own, foreign] = [budget.hold("key_1"), budget.hold("key_2")];
  own.add(50);
  t.throws(() => budget.hold("key_1").add(1), { instanceOf: GatewayError });
  foreign.add(50);
  t.throws(() => budget.hold("key_3").add(1), { instanceOf: GatewayError });
  own.release();
  t.notThrows(() => budget.hold("key_3").add(50));
});

test("a body whose request has ended reads no more bytes", (t) => {
  const budget = new BodyBudget(100);
  const held = budget.hold("key_1");
  held.add(10);
  held.release();
  t.throws(() => held.add(1), { instanceOf: GatewayError });
  t.is(budget.bytes, 0);
});

for (const [encoding, compress] of Object.entries(compressions)) {
  test(`a client that leaves while its ${encoding} body is decompressed frees all it held`, async (t) => {
    const budget = new BodyBudget(1024 * 1024 * 1024);
    const held = budget.hold("key_1");
    const bytes = compress(randomBytes(2_000_000));
    held.add(bytes.length);
    const { add } = budget;
    const sizes: number[] = [];
    budget.add = (...parts) => {
      add.apply(budget, parts);
      sizes.push(budget.bytes);
      // The second piece of output arrives.
      if (sizes.length === 3) setImmediate(() => held.release());
    };
    const decoding = decodeBody({ bytes, encoding, bytesMax: 8_000_000, held });
    await t.throwsAsync(decoding);
    t.true(held.isReleased);
    t.true(sizes.length < 30, `${sizes.length} pieces`);
    await eventually(() => budget.bytes === 0 && budget.decoders.atWork === 0);
  });

  test(`a ${encoding} decoder at work counts until its thread returns`, async (t) => {
    const budget = new BodyBudget(1024 * 1024 * 1024);
    const held = budget.hold("key_1");
    const bytes = compress(randomBytes(500_000));
    held.add(bytes.length);
    const decoding = decodeBody({ bytes, encoding, bytesMax: 8_000_000, held });
    await Promise.resolve();
    held.release();
    t.is(budget.decoders.atWork, 1);
    t.true(budget.bytes > bytes.length);
    await t.throwsAsync(decoding);
    await eventually(() => budget.bytes === 0 && budget.decoders.atWork === 0);
  });
}
