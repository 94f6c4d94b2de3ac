import test from "ava";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { chatBody } from "../helpers/post-chat.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

for (const kind of databaseKinds) {
  test(`${kind}: requests in flight finish while their key's budget is changed`, async (t) => {
    const gateway = await startTestGateway(t, { kind });
    const { key, value } = await gateway.admin.keys.create.mutate({
      name: "Laptop",
      models: ["demo/echo"],
      limits: { budgetsUsd: { day: 100 } },
    });
    const answers: string[] = [];
    for (let round = 0; round < 20; round++) {
      const requests = Array.from({ length: 20 }, () => beginRequest(gateway.url, value));
      // The first request triggers the key lookup. The others then wait for their bodies.
      answers.push((await requests[0]?.end()) ?? "");
      const renaming = gateway.admin.keys.rename.mutate({ id: key.id, name: `Laptop ${round}` });
      const rest: Promise<string>[] = [];
      for (const request of requests.slice(1)) {
        rest.push(request.end());
        // A round trip spreads the requests before, during and after the change.
        await (await fetch(`${gateway.url}/healthz`)).text();
      }
      answers.push(...(await Promise.all(rest)));
      await renaming;
    }
    t.deepEqual(
      answers.filter((answer) => answer !== "HTTP/1.1 200 OK"),
      [],
    );
  });
}

/** Sends a chat request except for the last byte. `end` sends that byte and resolves with the status line. */
function beginRequest(url: string, keyValue: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify(chatBody("demo/echo", "word"));
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    `host: ${hostname}`,
    `authorization: Bearer ${keyValue}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, -1)}`);
  const answer = text(socket);
  return {
    async end(): Promise<string> {
      socket.write(body.slice(-1));
      return (await answer).split("\r\n")[0] ?? "";
    },
  };
}
