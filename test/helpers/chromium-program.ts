import { findProgram, installPackages } from "./system-packages.ts";

export function findChromium(): string | undefined {
  return findProgram("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");
}

/** Installs Chromium if it is missing and can be installed. `say` receives the progress and problems, line by line. */
export function provideChromium(say: (line: string) => void): boolean {
  if (findChromium()) return true;
  const problem = installPackages("Chromium", ["chromium-headless-shell"], say);
  if (findChromium()) return true;
  say(
    `${problem ?? "apt-get installed Chromium, but not where it was looked for."} The tests of the console are skipped.`,
  );
  return false;
}
