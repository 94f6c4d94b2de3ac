import test from "ava";
import { bedrock } from "../../../gateway/providers/bedrock/bedrock.ts";
import type { Endpoint, UpstreamRequest } from "../../../gateway/providers/provider.ts";
import { type SigV4Identity, signSigV4 } from "../../helpers/native-upstreams/sigv4-signature.ts";

const secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const identity: SigV4Identity = {
  accessKeyId: "AKIDEXAMPLE",
  secretKey,
  region: "us-east-1",
  service: "bedrock",
};
const date = new Date("2026-11-21T12:36:00.123Z");

function connect(baseUrl: string, secret = `AKIDEXAMPLE:${secretKey}`) {
  const api = bedrock.connect({ baseUrl, secret, preset: null });
  const name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
  return { api, endpoint: api.chat({ name, outputTokensMax: null }).endpoint };
}

/** Returns the headers of a request: the endpoint's, the signature's, and the host. */
async function headersOf(endpoint: Endpoint, request: UpstreamRequest): Promise<Record<string, string>> {
  const list = [...endpoint.headers, ...((await endpoint.sign?.(request)) ?? [])];
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? ""]] : []));
  return { ...Object.fromEntries(pairs), host: new URL(endpoint.origin).host };
}

test("the reference signature equals AWS's", (t) => {
  // This is get-vanilla from the test suite that AWS publishes with its SDKs.
  const request = {
    method: "GET",
    url: "/",
    body: "",
    headers: {
      host: "example.amazonaws.com",
      "x-amz-date": "20150830T123600Z",
      authorization: "AWS4-HMAC-SHA256 SignedHeaders=host;x-amz-date",
    },
  };
  t.is(
    signSigV4(request, { ...identity, service: "service" }),
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  );
});

for (const [baseUrl, region] of [
  ["https://bedrock-runtime.eu-central-1.amazonaws.com", "eu-central-1"],
  ["https://vpce-0a1b.bedrock-runtime.ap-south-1.vpce.amazonaws.com", "ap-south-1"],
  ["http://127.0.0.1:8080/some/path?region=us-west-2", "us-west-2"],
  ["http://127.0.0.1:8080", "us-east-1"],
] as const) {
  test(`${baseUrl}: a request is signed for ${region} and passes AWS's verification`, async (t) => {
    const { api, endpoint } = connect(baseUrl);
    for (const [signed, body] of [
      [endpoint, '{"messages":[{"role":"user","content":[{"text":"Grüezi 🌍"}]}]}'],
      [api.modelsEndpoint, ""],
    ] as const) {
      const method = body === "" ? "GET" : "POST";
      const headers = await headersOf(signed, { method, body: body === "" ? null : Buffer.from(body), date });
      t.is(headers["x-amz-date"], "20261121T123600Z");
      t.is(
        headers["authorization"],
        signSigV4({ method, url: signed.path, body, headers }, { ...identity, region }),
      );
    }
  });
}

test("headers that may change in transit are not signed", async (t) => {
  const headers = await headersOf(connect("http://127.0.0.1").endpoint, { method: "POST", body: null, date });
  const [, names] = /SignedHeaders=([^,]*)/.exec(headers["authorization"] ?? "") ?? [];
  t.is(names, "content-type;host;x-amz-content-sha256;x-amz-date");
});

test("the session token is sent and signed", async (t) => {
  const { endpoint } = connect("http://127.0.0.1", `AKIDEXAMPLE:${secretKey}:token/with+signs==`);
  const body = "{}";
  const headers = await headersOf(endpoint, { method: "POST", body: Buffer.from(body), date });
  t.is(headers["x-amz-security-token"], "token/with+signs==");
  t.regex(headers["authorization"] ?? "", /x-amz-security-token/);
  t.is(headers["authorization"], signSigV4({ method: "POST", url: endpoint.path, body, headers }, identity));
});

test("no header contains the secret key, and it is hidden with the other secrets", async (t) => {
  const credential = `AKIDEXAMPLE:${secretKey}:token`;
  const { endpoint, api } = connect("http://127.0.0.1", credential);
  for (const signed of [endpoint, api.modelsEndpoint]) {
    const headers = await headersOf(signed, { method: "GET", body: null, date });
    t.false(JSON.stringify(headers).includes(secretKey));
    t.is(signed.secret, credential);
  }
});
