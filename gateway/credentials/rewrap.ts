import type { Database } from "../../db/database.ts";
import type { CredentialRow } from "../../db/entities/provider.ts";
import { resealCredential } from "./credential.ts";
import type { DataKeys } from "./data-keys.ts";
import { type SecretBox, sealingKeyIdOf } from "./secret-box.ts";

type RewrapOptions = {
  database: Database;
  secretBox: SecretBox;
  /** null when a master key seals: then the new key is the one that is configured. */
  dataKeys: Pick<DataKeys, "create"> | null;
};

/** `failed`: ids of credentials that no key opens. */
export type RewrapResult = { keyId: string; moved: number; failed: string[] };

/**
 * Moves everything sealed to the key that seals, and to a new data key if nothing is left with an older one: so that a
 * rewrap that was stopped goes on where it was. Each secret moves by itself, and is at no time without a key that opens it.
 */
export async function rewrap(options: RewrapOptions): Promise<RewrapResult> {
  const { secretBox, dataKeys } = options;
  if (dataKeys && (await listOlder(options)).length === 0) await dataKeys.create();
  const failed = new Set<string>();
  let moved = 0;
  for (;;) {
    // Again and again: a process that has not heard of the new key yet may still seal with the old one.
    const older = (await listOlder(options)).filter(({ id }) => !failed.has(id));
    if (older.length === 0) break;
    for (const credential of older) {
      const outcome = await move(credential, options);
      if (outcome === "moved") moved++;
      if (outcome === "failed") failed.add(credential.id);
    }
  }
  return { keyId: secretBox.sealingKeyId ?? "", moved, failed: [...failed] };
}

/** What another key sealed than the one that seals now. */
async function listOlder({ database, secretBox }: RewrapOptions): Promise<CredentialRow[]> {
  const credentials = await database.read(({ providers }) => providers.listCredentials());
  return credentials.filter(({ sealed }) => sealingKeyIdOf(sealed) !== secretBox.sealingKeyId);
}

async function move(
  credential: CredentialRow,
  { database, secretBox }: RewrapOptions,
): Promise<"moved" | "changed" | "failed"> {
  let resealed: string;
  try {
    resealed = resealCredential(secretBox, credential);
  } catch {
    return "failed";
  }
  const isMoved = await database.write(({ providers }) => providers.resealCredential(credential, resealed));
  return isMoved ? "moved" : "changed";
}
