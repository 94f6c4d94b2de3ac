/** A time as OpenAI's `x-ratelimit-reset-*` headers have it: `20ms`, `7.5s`, `1m0s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)}ms`;
  const seconds = Math.ceil(ms) / 1_000;
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}m${Math.round((seconds - minutes * 60) * 1_000) / 1_000}s`;
}
