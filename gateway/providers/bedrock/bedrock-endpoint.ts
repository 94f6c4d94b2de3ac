import { SignatureV4 } from "@smithy/signature-v4";
import type { Endpoint } from "../provider.ts";
import { NodeSha256 } from "./node-sha256.ts";
import type { BedrockCredential } from "./bedrock-credential.ts";

type BedrockEndpointOptions = {
  /** Whose own path is kept. */
  url: string;
  path: string;
  /** The media type of the answer, which Bedrock is particular about. */
  accept: string;
  region: string;
  /** Null where a proxy has it. */
  credential: BedrockCredential | null;
};

/** An endpoint of Bedrock's, with the credential in its headers or the means to sign each request. */
export function bedrockEndpoint(options: BedrockEndpointOptions): Endpoint {
  const { url, path, accept, region, credential } = options;
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
    secret: credential && secretOf(credential),
  };
  return credential?.kind === "signature"
    ? { ...endpoint, sign: signatureFor({ host, path: endpoint.path, region, credential }) }
    : endpoint;
}

/** All of it, as it was entered: errors must not show the id or the token either. */
function secretOf(credential: BedrockCredential): string {
  if (credential.kind === "bearer") return credential.apiKey;
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])].join(":");
}

type SignatureOptions = {
  host: string;
  /** As it is sent: the signature encodes it once more, as for every service of AWS but S3. */
  path: string;
  region: string;
  credential: BedrockCredential & { kind: "signature" };
};

/**
 * Signs the method, the path, the body, the host and the content type; other headers may change on their way.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
function signatureFor({ host, path, region, credential }: SignatureOptions): NonNullable<Endpoint["sign"]> {
  const signer = new SignatureV4({ service: "bedrock", region, credentials: credential, sha256: NodeSha256 });
  return async ({ method, body, date }) => {
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
