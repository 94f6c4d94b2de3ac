import test from "ava";
import { GatewayError } from "../../gateway/errors.ts";
import { explainFailure } from "../../gateway/upstream/explain-failure.ts";

/** Returns the error of a failed upstream call. */
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
  ["EPRIVATEADDRESS", /UPSTREAM_PRIVATE_HOSTS=api\.example\.com:443, or add/],
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
