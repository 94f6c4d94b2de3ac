import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import test, { type ExecutionContext } from "ava";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openChat } from "../helpers/open-chat.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import {
  answerChat,
  beginStream,
  chunkEvent,
  createUpstream,
  type SeenRequest,
  sendCompletion,
} from "../helpers/scripted-upstream.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";
import { readMetrics, readMetricsPage } from "./read-metrics.ts";

type Answer = Parameters<Parameters<typeof createUpstream>[1]>[1];

async function setUp(
  t: ExecutionContext,
  answer: (request: SeenRequest, response: Answer) => void | Promise<void>,
) {
  const gateway = await startTestGateway(t, { environment: { METRICS_PORT: "0" } });
  const upstream = await createUpstream(t, answer);
  return { gateway, ...(await connectUpstream(gateway, upstream)) };
}

const chat = 'endpoint="chat/completions",provider="test"';

test("requests are counted by outcome, with duration and tokens", async (t) => {
  const { gateway, value, model } = await setUp(t, (request, response) => {
    if (request.body.includes("fail")) return void response.writeHead(400).end("{}");
    answerChat(request, response);
  });
  await postChat(gateway, value, chatBody(model));
  await postChat(gateway, value, chatBody(model));
  await postChat(gateway, value, chatBody(model, "Hello", { stream: true }));
  await postChat(gateway, value, chatBody(model, "fail"));
  await postChat(gateway, value, chatBody("test/nothing"));
  await postChat(gateway, "sk-wrong", chatBody(model));

  const metrics = await readMetrics(gateway.metricsUrl);
  const requests = `gateway_requests_total{${chat},model="${model}"`;
  t.is(metrics.get(`${requests},status="200",outcome="succeeded"}`), 3);
  t.is(metrics.get(`${requests},status="400",outcome="failed"}`), 1);
  const none = 'endpoint="chat/completions",provider="none",model="unknown"';
  t.is(metrics.get(`gateway_requests_total{${none},status="404",outcome="failed"}`), 1);
  t.is(metrics.get('gateway_request_errors_total{provider="test",code="upstream_rejected"}'), 1);
  t.is(metrics.get('gateway_request_errors_total{provider="none",code="model_not_found"}'), 1);
  t.is(metrics.get('gateway_refusals_total{code="invalid_api_key"}'), 1);
  t.is(metrics.get(`gateway_request_duration_seconds_count{${chat},stream="false"}`), 3);
  t.is(metrics.get(`gateway_request_duration_seconds_count{${chat},stream="true"}`), 1);
  t.is(metrics.get(`gateway_time_to_first_token_seconds_count{${chat}}`), 1);
  t.is(metrics.get(`gateway_tokens_total{provider="test",model="${model}",type="input"}`), 15);
  t.is(metrics.get(`gateway_tokens_total{provider="test",model="${model}",type="output"}`), 6);
});

test("metrics show open streams, upstream refusals, the spool and the feed", async (t) => {
  const { gateway, value, model } = await setUp(t, ({ body }, response) => {
    if (body.includes("busy")) return void response.writeHead(429).end("{}");
    beginStream(response);
    response.write(chunkEvent("Hi"));
  });
  const stream = openChat(gateway, value, chatBody(model, "Hello", { stream: true }));
  await stream.received("Hi");
  const during = await readMetrics(gateway.metricsUrl);
  t.is(during.get("gateway_open_requests"), 1);
  t.is(during.get("gateway_open_streams"), 1);
  t.is(during.get('gateway_upstream_cool_downs{provider="test"}'), undefined);
  t.true((during.get("gateway_key_cache_staleness_seconds") ?? 99) < 30);
  t.true((during.get("nodejs_eventloop_lag_p99_seconds") ?? 0) > 0);

  stream.request.destroy();
  await eventually(async () => (await readMetrics(gateway.metricsUrl)).get("gateway_open_streams") === 0);
  await postChat(gateway, value, chatBody(model, "busy"));
  await gateway.services.recorder.flush();
  const after = await readMetrics(gateway.metricsUrl);
  t.is(after.get('gateway_upstream_cool_downs{provider="test"}'), 1);
  t.is(after.get('gateway_upstream_refusals_total{provider="test",reason="http_429"}'), 1);
  t.is(after.get("gateway_usage_spool_bytes"), 0);
  t.is(after.get("gateway_usage_spool_oldest_age_seconds"), 0);
});

test("without a database the spool's depth and age grow", async (t) => {
  const { gateway, value, model } = await setUp(t, (_request, response) => sendCompletion(response));
  const { database } = gateway.services;
  const write = database.write.bind(database);
  database.write = () => Promise.reject(new Error("away"));
  await postChat(gateway, value, chatBody(model));
  const bytes = await eventually(async () => {
    const metrics = await readMetrics(gateway.metricsUrl);
    const isOld = (metrics.get("gateway_usage_spool_oldest_age_seconds") ?? 0) > 0.2;
    return isOld && metrics.get("gateway_usage_spool_bytes");
  });
  t.true(bytes > 100, `${bytes}`);
  database.write = write;
});

test("metrics contain no client or upstream text, no key and no person", async (t) => {
  const canary = `canary${randomBytes(8).toString("hex")}`;
  const { gateway, value, model, id } = await setUp(t, (_request, response) => {
    response.writeHead(400, { "content-type": "application/json", "x-canary": canary });
    const error = { message: canary, type: canary, code: canary, param: canary };
    response.end(JSON.stringify({ error }));
  });
  const revision = (await gateway.admin.keys.get.query({ id })).revision;
  await gateway.admin.keys.rename.mutate({ id, name: canary, revision });
  await postChat(gateway, value, chatBody(model, canary, { user: canary, stream: true }));
  await postChat(gateway, value, chatBody(`test/${canary}`));
  await postChat(gateway, `sk-${canary}`, chatBody(model));
  await fetch(`${gateway.url}/v1/${canary}`, { headers: { "user-agent": canary } });

  const page = await readMetricsPage(gateway.metricsUrl);
  t.true(page.includes(`model="${model}"`));
  for (const secret of [canary, value, id, upstreamSecret, gateway.accessToken, "ada@example.com"]) {
    t.false(page.includes(secret), secret.slice(0, 6));
  }
});

test("the metrics port serves only metrics, and without one they are not served", async (t) => {
  const gateway = await startTestGateway(t, { environment: { METRICS_PORT: "0" } });
  const origin = new URL(gateway.metricsUrl ?? "").origin;
  for (const path of ["/", "/readyz", "/trpc", "/v1/models"]) t.is((await fetch(origin + path)).status, 404);
  t.is((await fetch(`${origin}/metrics`, { method: "POST" })).status, 404);
  t.is((await fetch(`${gateway.url}/metrics`)).headers.get("content-type")?.includes("version="), false);

  const without = await startTestGateway(t);
  t.is(without.metrics, null);
  t.is(without.metricsUrl, null);
});

test("the dashboard shows only existing metrics and all of the gateway's", async (t) => {
  const { gateway, value, model } = await setUp(t, (_request, response) => sendCompletion(response));
  await postChat(gateway, value, chatBody(model));
  const page = await readMetricsPage(gateway.metricsUrl);
  const types = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const dashboard = readFileSync(new URL("../../infra/grafana-dashboard.json", import.meta.url), "utf8");
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  const shown = panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/\b(gateway|nodejs|process)_\w+/g) ?? []),
  );
  t.deepEqual(
    shown.filter((name) => !types.includes(name)),
    [],
  );
  const own = types.filter((name) => name.startsWith("gateway_") && !/_(sum|count)$/.test(name));
  t.deepEqual(
    own.filter((name) => !shown.includes(name)),
    [],
  );
});
