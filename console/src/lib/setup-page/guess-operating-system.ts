/** The browser's system, which is usually the terminal's too. */
export function guessOperatingSystem(): "posix" | "windows" {
  return /windows/i.test(navigator.userAgent) ? "windows" : "posix";
}
