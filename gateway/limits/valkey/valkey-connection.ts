import { Redis } from "ioredis";
import type { Log } from "../../log.ts";

type ValkeyConnectionOptions = {
  url: string;
  timeoutMs: number;
  log: Log;
  /** Sends the first commands on a new connection. */
  greet: (client: Redis) => Promise<unknown>;
  /** Runs after the greeting, when the connection accepts commands. Commands sent here precede all others. */
  came: () => void;
  messages: { lost: string; back: string };
};

/**
 * A connection to Valkey or Redis. After an error or a timeout, all commands return null until a new connection
 * works. https://valkey.io/topics/protocol
 */
export class ValkeyConnection {
  readonly #options: ValkeyConnectionOptions;
  readonly #client: Redis;
  /** The commands without a response, oldest first. */
  readonly #pending = new Set<PendingCommand>();
  #isThere: boolean | null = null;
  #watch: NodeJS.Timeout | undefined;
  readonly #start: NodeJS.Timeout;
  #firstAttemptOver = () => {};
  readonly #firstAttempt = new Promise<void>((resolve) => (this.#firstAttemptOver = resolve));

  constructor(options: ValkeyConnectionOptions) {
    this.#options = options;
    const { url, timeoutMs } = options;
    const startMs = Math.max(timeoutMs, connectTimeoutMs);
    // The client only supports Redis's URL scheme.
    this.#client = new Redis(url.replace(/^valkey/, "redis"), {
      connectTimeout: startMs,
      retryStrategy: () => reconnectWaitMs,
      // Commands do not wait for a connection. A resend could repeat a command that has succeeded.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectionName: "model-gateway",
    });
    this.#client.on("ready", () => void this.#greet());
    this.#client.on("error", (error: Error) => this.#lose(error.message));
    this.#client.on("close", () => this.#lose("the connection was closed"));
    this.#start = setTimeout(() => this.#isThere ?? this.#lose(`no answer within ${startMs} ms`), startMs);
  }

  get isThere(): boolean {
    return this.#isThere === true;
  }

  /** Resolves after the first attempt to connect. */
  async attempted(): Promise<void> {
    await this.#firstAttempt;
  }

  /** Returns null if Valkey is unavailable, returns an error or responds too late. */
  run<Answer>(send: (client: Redis) => Promise<Answer>): Promise<Answer | null> {
    if (this.#isThere !== true) return Promise.resolve(null);
    return this.#send(send);
  }

  /** Opens a new connection, which runs `greet` and `came` again. */
  giveUp(reason: string): void {
    this.#lose(reason);
  }

  close(): void {
    this.#isThere = null;
    this.#settleAll();
    clearTimeout(this.#watch);
    clearTimeout(this.#start);
    this.#client.removeAllListeners();
    this.#client.on("error", () => {});
    this.#client.disconnect();
  }

  #send<Answer>(send: (client: Redis) => Promise<Answer>): Promise<Answer | null> {
    return new Promise((resolve) => {
      const pending = { at: performance.now(), noAnswer: () => resolve(null) };
      this.#pending.add(pending);
      this.#watch ??= setTimeout(() => this.#look(), this.#options.timeoutMs);
      send(this.#client).then(
        (answer) => {
          if (this.#pending.delete(pending)) resolve(answer);
        },
        (error: Error) => {
          if (this.#pending.has(pending)) this.#lose(error.message);
        },
      );
    });
  }

  async #greet(): Promise<void> {
    const { greet, came, log, messages } = this.#options;
    if ((await this.#send((client) => greet(client))) === null) return;
    if (this.#isThere === false) log.info(messages.back);
    this.#isThere = true;
    came();
    this.#firstAttemptOver();
  }

  /**
   * Timers run before pending input is read. Without `setImmediate`, a process that was blocked would blame
   * Valkey.
   */
  #look(): void {
    setImmediate(() => {
      this.#watch = undefined;
      const [oldest] = this.#pending;
      if (!oldest) return;
      const leftMs = oldest.at + this.#options.timeoutMs - performance.now();
      if (leftMs > 0) this.#watch = setTimeout(() => this.#look(), leftMs);
      else this.#lose(`no answer within ${this.#options.timeoutMs} ms`);
    });
  }

  #lose(reason: string): void {
    const { log, messages } = this.#options;
    const isConnected = this.#client.status === "ready";
    if (this.#isThere !== false) {
      log.warn({ reason }, messages.lost);
    }
    this.#isThere = false;
    this.#settleAll();
    this.#firstAttemptOver();
    if (isConnected) this.#client.disconnect(true);
  }

  #settleAll(): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const { noAnswer } of pending) noAnswer();
  }
}

type PendingCommand = { at: number; noAnswer: () => void };

const reconnectWaitMs = 500;
const connectTimeoutMs = 1_000;
