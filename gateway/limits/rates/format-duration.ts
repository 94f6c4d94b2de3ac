/** Whole seconds as OpenAI's `x-ratelimit-reset-*` headers have them: `7s`, `1m0s`. */
export function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
