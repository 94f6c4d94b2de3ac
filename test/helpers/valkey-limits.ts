import type { ExecutionContext } from "ava";
import type { HolderLimits } from "../../gateway/limits/rates/holder-limits.ts";
import { Meter } from "../../gateway/limits/rates/meter.ts";
import { ValkeyLimits } from "../../gateway/limits/valkey/valkey-limits.ts";
import { createLog } from "../../gateway/log.ts";
import { hangMs } from "./eventually.ts";

let sessions = 0;

/** Each connection stands for a process. */
export async function connectValkeyLimits(
  t: Pick<ExecutionContext, "teardown">,
  url: string,
  now: () => number,
): Promise<ValkeyLimits> {
  const limits = new ValkeyLimits({
    url,
    timeoutMs: hangMs,
    log: createLog("silent", { write() {} }),
    meters: new Map(),
    createSessionName: () => `session_${++sessions}`,
    now,
  });
  t.teardown(() => limits.close());
  await limits.attempted();
  return limits;
}

export function holderOf(id: string, limits: Partial<HolderLimits>): HolderLimits {
  const none = { requestsPerMinute: 0, tokensPerMinute: 0, concurrentRequests: 0 };
  return { ...none, id, holder: "key", meter: new Meter(), ...limits };
}
