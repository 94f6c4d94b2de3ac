import cluster, { type Worker } from "node:cluster";
import type { Runtime } from "../../runtime.ts";
import type { FromWorker, ToWorker } from "./worker-messages.ts";

type WorkerPoolOptions = { count: number; port: number; runtime: Pick<Runtime, "now" | "log"> };

/**
 * The processes that serve, seen from the one that looks after them and puts another in the place of one that has died. The
 * system deals the connections out among them, not this process: those that it had dealt to a worker that was killed before
 * it took them would hang for ever, as they do with Node's own way (seen with Node 24).
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #places: Place[];
  #isStopping = false;
  /** Whether all have ended as they should since they were told to stop. */
  #hasStoppedWell = true;
  #onEmpty: (() => void) | null = null;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      worker: null,
      isServing: false,
      startedAt: 0,
      deaths: 0,
      timer: undefined,
    }));
  }

  /**
   * The first worker brings the database up to date and makes what a first start makes, before there are others. Gives what
   * it has to say to whoever starts the gateway, when all serve; null when it could not start, and has said why.
   */
  async start(): Promise<string | null> {
    const [first, ...others] = this.#places;
    const welcome = first ? await this.#run(first) : null;
    if (welcome !== null && !this.#isStopping) await Promise.all(others.map((place) => this.#run(place)));
    return welcome;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Those that serve now, by their places. */
  get serving(): Map<number, Worker> {
    const serving = this.#places.filter(({ isServing }) => isServing);
    return new Map(serving.flatMap(({ number, worker }) => (worker ? [[number, worker]] : [])));
  }

  /** Resolves when all workers have finished their requests and ended, with whether they ended well. */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    for (const { timer } of this.#places) clearTimeout(timer);
    const running = this.#places.flatMap(({ worker }) => worker ?? []);
    if (running.length === 0) return true;
    const stopped = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const worker of running) tell(worker, { kind: "stop" });
    await stopped;
    return this.#hasStoppedWell;
  }

  /** Resolves when the worker serves, or has ended without: with null then. */
  #run(place: Place): Promise<string | null> {
    const { log, now } = this.#options.runtime;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    let hasStarted = false;
    const ended = (end: WorkerEnd) => {
      place.worker = null;
      place.isServing = false;
      const isFirstStart = !hasStarted && place.number === 1 && place.deaths === 0;
      resolve(null);
      if (this.#isStopping) this.#noteEnd(end);
      else if (!isFirstStart) this.#replace(place, end);
    };
    place.startedAt = now();
    const worker = cluster.fork({ PORT: String(this.#options.port) });
    place.worker = worker;
    // The system may have no room for another process, or the program may be gone; no exit follows then.
    worker.on("error", (error) => {
      log.error({ worker: place.number, error }, "a worker cannot be started, or not be told something");
      if (worker.process.pid === undefined) ended({ exitCode: null, signal: null });
    });
    worker.on("message", (message: FromWorker) => {
      if (message.kind !== "started") return;
      hasStarted = true;
      place.isServing = true;
      log.info({ worker: place.number, pid: worker.process.pid }, "a worker serves");
      resolve(message.welcome);
    });
    worker.once("exit", (exitCode, signal) => ended({ exitCode, signal }));
    return promise;
  }

  #noteEnd({ exitCode }: WorkerEnd): void {
    if (exitCode !== 0) this.#hasStoppedWell = false;
    if (this.#places.every(({ worker }) => worker === null)) this.#onEmpty?.();
  }

  /** At once, unless it dies again and again: what kills it may need somebody to see to it. */
  #replace(place: Place, end: WorkerEnd): void {
    const { now, log } = this.#options.runtime;
    if (now() - place.startedAt > livedLongMs) place.deaths = 0;
    const waitMs = place.deaths === 0 ? 0 : Math.min(pauseMs * 2 ** (place.deaths - 1), pauseMsMax);
    place.deaths++;
    log.warn({ worker: place.number, ...end, waitMs }, "a worker has ended; another takes its place");
    place.timer = setTimeout(() => void this.#run(place), waitMs);
  }
}

/** Both are null for one that was never there. */
type WorkerEnd = { exitCode: number | null; signal: string | null };

/** Where one worker after the other serves. */
type Place = {
  /** From 1 on. */
  readonly number: number;
  worker: Worker | null;
  isServing: boolean;
  startedAt: number;
  /** How many have died here one soon after the other. */
  deaths: number;
  /** Until another takes its place. */
  timer: NodeJS.Timeout | undefined;
};

/** A worker that ends between the check and the message is seen by its exit. */
function tell(worker: Worker, message: ToWorker): void {
  worker.send(message, () => {});
}

const livedLongMs = 60_000;
const pauseMs = 1_000;
const pauseMsMax = 30_000;
