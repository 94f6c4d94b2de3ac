import { findProgram, installPackages } from "../helpers/system-packages.ts";

/** The shells that a setup command is pasted into, and the awks of macOS, Debian, Alpine and GNU that it runs. */
export const shellNames = ["bash", "zsh", "dash"] as const;
export const awkNames = ["mawk", "original-awk", "busybox", "gawk"] as const;

/**
 * Has what is missing installed where that can be, before the tests look for it, and says in a line what will be skipped;
 * of awks any one will do.
 */
export function provideShells(say: (line: string) => void): void {
  const wanted = [...shellNames, "original-awk", "busybox"];
  const missing = wanted.filter((name) => !findProgram(name));
  if (missing.length === 0) return;
  const problem = installPackages("A shell for the tests of setup commands", missing, say);
  const skipped = missing.filter((name) => !findProgram(name));
  if (skipped.length > 0) say(`${problem ?? ""} The tests with ${skipped.join(", ")} are skipped.`);
}

export function findAwks(): string[] {
  return awkNames.filter((name) => findProgram(name));
}
