import test from "ava";
import { toUpstreamFailure, withCode } from "../../gateway/upstream/upstream-failure.ts";

for (const [code, reason, errorCode = "upstream_error"] of [
  ["EAI_AGAIN", "host_lookup_failed"],
  ["ENOTFOUND", "host_not_found"],
  ["EHOSTUNREACH", "host_unreachable"],
  ["ENETUNREACH", "host_unreachable"],
  ["EPRIVATEADDRESS", "private_address"],
  ["ECONNREFUSED", "connection_refused"],
  ["ECONNRESET", "connection_lost"],
  ["EPIPE", "connection_lost"],
  ["EBROKENOFF", "connection_lost"],
  ["ETIMEDOUT", "connect_timeout", "upstream_timeout"],
  ["EBADANSWER", "unreadable_answer"],
  ["EBADREQUEST", "invalid_address_or_key"],
  ["CERT_HAS_EXPIRED", "tls_failed"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_failed"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "tls_failed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_failed"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_failed"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls_failed"],
  ["EPROTO", "tls_failed"],
  ["EWHATEVER", "connection_failed"],
] as const) {
  test(`${code} is reported as ${reason}`, (t) => {
    t.like(toUpstreamFailure(withCode(code, "failed")), { code: errorCode, reason });
  });
}

test("of several addresses the first failure counts, and a missing code is unknown", (t) => {
  const errors = ["ECONNREFUSED", "EHOSTUNREACH"].map((code) => withCode(code, "failed"));
  t.is(toUpstreamFailure(new AggregateError(errors)).reason, "connection_refused");
  t.is(toUpstreamFailure(new Error("failed")).reason, "connection_failed");
});
