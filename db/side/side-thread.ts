import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { DatabaseUnavailableError, QueryTooLongError } from "../database-errors.ts";
import type { SideReply, SideRequest } from "./side-messages.ts";

export type SideRows = { columns: string[]; rows: unknown[][] };

/**
 * A thread with a read-only connection to SQLite. It starts with the first statement, ends after some idle minutes,
 * and starts again after a crash. Statements run one after the other.
 */
export class SideThread {
  readonly #path: string;
  #worker: Worker | null = null;
  /** The end of a stopped thread that still runs. */
  #ending: Promise<unknown> | null = null;
  #stopped = new AbortController();
  #tail: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Passes the rows on in parts, with a turn of the event loop for each. */
  read(sql: string, parameters: unknown[], onPart: (part: SideRows) => void): Promise<void> {
    const done = this.#tail.then(() => this.#read(sql, parameters, onPart));
    this.#tail = done.catch(() => {});
    return done;
  }

  /** Starts the thread, so that its start takes no time from a statement's limit. */
  async open(): Promise<void> {
    if (!this.#worker) await this.read("SELECT 1", [], () => {});
  }

  /**
   * Fails the running statement, and ends the thread once the statement lets go. A statement that hangs in the system
   * never does, so nobody may wait for the end.
   */
  stop(): void {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    if (!worker) return;
    this.#worker = null;
    this.#ending = worker.terminate().finally(() => {
      this.#ending = null;
    });
    this.#stopped.abort();
    this.#stopped = new AbortController();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.stop();
    if (await this.#hasEnded()) return;
    // Node's exit waits for each thread. At this point everything is written.
    process.once("exit", () => {
      if (this.#ending) process.kill(process.pid, "SIGKILL");
    });
  }

  async #hasEnded(): Promise<boolean> {
    if (!this.#ending) return true;
    const end = new AbortController();
    const tooLate = pause(endMsMax, false, { signal: end.signal }).catch(() => false);
    const inTime = await Promise.race([this.#ending.then(() => true), tooLate]);
    end.abort();
    return inTime;
  }

  async #read(sql: string, parameters: unknown[], onPart: (part: SideRows) => void): Promise<void> {
    if (this.#isClosed) throw new DatabaseUnavailableError("The database is closed.");
    if (!(await this.#hasEnded())) throw new DatabaseUnavailableError(slowEnd);
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const { signal } = this.#stopped;
    // A question keeps a command alive. An idle thread does not.
    worker.ref();
    try {
      for (let reply = await exchange(worker, { sql, parameters }, signal); ;) {
        if ("error" in reply) throw toError(reply.error);
        onPart(reply);
        if (reply.isLast) return;
        reply = await exchange(worker, "next", signal);
      }
    } finally {
      worker.unref();
      if (this.#worker === worker) this.#idle = setTimeout(() => this.stop(), idleMsMax).unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./side-thread-entry.js", import.meta.url), {
      workerData: { path: this.#path },
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
    });
    const forget = () => {
      if (this.#worker === worker) this.#worker = null;
    };
    // `exchange` reports the error to the question. Without a listener, an idle thread's crash would end the process.
    worker.on("error", forget).on("exit", forget);
    return worker;
  }
}

const idleMsMax = 5 * 60_000;
const endMsMax = 2_000;
const slowEnd = "The thread that reads the database still ends. Repeat the question in a moment.";

async function exchange(worker: Worker, request: SideRequest, stopped: AbortSignal): Promise<SideReply> {
  const end = new AbortController();
  try {
    worker.postMessage(request);
    const { signal } = end;
    const exit = once(worker, "exit", { signal }).then(() => {
      throw new DatabaseUnavailableError("The thread that reads the database ended. Repeat the question.");
    });
    const stop = once(stopped, "abort", { signal }).then(() => {
      throw new DatabaseUnavailableError("The database did not answer in time. Repeat the question.");
    });
    const message = once(worker, "message", { signal });
    const [reply] = (await Promise.race([message, exit, stop])) as [SideReply];
    return reply;
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) throw error;
    const message = "The thread that reads the database failed. Repeat the question.";
    throw new DatabaseUnavailableError(message, { cause: error });
  } finally {
    end.abort();
  }
}

function toError({
  name,
  message,
  code,
}: {
  name: string;
  message: string;
  code: string | undefined;
}): Error {
  if (name === "QueryTooLongError") return new QueryTooLongError(message);
  return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
}
