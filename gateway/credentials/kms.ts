import type { KMSClient } from "@aws-sdk/client-kms";

type KmsOptions = {
  /** The ARN, ID or alias of a symmetric KMS key. */
  keyId: string;
  /** Must not change, because KMS unwraps a data key only with its original context. */
  encryptionContext: Record<string, string>;
  timeoutMs: number;
};

export type WrappedKey = { wrapped: string; kmsKeyId: string };

/**
 * Throws `KmsError`. Uses the AWS SDK's default credentials, and its default region unless the key's ID is an ARN.
 * https://docs.aws.amazon.com/kms/latest/developerguide/data-keys.html
 */
export class Kms {
  readonly #options: KmsOptions;

  constructor(options: KmsOptions) {
    this.#options = options;
  }

  generateDataKey(): Promise<WrappedKey & { key: Buffer }> {
    const { keyId, encryptionContext } = this.#options;
    return this.#call(keyId, async ({ GenerateDataKeyCommand }, client, options) => {
      const input = { KeyId: keyId, KeySpec: "AES_256", EncryptionContext: encryptionContext } as const;
      const { Plaintext, CiphertextBlob, KeyId } = await client.send(
        new GenerateDataKeyCommand(input),
        options,
      );
      if (Plaintext?.length !== keyBytes || !CiphertextBlob || KeyId === undefined)
        throw new KmsError(oddAnswer);
      const wrapped = Buffer.from(CiphertextBlob).toString("base64");
      return { key: Buffer.from(Plaintext), wrapped, kmsKeyId: KeyId };
    });
  }

  unwrap({ wrapped, kmsKeyId }: WrappedKey): Promise<Buffer> {
    return this.#call(kmsKeyId, async ({ DecryptCommand }, client, options) => {
      const input = {
        KeyId: kmsKeyId,
        CiphertextBlob: Buffer.from(wrapped, "base64"),
        EncryptionContext: this.#options.encryptionContext,
      };
      const { Plaintext } = await client.send(new DecryptCommand(input), options);
      if (Plaintext?.length !== keyBytes) throw new KmsError(oddAnswer);
      return Buffer.from(Plaintext);
    });
  }

  async #call<Result>(
    keyId: string,
    operation: (sdk: Sdk, client: KMSClient, options: { abortSignal: AbortSignal }) => Promise<Result>,
  ): Promise<Result> {
    const { timeoutMs } = this.#options;
    // The import is dynamic, because loading the SDK costs 30 MB and 70 ms.
    const sdk = await import("@aws-sdk/client-kms");
    // No connection is kept, because a process rarely calls KMS.
    const client = new sdk.KMSClient({
      ...regionOf(keyId),
      maxAttempts: 3,
      requestHandler: {
        requestTimeout: timeoutMs / 2,
        connectionTimeout: timeoutMs / 2,
        throwOnRequestTimeout: true,
      },
    });
    const signal = AbortSignal.timeout(timeoutMs);
    // The signal alone stops neither the credential lookup nor the retry delays.
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    try {
      return await Promise.race([operation(sdk, client, { abortSignal: signal }), tooLate]);
    } catch (error) {
      throw error instanceof KmsError ? error : new KmsError(explain(error, timeoutMs), { cause: error });
    } finally {
      client.destroy();
    }
  }
}

/** The message contains neither ARNs nor secrets, because `/readyz` shows it. */
export class KmsError extends Error {
  override readonly name = "KmsError";
}

type Sdk = typeof import("@aws-sdk/client-kms");

const keyBytes = 32;
const oddAnswer = "KMS did not return a 32-byte key. Check the KMS key";

/** An ARN contains the region. For other IDs, the SDK uses its default region. */
function regionOf(keyId: string): { region?: string } {
  const [arn, , , region] = keyId.split(":");
  return arn === "arn" && region ? { region } : {};
}

function explain(error: unknown, timeoutMs: number): string {
  const name = error instanceof Error ? error.name : "unknown";
  if (name === "TimeoutError" || name === "AbortError")
    return `KMS did not respond within ${timeoutMs} ms. Check the network, or raise KMS_TIMEOUT_MS`;
  if (name === "CredentialsProviderError")
    return "AWS credentials for KMS are missing. Check the gateway's role or AWS variables";
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^E[A-Z]+$/.test(code))
    return `KMS is unreachable (${code}). Check the network and the region`;
  const advice = advices[name];
  return advice === undefined
    ? `KMS failed (${name}). Check the KMS key`
    : `KMS rejected the request (${name}). ${advice}`;
}

const advices: Record<string, string> = {
  AccessDeniedException: "Check the key policy, the role and KMS_ENCRYPTION_CONTEXT",
  DisabledException: "Enable the KMS key",
  IncorrectKeyException: "Set KMS_KEY_ID to the key that wrapped the data key",
  InvalidCiphertextException: "Set KMS_ENCRYPTION_CONTEXT to the value with which the data key was created",
  KMSInvalidStateException: "Check the state of the KMS key",
  NotFoundException: "Check KMS_KEY_ID, the account and the region",
};
