import { findProgram, installPackages } from "../helpers/system-packages.ts";

export const shellNames = ["bash", "zsh", "dash"] as const;
/** The awks of Debian, macOS, Alpine and GNU. */
export const awkNames = ["mawk", "original-awk", "busybox", "gawk"] as const;

/** Installs missing shells, original-awk and busybox if possible. Otherwise reports that their tests are skipped. */
export function provideShells(say: (line: string) => void): void {
  const wanted = [...shellNames, "fish", "original-awk", "busybox"];
  const missing = wanted.filter((name) => !findProgram(name));
  if (missing.length === 0) return;
  const problem = installPackages("A shell for the tests of setup commands", missing, say);
  const skipped = missing.filter((name) => !findProgram(name));
  if (skipped.length > 0) say(`${problem ?? ""} The tests with ${skipped.join(", ")} are skipped.`);
}

export function findAwks(): string[] {
  return awkNames.filter((name) => findProgram(name));
}
