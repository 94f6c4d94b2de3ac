import type { Config } from "../config/config.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import type { Runtime } from "../runtime.ts";
import { KeptResponses } from "./kept-responses.ts";
import { MemoryStore } from "./memory-store.ts";

/** Creates the store that `RESPONSES_STATE` selects. Null if responses are not kept. */
export async function startKeptResponses(
  { responsesState, valkeyUrl, limits }: Config,
  { runtime, secretBox }: { runtime: Runtime; secretBox: SecretBox },
) {
  const { responsesKeptMs: keptMs, responsesBytesMax: bytesMax, responsesPerKeyBytesMax } = limits;
  const common = { keptMs, keyBytesMax: responsesPerKeyBytesMax };
  if (responsesState === "memory") {
    const store = new MemoryStore({ ...common, now: runtime.now, bytesMax });
    return { keptResponses: new KeptResponses({ store, limits }), close: () => store.close() };
  }
  if (responsesState === "off" || valkeyUrl === null) return { keptResponses: null, close: () => {} };
  // The import runs only if Valkey keeps responses.
  const { ValkeyStore } = await import("./valkey-store.ts");
  const { log } = runtime;
  const timeoutMs = limits.valkeyTimeoutMs;
  const store = new ValkeyStore({ ...common, url: valkeyUrl, timeoutMs, secretBox, log });
  await store.attempted();
  return { keptResponses: new KeptResponses({ store, limits }), close: () => store.close() };
}
