import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestCounts } from "./helpers/ava-config.ts";
import { provideMariadb } from "./helpers/mariadb-programs.ts";
import { type MariadbServer, startMariadb } from "./helpers/mariadb-server.ts";

/**
 * What `npm test` runs: ava with the arguments given, and one MariaDB beside it for the tests that need MySQL.
 * The last line is for programs: `N passed, N failed[, N skipped]`.
 */
async function run(parameters: string[]): Promise<void> {
  const mysql = await provideMysql();
  const { passed, failed, skipped } = await runAva(parameters, mysql.url);
  await mysql.stop();

  const failedInAll = failed + mysql.failed;
  process.exitCode = failedInAll === 0 ? 0 : 1;
  console.log(`\n${passed} passed, ${failedInAll} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
}

/** A server given by TEST_MYSQL_URL is used as it is; otherwise one is started. */
async function provideMysql(): Promise<MariadbServer & { failed: number }> {
  const none = { url: "", stop: async () => {} };
  const given = process.env.TEST_MYSQL_URL;
  if (given) return { ...none, url: given, failed: 0 };
  const programs = provideMariadb(console.log);
  if (!programs) {
    // At a desk half a suite is better than none; where it decides what lands, it has to be whole.
    const failed = process.env.CI === "true" ? 1 : 0;
    if (failed) console.error("Under CI=true that counts as a failure.");
    return { ...none, failed };
  }
  try {
    return { ...(await startMariadb(programs)), failed: 0 };
  } catch (error) {
    console.error(error);
    return { ...none, failed: 1 };
  }
}

async function runAva(parameters: string[], mysqlUrl: string): Promise<TestCounts> {
  const entry = fileURLToPath(new URL("cli.js", import.meta.resolve("ava")));
  const config = fileURLToPath(new URL("helpers/ava-config.ts", import.meta.url));
  const ava = fork(entry, ["--config", config, ...parameters], {
    env: { ...process.env, TEST_MYSQL_URL: mysqlUrl },
  });
  // Told to stop, this process lets ava say which tests were running, and still reports.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => ava.kill("SIGINT"));

  let counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };
  ava.on("message", (message) => {
    counts = message as TestCounts;
  });
  // Not "exit", which may come before the last message.
  const [code, signal] = await once(ava, "close");
  if (counts.failed > 0 || (code === 0 && counts.passed > 0)) return counts;
  console.error(code === 0 ? "No test ran." : `ava ended with ${signal ?? `exit code ${code}`}.`);
  return { ...counts, failed: 1 };
}

await run(process.argv.slice(2));
