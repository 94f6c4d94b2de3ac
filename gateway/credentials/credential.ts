import type { CredentialRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "./secret-box.ts";
import { GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import type { Runtime } from "../runtime.ts";

export type NewCredential = {
  providerId: string;
  apiKey: string;
  /** Relative to the weights of the provider's other credentials. */
  weight?: number | undefined;
};

/** The sealed API key can be opened only with the ID of the returned row. */
export function sealCredential(
  secretBox: SecretBox,
  runtime: Runtime,
  { providerId, apiKey, weight = 1 }: NewCredential,
): CredentialRow {
  const id = createId("crd", runtime);
  // Four characters would reveal too much of a short key.
  const lastFour = apiKey.length >= 16 ? apiKey.slice(-4) : "";
  const sealed = secretBox.seal(apiKey, fieldOf(id));
  return { id, providerId, sealed, lastFour, weight, createdAt: new Date(runtime.now()) };
}

/** Throws `service_unavailable` if the secret cannot be opened. */
export function openCredential(secretBox: SecretBox, { id, sealed }: CredentialRow): string {
  try {
    return secretBox.open(sealed, fieldOf(id));
  } catch (cause) {
    const message =
      "The provider's credential cannot be decrypted, because its encryption key is missing. Restore that key, or enter the credential again.";
    throw new GatewayError("service_unavailable", message, { cause });
  }
}

/** Uses the box's current sealing key. Throws if the secret cannot be opened. */
export function resealCredential(secretBox: SecretBox, { id, sealed }: CredentialRow): string {
  return secretBox.seal(secretBox.open(sealed, fieldOf(id)), fieldOf(id));
}

function fieldOf(id: string) {
  return { kind: "credential", id, field: "secret" };
}
