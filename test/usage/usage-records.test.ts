import test from "ava";
import { timeOfId } from "../../gateway/ids.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import {
  createPromptedUpstream,
  type PromptedUpstream,
  type PromptScript,
} from "../helpers/prompted-upstream.ts";
import {
  beginStream,
  chunkEvent,
  doneEvent,
  sendCompletion,
  usageEvent,
} from "../helpers/scripted-upstream.ts";
import { openSocket } from "../helpers/send-raw.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway, type TestGateway, usageOf } from "../helpers/test-gateway.ts";

const shared = sharedByFile();

for (const kind of allDatabaseKinds) {
  let gateway: TestGateway;
  let upstream: PromptedUpstream;

  test.before(`a gateway on ${kind}`, async () => {
    upstream = await createPromptedUpstream(shared);
    gateway = await startTestGateway(shared, { kind });
    await connectUpstream(gateway, upstream, { idleTimeoutMs: 5_000 });
  });

  /** Each test has its own key, so that its records are separate. */
  const keyFor = async (title: string, script?: PromptScript) => {
    if (script) upstream.scripts.set(title, script);
    return createKey(gateway, ["test/model", "demo/echo"]);
  };

  const onlyRecordOf = async (keyId: string) => {
    const records = await eventually(async () => {
      const found = await usageOf(gateway, keyId);
      return found.length > 0 && found;
    });
    if (records.length !== 1 || !records[0]) throw new Error(`${records.length} records instead of one`);
    return records[0];
  };

  test(`${kind}: a success is recorded with all its facts`, async (t) => {
    const key = await keyFor(t.title, (response) => sendCompletion(response));
    const before = Date.now();
    const answer = await postChat(gateway, key.value, chatBody("test/model", t.title));
    const record = await onlyRecordOf(key.id);
    const { createdAt, latencyMs, timeToFirstTokenMs, credentialId, ownerId, ...facts } = record;
    t.regex(ownerId ?? "", /^usr_/);
    t.regex(credentialId ?? "", /^crd_/);
    t.deepEqual(facts, {
      id: answer.headers.get("x-request-id") ?? "",
      apiKeyId: key.id,
      apiKeyName: "Test key",
      model: "test/model",
      provider: "test",
      upstreamModel: "upstream-model",
      attempts: 1,
      cacheWriteInputTokens: null,
      endpoint: "chat/completions",
      clientTool: null,
      stream: false,
      status: "SUCCEEDED",
      httpStatus: 200,
      errorCode: null,
      limitedBy: null,
      errorReason: null,
      dropped: null,
      timing: null,
      inputTokens: 5,
      outputTokens: 2,
      cachedInputTokens: null,
      reasoningTokens: null,
      estimated: false,
      cost: null,
      inputPrice: null,
      cachedInputPrice: null,
      cacheWritePrice: null,
      outputPrice: null,
      costDetails: null,
      providerCost: null,
      markup: 0,
    });
    t.is(createdAt.getTime(), timeOfId(record.id), "so that a period is a range of ids");
    t.true(createdAt.getTime() >= before && createdAt.getTime() <= Date.now() && latencyMs >= 0);
    t.true(latencyMs <= Date.now() - before + 1);
    t.true((timeToFirstTokenMs ?? -1) >= 0 && (timeToFirstTokenMs ?? Infinity) <= latencyMs);
  });

  test(`${kind}: a stream is recorded with its usage, requested or not`, async (t) => {
    const key = await keyFor(t.title, (response) => {
      beginStream(response);
      response.end(chunkEvent("Hi") + usageEvent + doneEvent);
    });
    await postChat(gateway, key.value, chatBody("test/model", t.title, { stream: true }));
    const record = await onlyRecordOf(key.id);
    t.like(record, { status: "SUCCEEDED", stream: true, inputTokens: 5, outputTokens: 2, httpStatus: 200 });
    t.true((record.timeToFirstTokenMs ?? Infinity) <= record.latencyMs);
  });

  const oneEstimated = { outputTokens: 1, estimated: true, cost: null };
  const failures: [
    title: string,
    body: (title: string) => unknown,
    script: PromptScript | undefined,
    expected: object,
  ][] = [
    [
      "no JSON",
      () => "{",
      undefined,
      { httpStatus: 400, errorCode: "invalid_body", model: "", provider: "", upstreamModel: null },
    ],
    [
      "a wrong value",
      (title) => chatBody("test/model", title, { temperature: 3 }),
      undefined,
      { httpStatus: 400, errorCode: "invalid_value", provider: "", upstreamModel: null },
    ],
    [
      "an unknown model",
      (title) => chatBody("test/none", title),
      undefined,
      { httpStatus: 404, errorCode: "model_not_found", model: "test/none", provider: "" },
    ],
    [
      "a model that can be no slug",
      (title) => chatBody("my secret plans", title),
      undefined,
      { httpStatus: 404, errorCode: "model_not_found", model: "" },
    ],
    [
      "an upstream's refusal",
      (title) => chatBody("test/model", title),
      (response) => {
        response.writeHead(429, { "content-type": "application/json" });
        response.end('{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}');
      },
      { httpStatus: 429, errorCode: "rate_limit_exceeded", model: "test/model", provider: "test", cost: 0 },
    ],
    [
      "an upstream's failure",
      (title) => chatBody("test/model", title),
      (response) => void response.writeHead(500).end(),
      { httpStatus: 502, errorCode: "upstream_error", model: "test/model", upstreamModel: "upstream-model" },
    ],
    [
      "a stream that breaks off",
      (title) => chatBody("test/model", title, { stream: true }),
      (response) => {
        beginStream(response);
        response.write(chunkEvent("Hi"), () => response.destroy());
      },
      { ...oneEstimated, httpStatus: 200, errorCode: "upstream_error", model: "test/model", stream: true },
    ],
  ];
  for (const [title, body, script, expected] of failures) {
    test(`${kind}: a failure is recorded: ${title}`, async (t) => {
      const key = await keyFor(t.title, script);
      const answer = await postChat(gateway, key.value, body(t.title));
      const record = await onlyRecordOf(key.id);
      t.like(record, {
        status: "FAILED",
        outputTokens: null,
        ...(script ? { cost: 0 } : { cost: 0, attempts: 0 }),
        endpoint: "chat/completions",
        ...expected,
      });
      t.is(record.id, answer.headers.get("x-request-id") ?? "none");
    });
  }

  for (const stream of [false, true]) {
    test(`${kind}: a client that leaves before the first byte cancels, stream: ${stream}`, async (t) => {
      const aborter = new AbortController();
      let isUpstreamLetGo = false;
      const key = await keyFor(t.title, (response) => {
        response.on("close", () => (isUpstreamLetGo = true));
        aborter.abort();
      });
      await t.throwsAsync(send(key.value, chatBody("test/model", t.title, { stream }), aborter.signal));

      const record = await onlyRecordOf(key.id);
      t.like(record, { status: "CANCELLED", httpStatus: 499, errorCode: null, model: "test/model", stream });
      t.is(record.timeToFirstTokenMs, null);
      await eventually(() => isUpstreamLetGo);
    });
  }

  test(`${kind}: a client that leaves mid-stream cancels`, async (t) => {
    let isUpstreamLetGo = false;
    const key = await keyFor(t.title, (response) => {
      response.on("close", () => (isUpstreamLetGo = true));
      beginStream(response);
      response.write(chunkEvent("Hi"));
    });
    const aborter = new AbortController();
    const response = await send(key.value, chatBody("test/model", t.title, { stream: true }), aborter.signal);
    await response.body?.getReader().read();
    aborter.abort();

    const record = await onlyRecordOf(key.id);
    t.like(record, { status: "CANCELLED", httpStatus: 200, errorCode: null, provider: "test", stream: true });
    t.not(record.timeToFirstTokenMs, null);
    await eventually(() => isUpstreamLetGo);
  });

  test(`${kind}: a client that leaves while sending cancels`, async (t) => {
    const key = await keyFor(t.title);
    const socket = await openSocket(gateway.url);
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.value}\r\n`;
    socket.write(`${head}content-length: 1000\r\n\r\n{"model":`);
    await eventually(() => gateway.services.openExchanges.keyIds().includes(key.id));
    socket.resetAndDestroy();

    t.like(await onlyRecordOf(key.id), { status: "CANCELLED", httpStatus: 499, model: "", provider: "" });
  });

  test(`${kind}: requests without a key and model lists leave no record`, async (t) => {
    const key = await keyFor(t.title);
    await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key.value}` } });
    t.deepEqual(await usageOf(gateway, key.id), []);
  });

  test(`${kind}: a key returns its last use`, async (t) => {
    const key = await keyFor(t.title);
    t.is((await gateway.admin.keys.get.query({ id: key.id })).lastUsedAt, null);
    const before = Date.now();
    await postChat(gateway, key.value, chatBody("demo/echo"));
    await gateway.services.lastUsed.flush();
    const { lastUsedAt } = await gateway.admin.keys.get.query({ id: key.id });
    t.true(new Date(lastUsedAt ?? 0).getTime() >= before);
  });

  const send = (value: string, body: object, signal: AbortSignal) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${value}` },
      body: JSON.stringify(body),
      signal,
    });
}
