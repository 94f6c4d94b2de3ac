import { createServer, type IncomingMessage, request as send } from "node:http";
import test from "ava";
import { BodyBudget } from "../../gateway/http/body-budget.ts";
import { joinEarlyChunks, readBody } from "../../gateway/http/read-body.ts";
import { eventually } from "../helpers/eventually.ts";
import { listen } from "../helpers/listen.ts";

const megabyte = 1024 * 1024;

for (const [name, pieces, earlyBytes] of [
  ["one-byte chunks", Array.from({ length: 2_000 }, () => Buffer.from("a")), 2_000],
  ["more than is joined", Array.from({ length: 48 }, () => Buffer.alloc(65_536, "b")), megabyte],
] as const) {
  test(`a body of ${name} that arrives before it is read is joined and arrives whole`, async (t) => {
    const budget = new BodyBudget(256 * megabyte);
    const held = budget.hold("key_1");
    const received = Promise.withResolvers<{ body: Buffer; buffered: number }>();
    const server = createServer((request: IncomingMessage, response) => {
      joinEarlyChunks(request, response, budget);
      const read = async () => {
        await eventually(() => budget.bytes >= earlyBytes);
        const buffered = request.readableLength;
        const body = await readBody(request, 8 * megabyte, held);
        response.end();
        return { body, buffered };
      };
      read().then(received.resolve, received.reject);
    });
    const port = await listen(t, server);
    const client = send({ port, method: "POST", agent: false });
    client.on("response", (response) => response.resume());
    for (const piece of pieces) client.write(piece);
    client.end();
    const { body, buffered } = await received.promise;
    t.deepEqual(body, Buffer.concat(pieces));
    t.true(buffered <= 2 * 65_536, `${buffered} bytes wait in chunks`);
    t.is(budget.bytes, body.length);
    held.release();
    await eventually(() => budget.bytes === 0);
  });
}
