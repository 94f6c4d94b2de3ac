import { once } from "node:events";
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

  /** Ends the running statement with an error. */
  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  async #read(sql: string, parameters: unknown[], onPart: (part: SideRows) => void): Promise<void> {
    if (this.#isClosed) throw new DatabaseUnavailableError("The database is closed.");
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    // A question keeps a command alive. An idle thread does not.
    worker.ref();
    try {
      for (let reply = await exchange(worker, { sql, parameters }); ;) {
        if ("error" in reply) throw toError(reply.error);
        onPart(reply);
        if (reply.isLast) return;
        reply = await exchange(worker, "next");
      }
    } finally {
      worker.unref();
      if (this.#worker === worker) this.#idle = setTimeout(() => void this.stop(), idleMsMax).unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL("./side-thread-worker.ts", import.meta.url), {
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

async function exchange(worker: Worker, request: SideRequest): Promise<SideReply> {
  const end = new AbortController();
  try {
    worker.postMessage(request);
    const { signal } = end;
    const exit = once(worker, "exit", { signal }).then(() => {
      throw new DatabaseUnavailableError("The thread that reads the database ended. Repeat the question.");
    });
    const [reply] = (await Promise.race([once(worker, "message", { signal }), exit])) as [SideReply];
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
