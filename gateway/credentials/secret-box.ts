import { createCipheriv, createDecipheriv, hash } from "node:crypto";
import { GatewayError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";

/** Identifies where a sealed text is stored. An envelope can be opened only with the same field. */
export type SealedField = { kind: string; id: string; field: string };

/**
 * Seals secrets with AES-256-GCM (NIST SP 800-38D). The field is the additional authenticated data.
 * Envelope: `gw1.<key id>.<iv>.<ciphertext>.<tag>`.
 */
export class SecretBox {
  readonly #keys = new Map<string, Buffer>();
  readonly #randomBytes: Runtime["randomBytes"];
  #sealingKeyId: string | null = null;

  /** @param key 32 bytes. Null locks the box until `sealWith` sets a key. */
  constructor(key: Buffer | null, { randomBytes }: Pick<Runtime, "randomBytes">) {
    this.#randomBytes = randomBytes;
    if (key) this.sealWith(key);
  }

  get sealingKeyId(): string | null {
    return this.#sealingKeyId;
  }

  get keyCount(): number {
    return this.#keys.size;
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** Seals with this key from now on. Earlier keys can still open existing secrets. */
  sealWith(key: Buffer): void {
    this.openWith(key);
    this.#sealingKeyId = keyIdOf(key);
  }

  openWith(key: Buffer): void {
    this.#keys.set(keyIdOf(key), key);
  }

  /** Throws `service_unavailable` while the box is locked. */
  seal(secret: string | Buffer, field: SealedField): string {
    const key = this.#keys.get(this.#sealingKeyId ?? "");
    if (this.#sealingKeyId === null || !key) {
      const message = "The encryption key is not loaded yet. Retry later, or see /readyz for the reason.";
      throw new GatewayError("service_unavailable", message, { retryAfterSeconds: 5 });
    }
    const iv = this.#randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes });
    cipher.setAAD(additionalData(field));
    const bytes = typeof secret === "string" ? Buffer.from(secret, "utf8") : secret;
    const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
    const parts = [iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"));
    return [version, this.#sealingKeyId, ...parts].join(".");
  }

  /** Throws if the key is missing, or if the envelope was changed or belongs to another field. */
  open(envelope: string, field: SealedField): string {
    return this.openBytes(envelope, field).toString("utf8");
  }

  /** Throws like `open`. */
  openBytes(envelope: string, field: SealedField): Buffer {
    const [form, keyId = "", ...encoded] = envelope.split(".");
    const [iv, ciphertext, tag] = encoded.map((part) => Buffer.from(part, "base64url"));
    if (
      form !== version ||
      encoded.length !== 3 ||
      iv?.length !== ivBytes ||
      tag?.length !== tagBytes ||
      !ciphertext
    ) {
      throw new Error("The sealed text has an unknown format.");
    }
    const key = this.#keys.get(keyId);
    if (!key)
      throw new Error(
        `The text was sealed with the key ${keyId}, which is missing. Add that key to MASTER_KEY_PREVIOUS.`,
      );
    const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes });
    decipher.setAAD(additionalData(field));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  }
}

export function keyIdOf(key: Buffer): string {
  return hash("sha256", key).slice(0, 16);
}

export function sealingKeyIdOf(envelope: string): string {
  return envelope.split(".")[1] ?? "";
}

const version = "gw1";
const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/** With JSON, different fields never result in the same bytes. */
function additionalData({ kind, id, field }: SealedField): Buffer {
  return Buffer.from(JSON.stringify([kind, id, field]), "utf8");
}
