import { findProgram, installPackages } from "./system-packages.ts";

/** Debian's, or any other Chromium that this machine has. */
export function findChromium(): string | undefined {
  return findProgram("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");
}

/** Gets it installed where it is missing and that can be done. `say` is given one line about what happens. */
export function provideChromium(say: (line: string) => void): boolean {
  if (findChromium()) return true;
  const problem = installPackages("Chromium", ["chromium-headless-shell"], say);
  if (findChromium()) return true;
  say(
    `${problem ?? "apt-get installed Chromium, but not where it was looked for."} The tests of the console are skipped.`,
  );
  return false;
}
