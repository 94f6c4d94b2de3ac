import type { Database } from "../../db/database.ts";
import type { CredentialRow } from "../../db/entities/provider.ts";
import { resealCredential } from "./credential.ts";
import type { DataKeys } from "./data-keys.ts";
import { type SecretBox, sealingKeyIdOf } from "./secret-box.ts";

type RewrapOptions = {
  database: Database;
  secretBox: SecretBox;
  /** Null with a master key, because the configuration then contains the new key. */
  dataKeys: Pick<DataKeys, "create"> | null;
};

/** `failed` contains the IDs of credentials that cannot be opened. */
export type RewrapResult = { keyId: string; moved: number; failed: string[] };

/**
 * Moves all credentials to the current key. With KMS, first creates a data key if all credentials use the current
 * key. A second call continues an interrupted rewrap.
 */
export async function rewrap(options: RewrapOptions): Promise<RewrapResult> {
  const { database, secretBox, dataKeys } = options;
  if (dataKeys && (await listOlder(options)).length === 0) await dataKeys.create();
  const failed = new Set<string>();
  let moved = 0;
  for (;;) {
    // The search repeats, because a process without the new key may still seal with the old key.
    const older = (await listOlder(options)).filter(({ id }) => !failed.has(id));
    if (older.length === 0) break;
    for (const credential of older) {
      let resealed: string;
      try {
        resealed = resealCredential(secretBox, credential);
      } catch {
        failed.add(credential.id);
        continue;
      }
      if (await database.write(({ providers }) => providers.resealCredential(credential, resealed))) moved++;
    }
  }
  return { keyId: secretBox.sealingKeyId ?? "", moved, failed: [...failed] };
}

async function listOlder({ database, secretBox }: RewrapOptions): Promise<CredentialRow[]> {
  const credentials = await database.read(({ providers }) => providers.listCredentials());
  return credentials.filter(({ sealed }) => sealingKeyIdOf(sealed) !== secretBox.sealingKeyId);
}
