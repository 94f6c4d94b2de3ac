import test from "ava";
import { readConfig } from "../../gateway/config/config.ts";
import { chatBody } from "../helpers/post-chat.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const allowed = "https://app.example.com";
const foreign = "https://evil.example.com";
const routes: [method: string, path: string][] = [
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/messages"],
  ["POST", "/v1/messages/count_tokens"],
  ["POST", "/v1/responses"],
  ["POST", "/v1/responses/compact"],
  ["POST", "/v1/responses/input_tokens"],
  ["POST", "/v1/embeddings"],
  ["GET", "/v1/models"],
  ["GET", "/v1/models/demo/echo"],
  ["GET", "/v1/responses/resp_1"],
  ["DELETE", "/v1/responses/resp_1"],
  ["PUT", "/v1/models"],
  ["GET", "/v1/unknown"],
  ["POST", "/chat/completions"],
  ["POST", "/v1/v1/chat/completions"],
];
const corsHeaders = (headers: Headers) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-")).toSorted();

test("allowed origins can call every route and read every answer, foreign ones none", async (t) => {
  const gateway = await startTestGateway(t, {
    environment: { CORS_ORIGINS: `${allowed}, http://localhost:3000` },
  });
  const { value } = await createKey(gateway);
  for (const [method, path] of routes) {
    for (const origin of [allowed, foreign, null]) {
      const from: Record<string, string> = origin === null ? {} : { origin };
      const preflight = await fetch(gateway.url + path, {
        method: "OPTIONS",
        headers: {
          ...from,
          "access-control-request-method": method,
          "access-control-request-headers": "authorization,x-stainless-os",
        },
      });
      const where = `${method} ${path} from ${origin}`;
      t.is(preflight.status === 204, origin === allowed, where);
      t.true(preflight.headers.get("vary")?.includes("Origin"), where);
      t.is(
        preflight.headers.get("access-control-allow-headers"),
        origin === allowed ? "authorization,x-stainless-os" : null,
      );
      for (const authorization of [`Bearer ${value}`, "Bearer wrong"]) {
        const body = method === "POST" ? "{}" : null;
        const answer = await fetch(gateway.url + path, { method, body, headers: { ...from, authorization } });
        await answer.text();
        t.is(answer.headers.get("access-control-allow-origin"), origin === allowed ? allowed : null, where);
        t.is(answer.headers.get("access-control-allow-credentials"), null);
        t.is(answer.headers.get("vary"), "Origin", where);
        t.is(
          answer.headers.get("access-control-expose-headers")?.includes("x-request-id"),
          origin === allowed || undefined,
        );
      }
    }
  }
  const headers = { origin: allowed, authorization: `Bearer ${value}` };
  const body = JSON.stringify({ ...chatBody("demo/echo"), stream: true });
  const stream = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
  t.is(stream.status, 200);
  t.is(stream.headers.get("access-control-allow-origin"), allowed);
  t.true((await stream.text()).includes("[DONE]"));

  for (const path of ["/trpc/auth.state", "/graphql", "/openapi.json", "/setup/codex.sh", "/v1x", "/"]) {
    for (const method of ["GET", "OPTIONS"]) {
      const answer = await fetch(gateway.url + path, {
        method,
        headers: { origin: allowed, "access-control-request-method": "POST" },
      });
      await answer.text();
      t.deepEqual(corsHeaders(answer.headers), [], path);
    }
  }
});

test("any origin is allowed by *, and private networks only if the browser asks", async (t) => {
  const gateway = await startTestGateway(t, { environment: { CORS_ORIGINS: "*" } });
  for (const asked of [true, false]) {
    const headers = {
      origin: foreign,
      "access-control-request-method": "POST",
      ...(asked && { "access-control-request-private-network": "true" }),
    };
    const answer = await fetch(`${gateway.url}/v1/messages`, { method: "OPTIONS", headers });
    t.is(answer.headers.get("access-control-allow-origin"), "*");
    t.is(answer.headers.get("access-control-allow-private-network"), asked ? "true" : null);
  }
});

test("without the setting, no answer has a header for other origins", async (t) => {
  const gateway = await startTestGateway(t);
  for (const method of ["OPTIONS", "GET"]) {
    const headers = { origin: allowed, "access-control-request-method": "POST" };
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method, headers });
    t.is(answer.status, 405);
    t.deepEqual(corsHeaders(answer.headers), []);
    t.is(answer.headers.get("vary"), null);
  }
});

test("an invalid list of origins stops the start", (t) => {
  for (const text of [
    "app.example.com",
    "https://app.example.com/",
    "https://a.example/path",
    "https://",
    "null",
    "https://*.example.com",
  ]) {
    t.throws(
      () => readConfig({ CORS_ORIGINS: text }),
      { message: /CORS_ORIGINS: .*is not a list of origins/ },
      text,
    );
  }
  t.deepEqual(readConfig({ CORS_ORIGINS: "HTTPS://App.example.com, *" }).corsOrigins, [allowed, "*"]);
});
