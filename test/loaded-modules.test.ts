import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import test from "ava";

const loaded: string[] = [];
/** The end of the URL of the module that fails to load. */
let failing: string | null = null;
registerHooks({
  load(url, context, next) {
    if (failing !== null && url.endsWith(failing)) throw new Error("The module cannot be loaded.");
    loaded.push(url);
    return next(url, context);
  },
});

// The hook must precede these imports to record the modules that they load.
const { createKey, startTestGateway } = await import("./helpers/test-gateway.ts");
const { chatBody, postChat } = await import("./helpers/post-chat.ts");

const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  dependencies: Record<string, string>;
};
const ofGraphql = () => loaded.filter((url) => /\/node_modules\/(?:graphql|@?graphql-|@pothos)/.test(url));
const ofConsole = () =>
  loaded.filter((url) =>
    /\/node_modules\/(?:express|compression|sirv)\/|\/gateway\/(?:trpc|graphql|setup|v1\/open-api)\//.test(
      url,
    ),
  );
const ofTracing = () => loaded.filter((url) => /\/@opentelemetry\/|\/gateway\/tracing\//.test(url));

test.serial("a start, a request for a model and a health check load only six dependencies", async (t) => {
  const gateway = await startTestGateway(t, { withoutAdministrator: true });
  t.is((await postChat(gateway, "sk-wrong", chatBody("demo/echo"))).status, 401);
  t.is((await fetch(`${gateway.url}/readyz`)).status, 200);
  const used = Object.keys(dependencies).filter((name) =>
    loaded.some((url) => url.includes(`/node_modules/${name}/`)),
  );
  // The gateway does not load `@trpc/server` here, but the tests' `@trpc/client` does.
  const expected = [
    "@trpc/server",
    "better-sqlite3",
    "eventsource-parser",
    "pino",
    "router",
    "typeorm",
    "zod",
  ];
  t.deepEqual(used, expected);
  t.deepEqual(ofConsole(), []);
});

test.serial("a failed load of the console's API is retried by the next request", async (t) => {
  const gateway = await startTestGateway(t);
  const getDocument = async () => (await fetch(`${gateway.url}/openapi.json`)).status;
  failing = "/gateway/application.ts";
  t.is(await getDocument(), 500);
  failing = null;
  t.deepEqual(await Promise.all([getDocument(), getDocument()]), [200, 200]);
  t.true(ofConsole().length > 80);
});

test.serial("without OTEL_EXPORTER_OTLP_ENDPOINT no tracing code is loaded or called", async (t) => {
  const gateway = await startTestGateway(t, { environment: { OTEL_TRACES_SAMPLER: "always_on" } });
  const { value } = await createKey(gateway);
  t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
  t.is(gateway.services.observer, null);
  t.deepEqual(ofTracing(), []);
  t.true(loaded.some((url) => url.endsWith("/gateway/start/start-gateway.ts")));
});

test.serial("with OTEL_EXPORTER_OTLP_ENDPOINT tracing code is loaded", async (t) => {
  await startTestGateway(t, { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" } });
  t.true(ofTracing().length > 10);
});

test.serial("GraphQL's libraries are loaded by the first query, and again if that fails", async (t) => {
  const gateway = await startTestGateway(t);
  t.deepEqual(ofGraphql(), []);
  const query = "query=%7B__typename%7D";
  const headers = { authorization: `Bearer ${gateway.accessToken}` };
  const sendQuery = async () => (await fetch(`${gateway.url}/graphql?${query}`, { headers })).status;
  failing = "/gateway/graphql/server.ts";
  t.is(await sendQuery(), 500);
  failing = null;
  t.is(await sendQuery(), 200);
  t.true(ofGraphql().length > 100);
});
