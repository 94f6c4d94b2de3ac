import test from "ava";
import { GatewayError } from "../../gateway/errors.ts";
import { explainRefusal } from "../../gateway/models/test-provider.ts";
import { explainFailure } from "../../gateway/upstream/upstream-failure.ts";

function failure(code: string): GatewayError {
  const cause = Object.assign(new Error(code), { code });
  return new GatewayError("upstream_error", "The call failed.", {
    cause: new TypeError("failed", { cause }),
  });
}

for (const [code, words] of [
  ["ENOTFOUND", /The host api\.example\.com was not found\. Check the base URL\./],
  ["EAI_AGAIN", /could not be resolved/],
  ["ECONNREFUSED", /api\.example\.com:443 was refused/],
  ["EPRIVATEADDRESS", /add api\.example\.com:443 to UPSTREAM_PRIVATE_HOSTS, and restart/],
  ["ETIMEDOUT", /The connection to api\.example\.com:443 timed out/],
  ["ECONNRESET", /closed the connection/],
  ["CERT_HAS_EXPIRED", /certificate of api\.example\.com has expired/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /is for another host/],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
  ["SELF_SIGNED_CERT_IN_CHAIN", /is not trusted/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /is not trusted/],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /is not trusted/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /does not speak TLS\. Check whether the URL should start with http:\/\//],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", /The TLS connection .* failed/],
  ["EBROKENOFF", /closed the connection/],
  ["EBADANSWER", /does not speak HTTP/],
] as const) {
  test(`${code} is explained`, (t) => {
    t.regex(explainFailure(failure(code), "https://api.example.com"), words);
  });
}

test("of several addresses, the first failure is explained", (t) => {
  const errors = ["ECONNREFUSED", "EHOSTUNREACH"].map((code) => Object.assign(new Error(code), { code }));
  const error = new GatewayError("upstream_error", "The call failed.", { cause: new AggregateError(errors) });
  t.regex(explainFailure(error, "http://localhost:11434"), /localhost:11434 was refused/);
});

test("an unknown error keeps its original message", (t) => {
  t.is(explainFailure(failure("EWHATEVER"), "http://localhost:1"), "The call failed.");
  t.is(explainFailure(new GatewayError("upstream_timeout", "Too slow."), "http://localhost:1"), "Too slow.");
});

const secret = "sk-secret-0123456789-ABCD";
const path = "/v1/models";

function explain(status: number, body: unknown = null, withSecret: string | null = secret): string {
  return explainRefusal(status, body, { path, secret: withSecret });
}

for (const [status, words] of [
  [
    301,
    /The provider returned a redirect \(HTTP status 301\), which the gateway does not follow\. Check the base URL\./,
  ],
  [400, /The provider returned HTTP status 400 for \/v1\/models\./],
  [401, /The provider rejected the key \(HTTP status 401\)\./],
  [402, /the account has insufficient funds \(HTTP status 402\)\./],
  [403, /The provider rejected the key \(HTTP status 403\)\./],
  [404, /\/v1\/models does not exist \(HTTP status 404\)\. Check the base URL/],
  [405, /\/v1\/models does not exist \(HTTP status 405\)/],
  [429, /its rate limit is reached \(HTTP status 429\)\./],
  [500, /The provider failed \(HTTP status 500\)\./],
  [529, /The provider failed \(HTTP status 529\)\./],
] as const) {
  test(`status ${status} is explained`, (t) => {
    t.regex(explain(status), words);
  });
}

test("without a configured key, a refusal reports a missing key", (t) => {
  t.regex(explain(401, null, null), /The provider requires a key \(HTTP status 401\)\./);
});

test("a short plain message of the upstream is repeated", (t) => {
  const says = "The provider failed (HTTP status 503: The engine is overloaded). Retry later.";
  for (const body of [
    { error: { message: "The engine is overloaded" } },
    { error: "The engine is overloaded" },
    { message: "  The engine is overloaded\n" },
    { detail: "The engine is overloaded" },
    { error: { message: 7 }, message: "The engine is overloaded" },
  ]) {
    t.is(explain(503, body), says, JSON.stringify(body));
  }
});

test("a long, missing or formatted message of the upstream is not repeated", (t) => {
  const plain = explain(503);
  for (const message of [
    "x".repeat(201),
    "",
    "   ",
    "two\nlines",
    "\u001b[31mred",
    "<b>bold</b>",
    42,
    null,
    { nested: "text" },
  ]) {
    t.is(explain(503, { error: { message } }), plain, JSON.stringify(message));
  }
  for (const body of [null, [], "text", 5, { error: null }]) t.is(explain(503, body), plain);
});

test("a message with any part of a secret is not repeated", (t) => {
  const plain = explain(400);
  for (const message of [
    `Bad key: ${secret}`,
    "Bad key: sk-s***************ABCD",
    "Bad key: …ABCD",
    "Bad key: sk-secret…",
    `Bad key: ${secret.slice(5, 12)}`,
  ]) {
    t.is(explain(400, { error: { message } }), plain, message);
  }
  t.regex(explain(400, { error: { message: "Bad region." } }), / for \/v1\/models: Bad region\. Check /);
  t.is(explain(400, { message: "no ab here" }, "ab"), plain, "a short secret too");
});
