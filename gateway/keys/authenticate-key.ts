import { GatewayError } from "../errors.ts";
import type { KeyCache, KnownKey } from "./key-cache.ts";
import { hashKeyValue, isKeyValue } from "./key-value.ts";
import type { LastUsed } from "./last-used.ts";
import type { Runtime } from "../runtime.ts";

export type AuthenticateKeyOptions = { keyCache: KeyCache; lastUsed: LastUsed; runtime: Runtime };

/**
 * The key of a value, synchronously when it is cached, the usual case. Throws `missing_api_key`, `invalid_api_key`, or
 * `service_unavailable` when the database is needed and unavailable.
 */
export function authenticateKey(
  options: AuthenticateKeyOptions,
  value: string | null,
): KnownKey | Promise<KnownKey> {
  if (value === null) {
    throw new GatewayError(
      "missing_api_key",
      "The API key is missing. Send it in the header `Authorization: Bearer sk-gateway-…`.",
    );
  }
  const hash = hashKeyValue(value);
  const known = options.keyCache.peek(hash);
  if (known) return requireUsable(options, known);
  // A typo, a guess or a foreign key costs no lookup.
  if (!isKeyValue(value)) throw invalidApiKey();
  return options.keyCache.find(hash).then((key) => requireUsable(options, key));
}

/**
 * The same message for unknown, deleted, disabled and expired keys, so that an attacker learns nothing. It names all of
 * these causes for the key's owner.
 */
export function invalidApiKey(): GatewayError {
  return new GatewayError(
    "invalid_api_key",
    "The API key is invalid: it is mistyped, deactivated, expired, deleted, or not allowed from this address. Check it, or ask the administrator for a new one.",
  );
}

/** Whether the key is valid now. */
export function isUsable(key: KnownKey | null, now: number): key is KnownKey {
  return key !== null && key.isActive && (key.validUntil === null || key.validUntil > now);
}

function requireUsable({ lastUsed, runtime }: AuthenticateKeyOptions, key: KnownKey | null): KnownKey {
  const now = runtime.now();
  if (!isUsable(key, now)) throw invalidApiKey();
  lastUsed.note(key.id, now);
  return key;
}
