/** Of the machine that the browser runs on: mostly that of the terminal, too. */
export function guessOperatingSystem(): "posix" | "windows" {
  return /windows/i.test(navigator.userAgent) ? "windows" : "posix";
}
