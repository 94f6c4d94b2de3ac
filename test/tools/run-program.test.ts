import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { runProgram } from "./run-program.ts";

/** Finding daemons requires /proc. */
const testOnLinux = process.platform === "linux" ? test : test.skip;
const environment = { PATH: process.env.PATH };

test("a program's output and exit code are returned", async (t) => {
  const folder = await createTestFolder(t);
  const script = "pwd; echo trouble >&2; exit 3";
  const result = await runProgram("sh", ["-c", script], { folder, environment, timeoutMs: 10_000 });
  t.like(result, { code: 3, stdout: `${folder}\n`, stderr: "trouble\n", isTooLate: false });
});

testOnLinux("a program that never exits is killed with its children and daemons", async (t) => {
  const folder = await createTestFolder(t);
  const script = "sleep 100 & echo $!; setsid sleep 100 & echo $!; echo $$; wait";
  const result = await runProgram("sh", ["-c", script], { folder, environment, timeoutMs: 1_000 });
  t.like(result, { code: null, isTooLate: true });
  await checkEnded(t, result.stdout, 3);
});

testOnLinux("a daemon does not outlive the program that started it", async (t) => {
  const folder = await createTestFolder(t);
  const script = "setsid sleep 100 & echo $!";
  const result = await runProgram("sh", ["-c", script], { folder, environment, timeoutMs: 10_000 });
  t.like(result, { code: 0, isTooLate: false });
  await checkEnded(t, result.stdout, 1);
});

testOnLinux("a program exits with the process that runs it", async (t) => {
  const folder = await createTestFolder(t);
  const runner = path.join(folder, "runner.ts");
  const module = JSON.stringify(path.join(import.meta.dirname, "run-program.ts"));
  const script = JSON.stringify(["-c", "echo $$ >pid; sleep 100"]);
  const settings = JSON.stringify({ folder, environment, timeoutMs: 100_000 });
  await writeFile(
    runner,
    `import { runProgram } from ${module}; await runProgram("sh", ${script}, ${settings});`,
  );
  const running = spawn(process.execPath, [runner], { stdio: "ignore" });
  const pid = await eventually(async () => {
    const text = await readFile(path.join(folder, "pid"), "utf8").catch(() => "");
    return text.endsWith("\n") && text;
  });
  running.kill("SIGKILL");
  await checkEnded(t, pid, 1);
});

test("a missing program is reported", async (t) => {
  const folder = await createTestFolder(t);
  const result = await runProgram("no-such-program", [], { folder, environment, timeoutMs: 10_000 });
  t.is(result.code, 127);
  t.regex(result.stderr, /no-such-program/);
});

async function checkEnded(t: ExecutionContext, pids: string, count: number): Promise<void> {
  const list = pids.trim().split("\n").map(Number);
  t.is(list.length, count);
  for (const pid of list) await eventually(() => !isThere(pid));
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
