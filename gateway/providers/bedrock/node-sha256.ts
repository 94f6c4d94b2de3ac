import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from "node:crypto";

/**
 * The hash that AWS's signer is given. Its own one hands Node the keys as bytes, which takes Node several times as long as
 * a key object.
 */
export class NodeSha256 {
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
