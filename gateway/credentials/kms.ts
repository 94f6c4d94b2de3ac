import type { KMSClient } from "@aws-sdk/client-kms";

type KmsOptions = {
  /** The ARN, id or alias of a symmetric KMS key. */
  keyId: string;
  /** What KMS binds every data key to: it unwraps one only for the context it was wrapped with. */
  encryptionContext: Record<string, string>;
  timeoutMs: number;
};

/** A data key as KMS wrapped it. */
export type WrappedKey = { wrapped: string; kmsKeyId: string };

/**
 * AWS KMS, which makes data keys and unwraps them
 * (https://docs.aws.amazon.com/kms/latest/developerguide/data-keys.html). Region and credentials are found as every AWS
 * SDK finds them. Its operations throw `KmsError`.
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
    // 30 MB and 70 ms that only those pay who use KMS.
    const sdk = await import("@aws-sdk/client-kms");
    // KMS is asked once or twice in a process's life: no connection is worth keeping.
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
    // The signal alone ends neither the search for credentials nor the pauses between attempts.
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

/** The message says in a few words what is wrong, for `/readyz` and the log: no ARN, no secret. */
export class KmsError extends Error {
  override readonly name = "KmsError";
}

type Sdk = typeof import("@aws-sdk/client-kms");

const keyBytes = 32;
const oddAnswer = "KMS gave an answer without a key of 32 bytes";

/** An ARN says which region to ask; a bare id does not, and is looked for in the process's own. */
function regionOf(keyId: string): { region?: string } {
  const [arn, , , region] = keyId.split(":");
  return arn === "arn" && region ? { region } : {};
}

function explain(error: unknown, timeoutMs: number): string {
  const name = error instanceof Error ? error.name : "unknown";
  if (name === "TimeoutError" || name === "AbortError") return `KMS does not answer within ${timeoutMs} ms`;
  if (name === "CredentialsProviderError") return "there are no AWS credentials for KMS";
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return `KMS cannot be reached (${code})`;
  const advice = advices[name];
  return advice === undefined ? `KMS cannot be used (${name})` : `KMS refuses (${name}): ${advice}`;
}

const advices: Record<string, string> = {
  AccessDeniedException: "check the key's policy, the role, and KMS_ENCRYPTION_CONTEXT",
  DisabledException: "the KMS key is disabled",
  IncorrectKeyException: "the data key was wrapped with another KMS key",
  InvalidCiphertextException: "KMS_ENCRYPTION_CONTEXT is not the one the data key was wrapped with",
  KMSInvalidStateException: "the KMS key cannot be used in its state",
  NotFoundException: "there is no such KMS key in this account and region",
};
