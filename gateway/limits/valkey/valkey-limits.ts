import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import type { Log } from "../../log.ts";
import type { Meter } from "../rates/meter.ts";
import {
  type ExactPlace,
  type ExactRefusal,
  type ExactTake,
  type HolderLimits,
  type LimitKind,
  refusalOf,
} from "../rates/holder-limits.ts";
import { secondsPerMinute } from "../rates/sliding-minute.ts";
import { ValkeyConnection } from "./valkey-connection.ts";

type ValkeyLimitsOptions = {
  url: string;
  timeoutMs: number;
  log: Log;
  createSessionName: () => string;
  meters: ReadonlyMap<string, Meter>;
  /** Milliseconds since 1970; null = the server's clock, which is the same for all processes. */
  now?: (() => number) | null;
};

/**
 * Counts requests, tokens and requests at the same time for all processes together, in Valkey. Not with the Redis limiters of
 * rate-limiter-flexible: their windows stand where a key's first request put them, and twice the limit fits into the minute
 * around a window's end. The scripts here count by seconds, as `SlidingMinute` does.
 *
 * What is under way belongs to a session, which is one connection of one process: who dies or is cut off takes its session
 * with it, and who comes back says anew what it has under way.
 */
export class ValkeyLimits {
  readonly #options: ValkeyLimitsOptions;
  readonly #connection: ValkeyConnection;
  readonly #beat: NodeJS.Timeout;
  #session = "";
  #knowsAllFrom = 0;

  constructor(options: ValkeyLimitsOptions) {
    this.#options = options;
    const { url, timeoutMs, log } = options;
    this.#connection = new ValkeyConnection({
      url,
      timeoutMs,
      log,
      greet: (client) => this.#begin(client),
      came: () => this.#tellWhatIsUnderWay(),
    });
    this.#beat = setInterval(() => void this.#keepSession(), beatIntervalMs).unref();
  }

  /** Waits until it is there, or is not. */
  attempted(): Promise<void> {
    return this.#connection.attempted();
  }

  get isThere(): boolean {
    return this.#connection.isThere;
  }

  /** Not for the first minute: what was let through while it was away, or before it was there, it does not know of. */
  get knowsAll(): boolean {
    return performance.now() >= this.#knowsAllFrom;
  }

  /** Null when it does not answer. */
  async take(holders: readonly HolderLimits[], tokens: number): Promise<ExactTake | ExactRefusal | null> {
    const limits = holders.flatMap((holder) => [
      holder.requestsPerMinute,
      holder.tokensPerMinute,
      holder.concurrentRequests,
    ]);
    const keys = keysOf(holders);
    const answer = await this.#run(take, keys, [this.#session, sessionKey(""), tokens, ...limits]);
    if (answer === null) return null;
    const [second, place, reason, waitMs, ...sums] = answer as TakeAnswer;
    const used = holders.map((_, index) => ({
      requests: sums[index * 2] ?? 0,
      tokens: sums[index * 2 + 1] ?? 0,
    }));
    const refusing = holders[place - 1];
    if (refusing) {
      const usedTokens = used[place - 1]?.tokens ?? 0;
      return { used, error: refusalOf(refusing, reason, { tokens, usedTokens, waitMs }) };
    }
    const settle = (requests: number, more: number) => this.#settle(keys, second, requests, more);
    return { used, end: (more) => settle(0, more), undo: () => settle(-1, -tokens) };
  }

  /**
   * The place of a request that was let in without being counted here: if it is under way when Valkey comes back, that is
   * told, so its end has to be told, too. What was not taken here is not given back here.
   */
  untold(holders: readonly HolderLimits[]): ExactPlace {
    const settle = (more: number) => this.#settle(keysOf(holders), 0, 0, more);
    return { end: (more) => settle(Math.max(0, more)), undo: () => settle(0) };
  }

  close(): void {
    clearInterval(this.#beat);
    this.#connection.close();
  }

  /** Does nothing while Valkey is away: what is over then is not under way when it comes back. */
  #settle(keys: string[], takenIn: number, requests: number, more: number): void {
    void this.#run(settleUse, keys, [this.#session, takenIn, requests, more]);
  }

  #run(script: Script, keys: string[], values: (string | number)[]): Promise<unknown> {
    const now = this.#options.now?.() ?? "";
    return this.#connection.ask((client) => client.evalsha(script.sha, keys.length, ...keys, now, ...values));
  }

  /** What is said first has to be taken as a whole. */
  async #begin(client: Redis): Promise<true> {
    this.#session = this.#options.createSessionName();
    await Promise.all([
      client.script("LOAD", take.text),
      client.script("LOAD", settleUse.text),
      client.set(sessionKey(this.#session), "1", "PX", sessionMs),
    ]);
    return true;
  }

  #tellWhatIsUnderWay(): void {
    this.#knowsAllFrom = performance.now() + secondsPerMinute * 1_000;
    for (const [id, { concurrent }] of this.#options.meters) {
      if (concurrent === 0) continue;
      const key = underWayKey(id);
      void this.#connection.ask((client) => client.hset(key, this.#session, concurrent));
      void this.#connection.ask((client) => client.expire(key, underWaySeconds));
    }
  }

  /** A server that does not know of the session any more has lost the rest, too. */
  async #keepSession(): Promise<void> {
    const isThere = this.isThere;
    const before = await this.#connection.ask(async (client) => ({
      value: await client.set(sessionKey(this.#session), "1", "PX", sessionMs, "GET"),
    }));
    if (isThere && before?.value === null) this.#connection.giveUp("it has forgotten what it counted");
  }
}

type Script = { text: string; sha: string };

/** The second in which it was counted, the place of the holder that refuses, why and for how long, and what is used. */
type TakeAnswer = [second: number, place: number, reason: LimitKind, waitMs: number, ...used: number[]];

const take = readScript("take.lua");
const settleUse = readScript("settle.lua");

function readScript(name: string): Script {
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
  const text = `${read("minute.lua")}\n${read(name)}`;
  return { text, sha: hash("sha1", text) };
}

// In braces what Valkey's clusters choose the server by: a script's keys have to be on the same one.
const minuteKey = (id: string) => `{model-gateway}:minute:${id}`;
const underWayKey = (id: string) => `{model-gateway}:under-way:${id}`;
const keysOf = (holders: readonly HolderLimits[]) =>
  holders.flatMap(({ id }) => [minuteKey(id), underWayKey(id)]);
const sessionKey = (session: string) => `{model-gateway}:session:${session}`;

const sessionMs = 10_000;
const beatIntervalMs = 2_000;
/** As in `take.lua`. */
const underWaySeconds = 86_400;
