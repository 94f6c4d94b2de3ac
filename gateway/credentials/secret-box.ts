import { createCipheriv, createDecipheriv, hash } from "node:crypto";
import type { Runtime } from "../runtime.ts";

/** What a sealed text belongs to. It is authenticated with it: an envelope moved to another row does not open. */
export type SealedField = { kind: string; id: string; field: string };

/**
 * Seals provider keys with AES-256-GCM (NIST SP 800-38D): a new 96-bit random IV each time, the full 128-bit tag, and the
 * place it belongs to as additional data. An envelope names its form and the key that sealed it:
 * `gw1.<key id>.<iv>.<ciphertext>.<tag>`, the last three in base64url.
 */
export class SecretBox {
  readonly #key: Buffer;
  readonly #keyId: string;
  readonly #randomBytes: Runtime["randomBytes"];

  /** @param key 32 bytes. */
  constructor(key: Buffer, { randomBytes }: Pick<Runtime, "randomBytes">) {
    this.#key = key;
    this.#keyId = hash("sha256", key).slice(0, 16);
    this.#randomBytes = randomBytes;
  }

  seal(secret: string, field: SealedField): string {
    const iv = this.#randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#key, iv, { authTagLength: tagBytes });
    cipher.setAAD(additionalData(field));
    const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    const parts = [iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"));
    return [version, this.#keyId, ...parts].join(".");
  }

  /** Throws when the envelope was sealed with another key, belongs elsewhere, or was changed. */
  open(envelope: string, field: SealedField): string {
    const [form, keyId, ...encoded] = envelope.split(".");
    const [iv, ciphertext, tag] = encoded.map((part) => Buffer.from(part, "base64url"));
    if (
      form !== version ||
      encoded.length !== 3 ||
      iv?.length !== ivBytes ||
      tag?.length !== tagBytes ||
      !ciphertext
    ) {
      throw new Error("The sealed text has a form that is not known here.");
    }
    if (keyId !== this.#keyId)
      throw new Error(`The text was sealed with the master key ${keyId}, not with this one.`);
    // Without authTagLength Node accepts tags cut down to four bytes.
    const decipher = createDecipheriv(algorithm, this.#key, iv, { authTagLength: tagBytes });
    decipher.setAAD(additionalData(field));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
  }
}

const version = "gw1";
const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/** JSON, so that no two places give the same bytes. */
function additionalData({ kind, id, field }: SealedField): Buffer {
  return Buffer.from(JSON.stringify([kind, id, field]), "utf8");
}
