import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/**
 * A child process that answers requests. `Answers` is the type of the table that the child passes to
 * `answerParent`.
 */
export type MeasuredProcess<Answers extends AnswerTable> = {
  ask<Name extends keyof Answers & string>(
    name: Name,
    ...given: Parameters<Answers[Name]>
  ): Promise<Awaited<ReturnType<Answers[Name]>>>;
  stop(): Promise<void>;
};

export type AnswerTable = Record<string, (given: never) => unknown>;

/** Starts a file in a child process, so that its CPU time is separate. `file` is absolute or relative to this folder. */
export function startProcess<Answers extends AnswerTable>(
  file: string,
  nodeFlags: string[] = [],
): MeasuredProcess<Answers> {
  // JSON, the default, cannot contain binary data.
  const child = fork(path.resolve(import.meta.dirname, file), {
    execArgv: nodeFlags,
    serialization: "advanced",
  });
  const exited = once(child, "exit");
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let asked = 0;

  child.on("message", (answer: Answer) => {
    const { resolve, reject } = waiting.get(answer.id) ?? {};
    waiting.delete(answer.id);
    if (answer.problem === undefined) resolve?.(answer.value);
    else reject?.(new Error(`${file}: ${answer.problem}`));
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended early (${signal ?? code}).`));
  });

  return {
    ask<Name extends keyof Answers & string>(name: Name, ...given: Parameters<Answers[Name]>) {
      const question: Question = { id: ++asked, name, given: given[0] };
      const answer = Promise.withResolvers<unknown>();
      waiting.set(question.id, answer);
      child.send(question, (error) => error && answer.reject(error));
      return answer.promise as Promise<Awaited<ReturnType<Answers[Name]>>>;
    },
    async stop() {
      // The child exits on disconnect, which also happens when this process is killed.
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** Answers the parent process until it disconnects, then exits. */
export function answerParent(answers: AnswerTable): void {
  process.on("message", async ({ id, name, given }: Question) => {
    const answer: Answer = { id };
    try {
      answer.value = await answers[name]?.(given as never);
    } catch (error) {
      answer.problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    process.send?.(answer);
  });
  process.on("disconnect", () => process.exit());
  // Ctrl-C also signals this process, which must answer until the parent process disconnects.
  process.on("SIGINT", () => {});
}

/** Owns resources that end with the process, in place of a test. */
export const thisProcess = { teardown: () => {} };

/** Returns the user and system time of all threads of this process. */
export function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

type Question = { id: number; name: string; given: unknown };
type Answer = { id: number; value?: unknown; problem?: string };
