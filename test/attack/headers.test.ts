import test from "ava";
import { sendRaw } from "../helpers/send-raw.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

const gateway = shareGateway();

for (const path of ["/v1/models", "/trpc/auth.state", "/graphql", "/healthz", "/openapi.json", "/"]) {
  test(`two Host headers at ${path} receive 400`, async (t) => {
    const answer = await sendRaw(gateway().url, `GET ${path} HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n`);
    t.is(answer.status, 400, answer.text);
    t.like(JSON.parse(answer.text), { error: { type: "invalid_request_error", param: null, code: null } });
  });

  test(`the response at ${path} forbids content sniffing`, async (t) => {
    const answer = await fetch(gateway().url + path);
    t.is(answer.headers.get("x-content-type-options"), "nosniff", `${answer.status}`);
  });
}

test("responses to malformed requests forbid content sniffing", async (t) => {
  const answer = await sendRaw(gateway().url, "NONSENSE\r\n\r\n");
  t.is(answer.headers.get("x-content-type-options"), "nosniff", answer.text);
});
