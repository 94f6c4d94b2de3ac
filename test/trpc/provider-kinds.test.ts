import type { ServerResponse } from "node:http";
import test from "ava";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";

const shared = shareGateway();

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

test("a status with a special meaning is reported by its meaning", async (t) => {
  const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
  const upstream = await createUpstream(t, (_request, response) =>
    sendJson(response, { error: { code: 400, message: "API key not valid.", details } }, 400),
  );
  const { providers } = shared().admin;
  const { id } = await providers.create.mutate({
    name: "gemini-verdict",
    kind: "gemini",
    preset: "gemini",
    baseUrl: upstream.url,
    apiKey: "a-key-0123456789",
  });
  t.is(
    (await providers.test.mutate({ id })).message,
    "The provider rejected the key (HTTP status 401). Check the key.",
  );
});

test("an upstream with signed requests receives a signature", async (t) => {
  const upstream = await createUpstream(t, (_request, response) =>
    sendJson(response, { modelSummaries: [] }),
  );
  const { providers } = shared().admin;
  const { id } = await providers.create.mutate({
    name: "bedrock-verdict",
    kind: "bedrock",
    baseUrl: `${upstream.url}/?region=eu-west-1`,
    apiKey: "AKIA0123456789ABCDEF:secret-0123456789",
  });
  t.true((await providers.test.mutate({ id })).ok);
  t.regex(
    upstream.requests[0]?.headers.authorization ?? "",
    /^AWS4-HMAC-SHA256 Credential=AKIA0123456789ABCDEF\/\d{8}\/eu-west-1\/bedrock\//,
  );
});

test("values that a kind does not accept are rejected on input", async (t) => {
  const { providers } = shared().admin;
  const bedrock = { kind: "bedrock", baseUrl: "https://bedrock-runtime.eu-west-1.amazonaws.com" } as const;
  const creation = providers.create.mutate({ name: "refused", ...bedrock, apiKey: "a:b:c:d" });
  t.like(await t.throwsAsync(creation), { data: { code: "BAD_REQUEST", param: "apiKey" } });
  const { id } = await providers.create.mutate({ name: "bedrock-empty", ...bedrock });
  const addition = providers.addCredential.mutate({ id, apiKey: "a::b" });
  t.like(await t.throwsAsync(addition), { data: { code: "BAD_REQUEST", param: "apiKey" } });
  const nowhere = providers.create.mutate({
    name: "azure-refused",
    kind: "azure-openai",
    preset: "azure-openai",
  });
  t.like(await t.throwsAsync(nowhere), { data: { code: "BAD_REQUEST", param: "baseUrl" } });
});

test("a built-in provider needs no network", async (t) => {
  const { providers } = shared().admin;
  const [demo] = (await providers.list.query()).filter(({ kind }) => kind === "demo");
  const { ok, message, credentials } = await providers.test.mutate({ id: demo?.id ?? "" });
  t.deepEqual(
    { ok, message, credentials },
    { ok: true, message: "Built in: no connection needed.", credentials: [] },
  );
});
