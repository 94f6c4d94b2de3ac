import test from "ava";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { signSigV4 } from "../helpers/native-upstreams/sigv4-signature.ts";
import type { SeenRequest } from "../helpers/scripted-upstream.ts";
import { converseBody, post, signed } from "./vendor-requests.ts";

test("Bedrock rejects wrong, late and partial signatures", (t) => {
  const request = signed(post(`/model/${encodeURIComponent(bedrockForm.model)}/converse`, {}, converseBody));
  const { headers } = request;
  const wrong: [change: Partial<SeenRequest>, says: RegExp][] = [
    [{ headers: { ...headers, authorization: undefined } }, /Missing Authentication Token/],
    [{ body: `${request.body} ` }, /does not match/],
    [{ url: request.url.replace("converse", "converse-stream") }, /does not match/],
    [{ headers: { ...headers, "x-amz-date": "20150830T123600Z" } }, /Signature expired/],
    [{ headers: { ...headers, "x-amz-target": "other" } }, /not signed: x-amz-target/],
  ];
  for (const [change, says] of wrong)
    t.throws(() => bedrockForm.read({ ...request, ...change }), { message: says });
});

/** The requests are get-vanilla and post-vanilla from AWS's own test suite for signatures. */
test("signatures equal AWS's own", (t) => {
  const headers = {
    host: "example.amazonaws.com",
    "x-amz-date": "20150830T123600Z",
    authorization: "SignedHeaders=host;x-amz-date",
  };
  const identity = { accessKeyId: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
  const sign = (method: string) =>
    signSigV4(
      { method, url: "/", headers, body: "" },
      { ...identity, region: "us-east-1", service: "service" },
    );
  t.regex(sign("GET"), /Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31$/);
  t.regex(sign("POST"), /Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b$/);
});
