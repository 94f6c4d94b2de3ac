import type { SignatureV4 } from "@smithy/signature-v4";
import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from "node:crypto";
import type { Endpoint } from "../provider.ts";
import { GatewayError } from "../../errors.ts";

type BedrockEndpointOptions = {
  /** The path of this URL precedes `path`. */
  url: string;
  path: string;
  /** The media type of the answer. Bedrock requires the exact value. */
  accept: string;
  region: string;
  /** With the access key ID and the session token, because errors must not show them. */
  secret: string | null;
  /** The parsed secret. Null if a proxy adds the credential. */
  credential: BedrockCredential | null;
};

/** Sends a Bedrock API key in a header, or signs each request with a key pair. */
export function bedrockEndpoint(options: BedrockEndpointOptions): Endpoint {
  const { url, path, accept, region, secret, credential } = options;
  const { origin, host, pathname } = new URL(url);
  const endpoint: Endpoint = {
    origin,
    path: `${pathname.replace(/\/+$/, "")}${path}`,
    headers: [
      ...(credential?.kind === "bearer" ? ["authorization", `Bearer ${credential.apiKey}`] : []),
      "content-type",
      contentType,
      "accept",
      accept,
      "accept-encoding",
      "identity",
      "user-agent",
      "model-gateway",
    ],
    secret,
  };
  return credential?.kind === "signature"
    ? { ...endpoint, sign: signatureFor({ host, path: endpoint.path, region, credential }) }
    : endpoint;
}

type SignatureOptions = {
  host: string;
  /** The path as sent. AWS signatures encode it a second time, except for S3. */
  path: string;
  region: string;
  credential: BedrockCredential & { kind: "signature" };
};

/**
 * Signs the method, path, body, host, content type and AWS's own headers, but no header that a proxy may change.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function signatureFor({ host, path, region, credential }: SignatureOptions): NonNullable<Endpoint["sign"]> {
  let signer: SignatureV4 | undefined;
  return async ({ method, body, date }) => {
    const { SignatureV4 } = await import("@smithy/signature-v4");
    signer ??= new SignatureV4({ service: "bedrock", region, credentials: credential, sha256: NodeSha256 });
    const sent = { host, "content-type": contentType };
    const request = {
      method,
      protocol: "https:",
      hostname: host,
      path,
      headers: sent,
      body: body ?? undefined,
    };
    const { headers } = await signer.sign(request, { signingDate: date });
    return Object.entries(headers)
      .filter(([name]) => !Object.hasOwn(sent, name))
      .flat();
  };
}

const contentType = "application/json";

/** Creates key objects, because an HMAC with a key in bytes is several times slower. */
class NodeSha256 {
  readonly #secret: Source | undefined;
  #hash: Hash | Hmac;

  constructor(secret?: Source) {
    this.#secret = secret;
    this.#hash = begin(secret);
  }

  update(data: Source): void {
    this.#hash.update(toBytes(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  reset(): void {
    this.#hash = begin(this.#secret);
  }
}

type Source = string | ArrayBuffer | ArrayBufferView;

function begin(secret: Source | undefined): Hash | Hmac {
  return secret === undefined ? createHash("sha256") : createHmac("sha256", createSecretKey(toBytes(secret)));
}

function toBytes(data: Source): Buffer {
  if (typeof data === "string") return Buffer.from(data);
  return data instanceof ArrayBuffer
    ? Buffer.from(data)
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

export type BedrockCredential =
  | { kind: "signature"; accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined }
  | { kind: "bearer"; apiKey: string };

/**
 * Accepts `accessKeyId:secretAccessKey`, `accessKeyId:secretAccessKey:sessionToken` or, without a colon, a Bedrock API
 * key. Throws `invalid_value` for other formats.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
 */
export function parseBedrockCredential(secret: string): BedrockCredential {
  const parts = secret.split(":");
  if (parts.length > 3 || !parts.every((part) => /^[\x21-\x7e]+$/.test(part))) {
    throw new GatewayError(
      "invalid_value",
      "The credential has an invalid format. Use a Bedrock API key, accessKeyId:secretAccessKey or accessKeyId:secretAccessKey:sessionToken.",
      { param: "apiKey" },
    );
  }
  const [first = "", secretAccessKey, sessionToken] = parts;
  return secretAccessKey === undefined
    ? { kind: "bearer", apiKey: first }
    : { kind: "signature", accessKeyId: first, secretAccessKey, sessionToken };
}
