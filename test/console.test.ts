import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { chatBody, postTo } from "./helpers/post-chat.ts";
import { shareGateway } from "./helpers/shared-by-file.ts";
import { administrator, createKey } from "./helpers/test-gateway.ts";

const shared = shareGateway();
const built = join(import.meta.dirname, "../console/build");
const builtTest = existsSync(join(built, "index.html")) ? test : test.skip;

builtTest("every page address returns the console with a strict content security policy", async (t) => {
  const gateway = shared();
  for (const path of [
    "/",
    "/keys",
    "/keys/key_1?tab=usage",
    "/models",
    "/models/demo/echo?x=1",
    "/no/such/page",
  ]) {
    const answer = await fetch(`${gateway.url}${path}`, { headers: { accept: "text/html,*/*" } });
    t.is(answer.status, 200);
    t.is(answer.headers.get("cache-control"), "no-cache");
    t.regex(
      answer.headers.get("content-security-policy") ?? "",
      /script-src 'self';.*frame-ancestors 'none'/,
    );
    t.is(answer.headers.get("referrer-policy"), "no-referrer");
    const html = await answer.text();
    t.notRegex(html, /<script(?![^>]*\ssrc=)/, "no inline script");
    t.notRegex(html, /(?:src|href)="(?!\/)/, "nothing from elsewhere");
  }
});

builtTest("a page's address starts the download of its own scripts", async (t) => {
  const gateway = shared();
  const scripts = async (path: string, accept = "text/html") => {
    const answer = await fetch(`${gateway.url}${path}`, { headers: { accept } });
    await answer.text();
    return [...(answer.headers.get("link") ?? "").matchAll(/<([^>]+)>; rel=modulepreload/g)].map(
      ([, file]) => file,
    );
  };
  for (const path of ["/", "/keys?period=24h", "/keys/key_1", "/models/demo/echo", "/requests/req_1"]) {
    const files = await scripts(path);
    t.true(files.length > 1, path);
    const sizes: number[] = [];
    for (const file of files) {
      const answer = await fetch(`${gateway.url}${file}`);
      t.is(answer.status, 200, file);
      sizes.push((await answer.arrayBuffer()).byteLength);
    }
    t.deepEqual(
      sizes,
      sizes.toSorted((one, other) => other - one),
      "the largest are first",
    );
  }
  t.notDeepEqual(await scripts("/keys"), await scripts("/keys/key_1"));
  t.deepEqual(await scripts("/no/such/page"), []);
  t.deepEqual(await scripts("/keys", "*/*"), []);
});

builtTest("an unknown file is not answered with the console's page", async (t) => {
  const gateway = shared();
  for (const [path, accept] of [
    ["/no/such/page", "*/*"],
    ["/v1/nothing", "text/html"],
    ["/_app/immutable/none.js", "*/*"],
  ] as const) {
    const answer = await fetch(`${gateway.url}${path}`, { headers: { accept } });
    t.is(answer.status, 404, path);
    t.is(answer.headers.get("content-type"), "application/json; charset=utf-8", path);
  }
  t.is((await fetch(gateway.url, { method: "POST", headers: { accept: "text/html" } })).status, 404);
});

builtTest("files with a hash in their name are cached as immutable and compressed", async (t) => {
  const gateway = shared();
  const [file = ""] = globSync("_app/immutable/entry/start.*.js", { cwd: built });
  const answer = await fetch(`${gateway.url}/${file}`, { headers: { "accept-encoding": "br" } });
  t.is(answer.headers.get("content-encoding"), "br");
  t.regex(answer.headers.get("cache-control") ?? "", /immutable/);
  t.is(await answer.text(), readFileSync(join(built, file), "utf8"));
});

const headers = { "accept-encoding": "br, gzip", "content-type": "application/json" };

test("answers of the console API are compressed, and are the same without compression", async (t) => {
  const gateway = shared();
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
  const gateway = shared();
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
