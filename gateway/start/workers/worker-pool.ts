import cluster, { type Worker } from "node:cluster";
import type { Runtime } from "../../runtime.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

type WorkerPoolOptions = { count: number; port: number; runtime: Pick<Runtime, "monotonicNow" | "log"> };

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots: WorkerSlot[];
  isStopping = false;
  /** False once a worker ends during the stop without exit code 0. */
  #hasStoppedWell = true;
  #onEmpty: (() => void) | null = null;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      worker: null,
      isServing: false,
      startedAt: 0,
      deaths: 0,
      timer: undefined,
    }));
  }

  /**
   * Starts the first worker alone, because it migrates the database. Returns its welcome text once each other
   * worker serves or has exited. Returns null if the first worker exits before it serves.
   */
  async start(): Promise<string | null> {
    const [first, ...others] = this.#slots;
    const welcome = first ? await this.#run(first) : null;
    if (welcome !== null && !this.isStopping) await Promise.all(others.map((slot) => this.#run(slot)));
    return welcome;
  }

  get serving(): Map<number, Worker> {
    const serving = this.#slots.filter(({ isServing }) => isServing);
    return new Map(serving.flatMap(({ number, worker }) => (worker ? [[number, worker]] : [])));
  }

  /** Resolves when all workers have finished. Returns whether they exited cleanly. */
  async stop(): Promise<boolean> {
    this.isStopping = true;
    for (const { timer } of this.#slots) clearTimeout(timer);
    const running = this.#slots.flatMap(({ worker }) => worker ?? []);
    if (running.length === 0) return true;
    const stopped = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const worker of running) send(worker, { kind: "stop" });
    await stopped;
    return this.#hasStoppedWell;
  }

  /** Resolves with the welcome text when the worker serves, or with null if it exits first. */
  #run(slot: WorkerSlot): Promise<string | null> {
    const { log, monotonicNow } = this.#options.runtime;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    let hasStarted = false;
    const ended = (end: WorkerEnd) => {
      slot.worker = null;
      slot.isServing = false;
      const isFirstStart = !hasStarted && slot.number === 1 && slot.deaths === 0;
      resolve(null);
      if (this.isStopping) this.#noteEnd(end);
      else if (!isFirstStart) this.#replace(slot, end);
    };
    slot.startedAt = monotonicNow();
    const worker = cluster.fork({ PORT: String(this.#options.port) });
    slot.worker = worker;
    // No exit event follows a failed fork.
    worker.on("error", (error) => {
      log.error({ worker: slot.number, error }, "cannot start or reach a worker");
      if (worker.process.pid === undefined) ended({ exitCode: null, signal: null });
    });
    worker.on("message", (message: FromWorker) => {
      if (message.kind !== "started") return;
      hasStarted = true;
      slot.isServing = true;
      log.info({ worker: slot.number, pid: worker.process.pid }, "a worker started");
      resolve(message.welcome);
    });
    worker.once("exit", (exitCode, signal) => ended({ exitCode, signal }));
    return promise;
  }

  #noteEnd({ exitCode }: WorkerEnd): void {
    if (exitCode !== 0) this.#hasStoppedWell = false;
    if (this.#slots.every(({ worker }) => worker === null)) this.#onEmpty?.();
  }

  /** Replaces a worker at once, or after a growing pause if workers in its slot die repeatedly. */
  #replace(slot: WorkerSlot, end: WorkerEnd): void {
    const { monotonicNow, log } = this.#options.runtime;
    if (monotonicNow() - slot.startedAt > livedLongMs) slot.deaths = 0;
    const waitMs = slot.deaths === 0 ? 0 : Math.min(pauseMs * 2 ** (slot.deaths - 1), pauseMsMax);
    slot.deaths++;
    log.warn({ worker: slot.number, ...end, waitMs }, "a worker exited and is being replaced");
    slot.timer = setTimeout(() => void this.#run(slot), waitMs);
  }
}

/** Both members are null for a worker that did not start. */
type WorkerEnd = { exitCode: number | null; signal: string | null };

type WorkerSlot = {
  readonly number: number;
  worker: Worker | null;
  isServing: boolean;
  startedAt: number;
  /** The number of consecutive deaths. The death of a worker that lived over a minute counts as the first. */
  deaths: number;
  /** Delays the start of a replacement. */
  timer: NodeJS.Timeout | undefined;
};

/** Ignores errors, because the exit event reports a worker that ended before the message. */
function send(worker: Worker, message: ToWorker): void {
  worker.send(message, () => {});
}

const livedLongMs = 60_000;
const pauseMs = 1_000;
const pauseMsMax = 30_000;
