import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import test from "ava";
import { assertError, serverError } from "../helpers/assert-error.ts";
import { connectUpstream, upstreamSecret } from "../helpers/connect-upstream.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { eventually } from "../helpers/eventually.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { administrator, createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

// Both texts are unique and contain characters that JSON and URLs escape.
const prompt = 'Canary prompt 7f3a "é" <&> zq';
const answer = 'Canary answer 91bd "ü" <&> zq';

test("no log line or table contains a prompt, answer, key or credential", async (t) => {
  const upstream = await createUpstream(t, async (request, response) => {
    if (request.body.includes("linger")) await eventually(() => spoolHas('"status":"INTERRUPTED"'));
    const status = Number(/status (\d+)/.exec(request.body)?.[1] ?? 200);
    response.writeHead(status, {
      "content-type": "application/json",
      "x-canary": answer.replaceAll(/[^ -~]/g, ""),
    });
    if (request.body.includes("garbage")) return void response.end(`<html>${answer}`);
    if (request.body.includes("break off")) return void response.write(answer, () => response.destroy());
    const error = {
      message: `${answer} ${prompt} ${upstreamSecret}`,
      type: answer,
      param: prompt,
      code: answer,
    };
    const choices = [{ index: 0, message: { role: "assistant", content: answer }, finish_reason: "stop" }];
    return void response.end(JSON.stringify(status === 200 ? { choices } : { error }));
  });
  // The interval keeps all records in the spool until the explicit flush.
  const environment = { USAGE_FLUSH_INTERVAL_MS: "1000000" };
  const gateway = await startTestGateway(t, { environment });
  const key = await connectUpstream(gateway, upstream);
  const spoolHas = async (text: string) => (await dataFolder(gateway)).includes(text);

  const ask = async (content: string, more: object = {}) =>
    (await postChat(gateway, key.value, chatBody("test/model", content, more))).status;
  t.is(await ask(prompt), 200);
  t.is(await ask(`${prompt} linger`), 200);
  for (const status of [400, 401, 404, 429, 500]) await ask(`${prompt} status ${status}`);
  for (const more of [{}, { stream: true }]) {
    t.is(await ask(`${prompt} garbage`, more), 502);
    t.is(await ask(`${prompt} break off`, more), 502);
  }
  t.is(await ask("Hello", { temperature: prompt }), 400);
  t.is(await ask("Hello", { model: prompt }), 404);
  t.is(await ask("Hello", { messages: [{ role: prompt, content: prompt }] }), 400);
  t.is((await postChat(gateway, key.value, `{"model":"test/model",${prompt}`)).status, 400);
  t.is((await postChat(gateway, key.value, chatBody(key.value, prompt))).status, 404);
  const bareKeyValue = key.value.slice("sk-gateway-".length);
  for (const model of [bareKeyValue, `test/${key.value}`])
    t.is((await postChat(gateway, key.value, chatBody(model, prompt))).status, 404);
  t.is((await postChat(gateway, `${key.value}x`, chatBody("test/model", prompt))).status, 401);
  await gateway.admin.providers.test.mutate({ id: await providerId(gateway) });
  const echo = await createKey(gateway);
  t.is((await postChat(gateway, echo.value, chatBody("demo/echo", prompt, { stream: true }))).status, 200);
  const spooled = await dataFolder(gateway);
  t.true(spooled.includes('"errorCode":"upstream_error"'), "the records are in the spool");
  t.true(spooled.includes('"status":"INTERRUPTED"'), "and the requests that were under way");
  await gateway.services.recorder.flush();
  await gateway.services.lastUsed.flush();

  const secrets = {
    prompt,
    answer,
    upstreamSecret,
    keyValue: key.value,
    echoKeyValue: echo.value,
    bareKeyValue,
    password: administrator.password,
  };
  const tables = await dumpDatabase(gateway.environment["DATABASE_URL"] ?? "");
  t.true(
    tables.includes(createHash("sha256").update(key.value).digest("hex")),
    "the dump is of this database",
  );
  t.true(tables.includes("upstream_error"), "with the records");
  t.deepEqual(findLeaks(tables, secrets), []);
  t.deepEqual(findLeaks(gateway.log.join("\n"), secrets), []);
  t.deepEqual(findLeaks(spooled, secrets), []);
  t.deepEqual(findLeaks(await dataFolder(gateway), secrets), []);
});

test("a read-only database logs nothing of a request", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "15000" } });
  const key = await createKey(gateway);
  t.is((await postChat(gateway, key.value, chatBody("demo/echo", prompt))).status, 200);
  const { promise, resolve } = Promise.withResolvers<void>();
  gateway.services.database.read(() => promise).catch(() => {});
  t.is((await postChat(gateway, key.value, chatBody("demo/echo", prompt))).status, 200);
  await gateway.services.recorder.flush();
  resolve();

  const log = gateway.log.join("\n");
  t.regex(log, /cannot write usage records/);
  t.deepEqual(findLeaks(log, { prompt, keyValue: key.value, hash: hashOf(key.value) }), []);
});

test("an internal error that quotes the prompt reaches neither client nor log", async (t) => {
  const gateway = await startTestGateway(t);
  const key = await createKey(gateway);
  const mistake = Object.assign(new Error(prompt), { parameters: [prompt], cause: new Error(prompt) });
  Object.assign(gateway.services.catalogue, {
    find() {
      throw mistake;
    },
  });

  const failed = await postChat(gateway, key.value, chatBody("demo/echo", prompt));

  assertError(t, failed, serverError(500, "internal_error"));
  const log = gateway.log.join("\n");
  t.true(log.includes(failed.headers.get("x-request-id") ?? "none"), "it can be found in the log");
  t.deepEqual(findLeaks(failed.text + log, { prompt, keyValue: key.value }), []);
});

test("the search finds a canary in every form", (t) => {
  const bytes = Buffer.from(prompt);
  for (const form of [
    prompt,
    JSON.stringify({ prompt }),
    JSON.stringify({ text: JSON.stringify({ prompt }) }),
    JSON.stringify(prompt).replace("é", "\\u00e9"),
    encodeURIComponent(prompt),
    bytes.toString("hex").toUpperCase(),
    ...["", "a", "ab", "abc"].map((before) => Buffer.from(`${before}${prompt} after`).toString("base64")),
    Buffer.from(`a${prompt}`).toString("base64url"),
  ]) {
    t.deepEqual(findLeaks(`before ${form} after`, { prompt }), ["prompt"], form);
  }
  t.deepEqual(findLeaks("nothing", { prompt }), []);
  t.deepEqual(findLeaks(gzipSync(prompt).toString("base64"), { prompt }), [], "compression would hide it");
});

function hashOf(value: string): string {
  return createHash("sha256").update(value).digest("hex");
}

async function providerId({ admin }: TestGateway): Promise<string> {
  const found = (await admin.providers.list.query()).find(({ name }) => name === "test");
  if (!found) throw new Error("There is no provider named test");
  return found.id;
}

async function dataFolder({ environment }: TestGateway): Promise<string> {
  const entries = await readdir(environment["DATA_DIR"] ?? "", { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), "utf8"));
  return (await Promise.all(texts)).join("\n");
}
