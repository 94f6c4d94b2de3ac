/** Loads parts that a page does not show at first, while the browser is idle. Failures are not reported. */
export function whenIdle(load: () => Promise<unknown>): void {
  const start = () => void load().catch(() => {});
  // Safari has no idle callbacks.
  if ("requestIdleCallback" in globalThis) requestIdleCallback(start);
  else setTimeout(start, 1_000);
}

/** Resolves after the next paint, or at once in a hidden tab, which does not paint. */
export function afterPaint(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Once the part is loaded, calls return it without a promise, so that Back restores the scroll position. */
export function loadOnce<Part>(load: () => Promise<Part>): () => Part | Promise<Part> {
  let loaded: Part | undefined;
  return () => loaded ?? load().then((part) => (loaded = part));
}
