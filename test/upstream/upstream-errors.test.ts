import { randomBytes } from "node:crypto";
import test from "ava";
import { hideSecret, holdsSecret } from "../../gateway/upstream/hide-secret.ts";
import { toUpstreamFailure, withCode } from "../../gateway/upstream/upstream-failure.ts";
import { findKeyPieces } from "../attack/find-key-pieces.ts";
import { keyQuotes } from "../attack/key-quotes.ts";
import { isFull } from "../helpers/scale.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

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

for (const [secret, message, shown] of [
  ["test", "The latest test of test.", "The latest [key removed] of [key removed]."],
  ["test", "Bad key TEST, tests and te", "Bad key [key removed], tests and te"],
  ["test", "dGVzdA==, 74657374 or %74est", "[key removed]==, [key removed] or [key removed]"],
  ["ollama", "ollama_error in Ollamax", "[key removed]_error in Ollamax"],
  ["x", "x is no axis: 78, eA==", "[key removed] is no axis: 78, eA=="],
  ["upstream-Zk39", "The upstream says no to upstream-Zk39.", "The upstream says no to [key removed]."],
  ["pvk/9xQz7abKm", "Bad key pvk/9xQ and 7abKm.", "Bad key pvk/9xQ and 7abKm."],
  ["pvk/9xQz7abKm", "Bad key pvk/9xQz, z7abKm.", "Bad key [key removed], z7abKm."],
  ["pvk/9xQz7abKm", "İſ pvk/9xQz7abKm 👋", "İſ [key removed] 👋"],
] as const) {
  test(`the key ${secret} is replaced, and other words stay: ${message}`, (t) => {
    t.is(hideSecret(message, secret), shown);
  });
}

test("a text without the key stays unchanged", (t) => {
  for (const text of [
    "",
    "a\\nb &amp; %20 \\u0041 Zm9vYmFyYmF6 0123456789abcdef",
    "line\r\n\tline",
    "&#9999999;",
  ]) {
    t.is(hideSecret(text, "pvk/CANARY+9xQz7"), text);
    t.false(holdsSecret(text, "pvk/CANARY+9xQz7", 4));
  }
});

test("random keys appear in no encoding of any part", (t) => {
  const random = seededRandom(7);
  for (let count = 0; count < (isFull ? 500 : 10); count++) {
    const secret = randomBytes(12 + random.upTo(60)).toString(count % 2 === 0 ? "base64" : "base64url");
    const start = random.upTo(secret.length - 11);
    for (const [how, quote] of Object.entries(keyQuotes)) {
      for (const part of [secret, secret.slice(start, start + 11)]) {
        const shown = hideSecret(`Bad key: ${quote(part)}.`, secret);
        t.deepEqual(findKeyPieces(shown.slice(0, 4_096), secret), [], `${how}, ${secret}: ${shown}`);
      }
    }
  }
});
