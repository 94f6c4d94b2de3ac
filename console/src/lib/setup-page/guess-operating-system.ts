/** The browser's system, which usually also runs the terminal. */
export function guessOperatingSystem(): "posix" | "windows" {
  return /windows/i.test(navigator.userAgent) ? "windows" : "posix";
}
