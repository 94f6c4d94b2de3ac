import { createHash, createHmac } from "node:crypto";
import type { SeenRequest } from "../scripted-upstream.ts";

/**
 * Returns the expected `authorization` header of a received AWS request. Uses the request's own date and list of
 * signed headers, so the caller must check both.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function signSigV4(
  request: SeenRequest,
  { accessKeyId, secretKey, region, service }: SigV4Identity,
): string {
  const { headers } = request;
  const { pathname, searchParams } = new URL(request.url, "http://upstream");
  const dateTime = String(headers["x-amz-date"]);
  const names = signedHeaderNames(request);
  const canonicalRequest = [
    request.method,
    // Every service except S3 encodes the path twice.
    pathname.split("/").map(encode).join("/"),
    [...searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .toSorted()
      .join("&"),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, " ")}`),
    "",
    names.join(";"),
    sha256(request.body),
  ].join("\n");
  const scope = [dateTime.slice(0, 8), region, service, "aws4_request"];
  const toSign = ["AWS4-HMAC-SHA256", dateTime, scope.join("/"), sha256(canonicalRequest)].join("\n");
  const key = scope.reduce<Buffer>((base, part) => hmac(base, part), Buffer.from(`AWS4${secretKey}`));
  const signature = hmac(key, toSign).toString("hex");
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join("/")}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
}

export type SigV4Identity = { accessKeyId: string; secretKey: string; region: string; service: string };

export function signedHeaderNames({ headers }: SeenRequest): string[] {
  const [, names = ""] = /SignedHeaders=([^,]*)/.exec(headers.authorization ?? "") ?? [];
  return names.split(";");
}

/** Encodes per RFC 3986: everything except letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
