import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { ExecutionContext } from "ava";

/**
 * Starts a stand-in for AWS KMS with its JSON protocol. The stand-in decrypts a data key only with the KMS
 * key and the encryption context that encrypted it.
 */
export async function startFakeKms(t: Pick<ExecutionContext, "teardown">): Promise<FakeKms> {
  const secret = randomBytes(32);
  const kms: Pick<FakeKms, "calls" | "behave" | "keys" | "holdUntil"> = {
    calls: [],
    holdUntil: null,
    behave: () => undefined,
    keys: [keyArn, otherKeyArn],
  };
  const server = createServer(async (request, response) => {
    const call = await readCall(request);
    kms.calls.push(call);
    await held(call);
    const fault = kms.behave(call, kms.calls.length);
    if (fault === "hang") return;
    if (fault === "reset") return void request.socket.destroy();
    if (fault) return refuse(response, fault);
    const operation = call.operation === "GenerateDataKey" ? generate : decrypt;
    operation(call.input, response);
  });

  const arrived = Promise.withResolvers<void>();
  async function held({ operation }: Call): Promise<void> {
    if (kms.holdUntil?.operation !== operation) return;
    const count = kms.calls.filter((call) => call.operation === operation).length;
    if (count >= kms.holdUntil.count) arrived.resolve();
    await arrived.promise;
  }

  function generate({ KeyId, EncryptionContext, KeySpec }: Call["input"], response: ServerResponse): void {
    const key = findKey(KeyId);
    if (!key) return refuse(response, "NotFoundException");
    if (KeySpec !== "AES_256") return refuse(response, "ValidationException");
    const plaintext = randomBytes(32);
    const iv = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", secret, iv).setAAD(binding(key, EncryptionContext));
    const blob = Buffer.concat([Buffer.from(`${key}\0`), iv, cipher.update(plaintext), cipher.final()]);
    const wrapped = Buffer.concat([blob, cipher.getAuthTag()]).toString("base64");
    answer(response, { KeyId: key, Plaintext: plaintext.toString("base64"), CiphertextBlob: wrapped });
  }

  function decrypt(
    { KeyId, CiphertextBlob = "", EncryptionContext }: Call["input"],
    response: ServerResponse,
  ): void {
    const blob = Buffer.from(CiphertextBlob, "base64");
    const key = blob.subarray(0, blob.indexOf(0)).toString();
    const rest = blob.subarray(blob.indexOf(0) + 1);
    if (!kms.keys.includes(key)) return refuse(response, "NotFoundException");
    if (findKey(KeyId) !== key) return refuse(response, "IncorrectKeyException");
    try {
      const decipher = createDecipheriv("aes-256-gcm", secret, rest.subarray(0, 12), { authTagLength: 16 })
        .setAAD(binding(key, EncryptionContext))
        .setAuthTag(rest.subarray(-16));
      const plaintext = Buffer.concat([decipher.update(rest.subarray(12, -16)), decipher.final()]);
      answer(response, { KeyId: key, Plaintext: plaintext.toString("base64") });
    } catch {
      refuse(response, "InvalidCiphertextException");
    }
  }

  function findKey(id = ""): string | undefined {
    return kms.keys.find((arn) => arn === id || arn.endsWith(`/${id}`));
  }

  let port = 0;
  const start = async () => {
    await once(server.listen(port, "127.0.0.1"), "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await start();
  t.teardown(stop);
  return Object.assign(kms, { url: `http://127.0.0.1:${port}`, start, stop });
}

export type FakeKms = {
  url: string;
  calls: Call[];
  keys: string[];
  /** A returned fault replaces the response to the call. */
  behave(call: Call, count: number): Fault | undefined;
  /** Holds the calls of an operation until `count` of them have arrived. */
  holdUntil: { operation: string; count: number } | null;
  /** Stops the server. `start` reopens the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

export type Fault = "hang" | "reset" | `${string}Exception`;

type Call = {
  operation: string;
  authorization: string;
  input: {
    KeyId?: string;
    KeySpec?: string;
    CiphertextBlob?: string;
    EncryptionContext?: Record<string, string>;
  };
};

export const keyArn = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
export const otherKeyArn = "arn:aws:kms:eu-central-1:111122223333:key/9999abcd-12ab-34cd-56ef-1234567890ab";

export function awsEnvironment({ url }: FakeKms): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_KMS: url,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
    AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const [service, operation = ""] = String(request.headers["x-amz-target"]).split(".");
  if (service !== "TrentService") throw new Error(`KMS is not called ${service}`);
  return {
    operation,
    authorization: request.headers.authorization ?? "",
    input: (await json(request)) as Call["input"],
  };
}

/** Sorts the context, because its order has no meaning. */
function binding(key: string, context: Record<string, string> = {}): Buffer {
  return Buffer.from(JSON.stringify([key, Object.entries(context).toSorted()]));
}

function answer(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.1" });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, name: string): void {
  const status = /^(KMSInternal|DependencyTimeout)/.test(name) ? 500 : 400;
  answer(response, { __type: name, message: `refused, for ${keyArn}` }, status);
}
