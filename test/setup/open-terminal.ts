import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ExecutionContext } from "ava";
import { eventually } from "../helpers/eventually.ts";
import { findProgram } from "../helpers/system-packages.ts";

/** Starts an interactive shell in a terminal of util-linux's `script`. The shell ends with the test. */
export async function openTerminal(
  t: Pick<ExecutionContext, "teardown">,
  { shell, environment }: { shell: string; environment: Record<string, string> },
): Promise<Terminal> {
  const command = { bash: "bash --norc --noprofile -i", zsh: "zsh -f -i", dash: "dash -i" }[shell] ?? shell;
  // The PATH in `environment` may lack the shell and `script`.
  const file = findProgram("script") ?? "script";
  const line = command.replace(/^\w+/, findProgram(shell) ?? shell);
  const program = spawn(file, ["-qefc", line, "/dev/null"], {
    env: { ...environment, PS1: "READY> ", PS2: "", TERM: "xterm", SHELL: "/bin/sh" },
    detached: true,
  });
  t.teardown(() => program.kill("SIGKILL"));
  let screen = "";
  program.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  const terminal = {
    screen: () => screen,
    type: (text: string) => void program.stdin.write(text),
    waitFor: (pattern: RegExp) => eventually(() => pattern.test(screen)),
    paste: (text: string) => void program.stdin.write(text.replaceAll("\n", "\r")),
    close: async () => {
      const closed = once(program, "close");
      program.stdin.write("exit\n");
      await closed;
    },
  };
  await terminal.waitFor(/READY> /);
  return terminal;
}

export type Terminal = {
  screen(): string;
  type(text: string): void;
  /** Types the text with carriage returns for line feeds, as most terminals do on paste. */
  paste(text: string): void;
  waitFor(pattern: RegExp): Promise<unknown>;
  /** Exits the shell, which then writes its history. */
  close(): Promise<void>;
};
