import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestCounts } from "./ava-config.ts";

/**
 * Runs ava and counts its tests. A failure outside of tests, or a run in which no test passes, counts as a failed
 * test.
 * @param config a configuration that sends the test counts, such as ava-config.ts
 */
export async function runAva(
  config: URL,
  parameters: string[],
  environment: Record<string, string>,
): Promise<TestCounts> {
  const entry = fileURLToPath(new URL("cli.js", import.meta.resolve("ava")));
  const ava = fork(entry, ["--config", fileURLToPath(config), ...parameters], {
    env: { NODE_COMPILE_CACHE: fileURLToPath(compileCache), ...process.env, ...environment },
  });
  // On SIGINT, ava lists the running tests. This process survives the signal to report the counts.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => ava.kill("SIGINT"));

  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0, slowest: [] };
  ava.on("message", (message) => {
    counts = message as TestCounts;
  });
  // "exit" may precede the last message.
  const [code, signal] = await once(ava, "close");
  if (counts.failed > 0 || (code === 0 && counts.passed > 0)) return counts;
  console.error(code === 0 ? "No test ran." : `ava ended with ${signal ?? `exit code ${code}`}.`);
  return { ...counts, failed: 1 };
}

const compileCache = new URL("../../node_modules/.cache/compile", import.meta.url);

/** The last line is machine-readable: `N passed, N failed[, N skipped]`. */
export function reportCounts({ passed, failed, skipped, slowest }: TestCounts): void {
  console.log("\nThe slowest files:");
  for (const { file, seconds } of slowest) console.log(`${String(seconds).padStart(5)} s  ${file}`);
  process.exitCode = failed === 0 ? 0 : 1;
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
}
