/** Loads parts that a page does not show at first, while the browser is idle. Failures are not reported. */
export function whenIdle(load: () => Promise<unknown>): void {
  const start = () => void load().catch(() => {});
  // Safari has no idle callbacks.
  if ("requestIdleCallback" in globalThis) requestIdleCallback(start);
  else setTimeout(start, 1_000);
}
