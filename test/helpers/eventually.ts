import { setTimeout as sleep } from "node:timers/promises";

/** Only a hang takes this long: a busy machine is slow, but not this slow. */
export const hangMs = 120_000;

/** Polls a condition until its result is not null, undefined or false. Prefer an event if there is one. */
export async function eventually<Value>(
  ask: () => Value | null | undefined | false | Promise<Value | null | undefined | false>,
  timeoutMs = hangMs,
): Promise<Value> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`It did not happen within ${timeoutMs} ms: ${ask}`);
    await sleep(10);
  }
}

export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
