import { GatewayError } from "../../errors.ts";

/** What requests are made with: keys of an AWS identity, to sign them, or a Bedrock API key, to send along. */
export type BedrockCredential =
  | { kind: "signature"; accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined }
  | { kind: "bearer"; apiKey: string };

/**
 * `accessKeyId:secretAccessKey`, `accessKeyId:secretAccessKey:sessionToken` or, without a colon, a Bedrock API key.
 * Throws `invalid_value`. https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
 */
export function parseBedrockCredential(secret: string): BedrockCredential {
  const parts = secret.split(":");
  if (parts.length > 3 || !parts.every(isKey)) {
    throw new GatewayError(
      "invalid_value",
      "The credential must be a Bedrock API key, or accessKeyId:secretAccessKey, or accessKeyId:secretAccessKey:sessionToken.",
      { param: "apiKey" },
    );
  }
  const [first = "", secretAccessKey, sessionToken] = parts;
  return secretAccessKey === undefined
    ? { kind: "bearer", apiKey: first }
    : { kind: "signature", accessKeyId: first, secretAccessKey, sessionToken };
}

/** What can be in a header. */
function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
