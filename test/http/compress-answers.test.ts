import test from "ava";
import { administrator, createKey, startTestGateway } from "../helpers/test-gateway.ts";
import { chatBody, postTo } from "../helpers/post-chat.ts";

const headers = { "accept-encoding": "br, gzip", "content-type": "application/json" };

test("answers of the console API are compressed, and are the same without compression", async (t) => {
  const gateway = await startTestGateway(t);
  const { email, password } = administrator;
  const signIn = { method: "POST", headers, body: JSON.stringify({ email, password }) };
  const { accessToken } = (await (await fetch(`${gateway.url}/trpc/auth.signIn`, signIn)).json()).result.data;
  const authorization = `Bearer ${accessToken}`;
  const query = "{ __schema { types { name description fields { name description } } } }";
  for (const [path, options] of [
    ["/openapi.json", {}],
    ["/trpc/audit.list,models.list,audit.list,audit.actions?batch=1", { headers: { authorization } }],
    ["/graphql", { method: "POST", headers: { authorization }, body: JSON.stringify({ query }) }],
  ] as const) {
    const send = (encoding: string) =>
      fetch(gateway.url + path, {
        ...options,
        headers: { ...headers, ...("headers" in options && options.headers), "accept-encoding": encoding },
      });
    const [brotli, gzip, plain] = [await send("br, gzip"), await send("gzip"), await send("identity")];
    t.is(brotli.headers.get("content-encoding"), "br", path);
    t.is(gzip.headers.get("content-encoding"), "gzip", path);
    t.is(plain.headers.get("content-encoding"), null, path);
    t.regex(brotli.headers.get("vary") ?? "", /accept-encoding/i);
    const text = await plain.text();
    t.is(await brotli.text(), text, path);
    t.is(await gzip.text(), text, path);
  }
});

test("answers with tokens and model requests are never compressed", async (t) => {
  const gateway = await startTestGateway(t);
  const { email, password } = administrator;
  const body = JSON.stringify({ 0: { email, password } });
  const options = { method: "POST", headers, body };
  const { value } = await createKey(gateway);
  const chat = { ...chatBody("demo/echo", "word ".repeat(1_000)), stream: true };
  const tokens = await fetch(`${gateway.url}/trpc/auth.signIn?batch=1`, options);
  t.is(tokens.headers.get("content-encoding"), null);
  t.regex(await tokens.text(), /accessToken/);
  const authorization = `Bearer ${value}`;
  const stream = await postTo(gateway, "/v1/chat/completions", { ...headers, authorization }, chat);
  t.is(stream.headers.get("content-encoding"), null);
  t.true(stream.text.length > 1_024);
});
