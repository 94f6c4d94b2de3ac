import type { SecretBox } from "../credentials/secret-box.ts";
import { GatewayError } from "../errors.ts";
import { ValkeyConnection } from "../limits/valkey/valkey-connection.ts";
import type { Log } from "../log.ts";
import {
  countBytes,
  packResponse,
  responseOverheadBytes,
  unpackResponse,
  type KeptResponse,
  type ResponseStore,
} from "./response-store.ts";

type ValkeyStoreOptions = {
  url: string;
  timeoutMs: number;
  keptMs: number;
  keyBytesMax: number;
  secretBox: Pick<SecretBox, "seal" | "openBytes" | "sealingKeyId">;
  log: Log;
};

/** Has its own connection, because large responses would delay rate-limit commands. */
export class ValkeyStore implements ResponseStore {
  readonly #options: ValkeyStoreOptions;
  readonly #connection: ValkeyConnection;

  constructor(options: ValkeyStoreOptions) {
    const { url, timeoutMs, log } = options;
    this.#options = options;
    this.#connection = new ValkeyConnection({
      url,
      timeoutMs,
      log,
      greet: (client) => client.ping(),
      came: () => {},
      messages: {
        lost: "Valkey is unavailable: responses cannot be stored or retrieved",
        back: "Valkey is available again: responses can be stored and retrieved",
      },
    });
  }

  /** Resolves after the first attempt to connect. */
  attempted(): Promise<void> {
    return this.#connection.attempted();
  }

  /** Does not wait for Valkey. If the command fails later, follow-ups do not find the response. */
  keep(keyId: string, id: string, kept: KeptResponse): boolean {
    const { keyBytesMax, secretBox, keptMs } = this.#options;
    if (!this.#connection.isThere || secretBox.sealingKeyId === null) return false;
    if (countBytes(kept) > keyBytesMax) return false;
    const sealed = secretBox.seal(packResponse(kept), fieldOf(keyId, id));
    // The sealed text is base64url, which is a third longer than the sealed bytes.
    const bytesMax = Math.ceil((keyBytesMax * 4) / 3);
    const keys = [indexKey(keyId), responseKey(keyId, id)];
    const values = [sealed, keptMs, bytesMax, memberOf(sealed, id), responseKey(keyId, "")];
    void this.#connection.run((client) => client.eval(keepScript, 2, ...keys, ...values));
    return true;
  }

  async find(keyId: string, id: string): Promise<KeptResponse | null> {
    const { secretBox, keptMs } = this.#options;
    const found = await this.#connection.run(async (client) => ({
      sealed: await client.getex(responseKey(keyId, id), "PX", keptMs),
    }));
    if (found === null) throw unavailable();
    const { sealed } = found;
    if (sealed === null) return null;
    const member = memberOf(sealed, id);
    void this.#connection.run((client) => client.eval(renewScript, 1, indexKey(keyId), keptMs, member));
    try {
      return unpackResponse(secretBox.openBytes(sealed, fieldOf(keyId, id)));
    } catch {
      // The sealing key may be missing, for example.
      return null;
    }
  }

  async delete(keyId: string, id: string): Promise<boolean> {
    const keys = [indexKey(keyId), responseKey(keyId, id)];
    const values = [responseOverheadBytes, id];
    const count = await this.#connection.run((client) => client.eval(deleteScript, 2, ...keys, ...values));
    if (count === null) throw unavailable();
    return count === 1;
  }

  forget(keyId: string): void {
    const keys = [indexKey(keyId), responseKey(keyId, "")];
    void this.#connection.run((client) => client.eval(forgetScript, 2, ...keys));
  }

  close(): void {
    this.#connection.close();
  }
}

function unavailable(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The stored responses are unavailable. Retry in a moment, or send the whole conversation in `input`.",
    { retryAfterSeconds: 1 },
  );
}

const fieldOf = (keyId: string, id: string) => ({ kind: "response", id, field: keyId });

// Braces make a Valkey cluster store both keys on one server, which a script requires.
const responseKey = (keyId: string, id: string) => `{model-gateway}:response:${keyId}:${id}`;
/** A sorted set of the API key's responses and their bytes, by last use. */
const indexKey = (keyId: string) => `{model-gateway}:responses:${keyId}`;
const memberOf = (sealed: string, id: string) => `${sealed.length + responseOverheadBytes}:${id}`;

const milliseconds = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** Keeps a response, then drops the key's least recently used responses above the byte limit. */
const keepScript = `${milliseconds}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local members = redis.call('ZRANGE', KEYS[1], 0, -1)
local bytes = 0
for _, member in ipairs(members) do bytes = bytes + member:match('^%d+') end
for _, member in ipairs(members) do
  if bytes <= tonumber(ARGV[3]) then break end
  bytes = bytes - member:match('^%d+')
  redis.call('ZREM', KEYS[1], member)
  redis.call('DEL', ARGV[5] .. member:match(':(.*)$'))
end`;

const renewScript = `${milliseconds}
redis.call('ZADD', KEYS[1], 'XX', now, ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[1])`;

const deleteScript = `
local bytes = redis.call('STRLEN', KEYS[2]) + ARGV[1]
redis.call('ZREM', KEYS[1], bytes .. ':' .. ARGV[2])
return redis.call('DEL', KEYS[2])`;

const forgetScript = `
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  redis.call('DEL', KEYS[2] .. member:match(':(.*)$'))
end
redis.call('DEL', KEYS[1])`;
