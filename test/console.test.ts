import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { startTestGateway } from "./helpers/test-gateway.ts";

const built = join(import.meta.dirname, "../console/build");
const builtTest = existsSync(join(built, "index.html")) ? test : test.skip;

builtTest(
  "every address that a browser asks a page of gets the console's, which only its own scripts may run on",
  async (t) => {
    const gateway = await startTestGateway(t);
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
  },
);

builtTest("what is no page is not dressed up as one", async (t) => {
  const gateway = await startTestGateway(t);
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

builtTest("files that carry a hash in their name are kept for ever, and come compressed", async (t) => {
  const gateway = await startTestGateway(t);
  const [file = ""] = globSync("_app/immutable/entry/start.*.js", { cwd: built });
  const answer = await fetch(`${gateway.url}/${file}`, { headers: { "accept-encoding": "br" } });
  t.is(answer.headers.get("content-encoding"), "br");
  t.regex(answer.headers.get("cache-control") ?? "", /immutable/);
  t.is(await answer.text(), readFileSync(join(built, file), "utf8"));
});
