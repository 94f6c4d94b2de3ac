import { setTimeout as sleep } from "node:timers/promises";

/** Polls a condition until its result is not null, undefined or false. Prefer an event if there is one. */
export async function eventually<Value>(
  ask: () => Value | null | undefined | false | Promise<Value | null | undefined | false>,
  timeoutMs = 10_000,
): Promise<Value> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (performance.now() > deadline) throw new Error(`It did not happen within ${timeoutMs} ms: ${ask}`);
    await sleep(10);
  }
}
