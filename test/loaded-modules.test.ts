import { registerHooks } from "node:module";
import test from "ava";

const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});

// The hook must precede these imports to record what they load.
const { createKey, startTestGateway } = await import("./helpers/test-gateway.ts");
const { chatBody, postChat } = await import("./helpers/post-chat.ts");

const ofGraphql = () => loaded.filter((url) => /\/node_modules\/(?:graphql|@?graphql-|@pothos)/.test(url));
const ofTracing = () => loaded.filter((url) => /\/@opentelemetry\/|\/gateway\/tracing\//.test(url));

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

test.serial("GraphQL's libraries are loaded by the first query", async (t) => {
  const gateway = await startTestGateway(t);
  t.deepEqual(ofGraphql(), []);
  const query = "query=%7B__typename%7D";
  const headers = { authorization: `Bearer ${gateway.accessToken}` };
  t.is((await fetch(`${gateway.url}/graphql?${query}`, { headers })).status, 200);
  t.true(ofGraphql().length > 100);
});
