import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import type { Log } from "../../log.ts";
import { type Meter, secondsPerMinute } from "../rates/meter.ts";
import {
  type Reservation,
  type ExactRefusal,
  type UsedReservation,
  type HolderLimits,
  type LimitKind,
  refusalOf,
} from "../rates/holder-limits.ts";
import { ValkeyConnection } from "./valkey-connection.ts";

type ValkeyLimitsOptions = {
  url: string;
  timeoutMs: number;
  log: Log;
  createSessionName: () => string;
  meters: ReadonlyMap<string, Meter>;
  /** Milliseconds since 1970. Null uses the server's clock, which all processes share. */
  now?: (() => number) | null;
};

/**
 * Counts the requests, tokens and concurrent requests of all processes in Valkey. A session holds the
 * requests in flight of one process. Each reconnect starts a new session.
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
      came: () => this.#publishOpenRequests(),
      messages: {
        lost: "Valkey is unavailable: each process enforces limits itself",
        back: "Valkey is available again: limits are enforced across all processes",
      },
    });
    this.#beat = setInterval(() => void this.#keepSession(), beatIntervalMs).unref();
  }

  attempted(): Promise<void> {
    return this.#connection.attempted();
  }

  get isThere(): boolean {
    return this.#connection.isThere;
  }

  /** False for a minute after each connect, because Valkey may lack earlier admissions. */
  get knowsAll(): boolean {
    return performance.now() >= this.#knowsAllFrom;
  }

  async reserve(
    holders: readonly HolderLimits[],
    tokens: number,
    input = tokens,
  ): Promise<UsedReservation | ExactRefusal | null> {
    const limits = holders.flatMap((holder) => [
      holder.requestsPerMinute,
      holder.tokensPerMinute,
      holder.concurrentRequests,
    ]);
    const keys = keysOf(holders);
    const answer = await this.#run(reserve, keys, [this.#session, sessionKey(""), tokens, input, ...limits]);
    if (answer === null) return null;
    const [second, holderNumber, reason, waitMs, ...sums] = answer as ReserveAnswer;
    const used = holders.map((_, index) => ({
      requests: sums[index * 2] ?? 0,
      tokens: sums[index * 2 + 1] ?? 0,
    }));
    const refusing = holders[holderNumber - 1];
    if (refusing) {
      const usedTokens = used[holderNumber - 1]?.tokens ?? 0;
      const kind = reason === "reserved" ? "tokens" : reason;
      const waitsFor = reason === "reserved" ? refusing : null;
      return { used, waitsFor, error: refusalOf(refusing, kind, { tokens: input, usedTokens, waitMs }) };
    }
    const settle = (requests: number, more: number) => this.#settle(keys, [second, requests, more, tokens]);
    return { used, end: (more) => settle(0, more), undo: () => settle(-1, -tokens) };
  }

  /** Nothing was reserved in Valkey, so a surplus of estimated tokens is not subtracted. */
  assumeAdmitted(holders: readonly HolderLimits[]): Reservation {
    const settle = (more: number) => this.#settle(keysOf(holders), [0, 0, more, 0]);
    return { end: (more) => settle(Math.max(0, more)), undo: () => settle(0) };
  }

  close(): void {
    clearInterval(this.#beat);
    this.#connection.close();
  }

  #settle(keys: string[], values: SettleValues): void {
    void this.#run(settleUse, keys, [this.#session, ...values]);
  }

  #run(script: Script, keys: string[], values: (string | number)[]): Promise<unknown> {
    const now = this.#options.now?.() ?? "";
    return this.#connection.run((client) => client.evalsha(script.sha, keys.length, ...keys, now, ...values));
  }

  /** The scripts must be loaded before other commands call them. */
  async #begin(client: Redis): Promise<true> {
    this.#session = this.#options.createSessionName();
    await Promise.all([
      client.script("LOAD", reserve.text),
      client.script("LOAD", settleUse.text),
      client.set(sessionKey(this.#session), "1", "PX", sessionMs),
    ]);
    return true;
  }

  #publishOpenRequests(): void {
    this.#knowsAllFrom = performance.now() + secondsPerMinute * 1_000;
    for (const [id, { concurrent }] of this.#options.meters) {
      if (concurrent === 0) continue;
      const key = openRequestsKey(id);
      void this.#connection.run((client) => client.hset(key, this.#session, concurrent));
      void this.#connection.run((client) => client.expire(key, openRequestsTtlSeconds));
    }
  }

  /** Extends the session. If the session is missing, Valkey may have lost the counts, so the process reconnects. */
  async #keepSession(): Promise<void> {
    const isThere = this.isThere;
    const before = await this.#connection.run(async (client) => ({
      value: await client.set(sessionKey(this.#session), "1", "PX", sessionMs, "GET"),
    }));
    if (isThere && before?.value === null) this.#connection.giveUp("the server lost its counts");
  }
}

type Script = { text: string; sha: string };

/** See `reserve.lua`. `reserved` means that requests in flight may return enough tokens. Holders are numbered from 1, and 0 means that no holder rejects the request. */
type ReserveAnswer = [
  second: number,
  holderNumber: number,
  reason: LimitKind | "reserved",
  waitMs: number,
  ...used: number[],
];

/** See `settle.lua`. `tokens` is the reserved amount. */
type SettleValues = [takenIn: number, requests: number, more: number, tokens: number];

const reserve = readScript("reserve.lua");
const settleUse = readScript("settle.lua");

function readScript(name: string): Script {
  const read = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");
  const text = `${read("minute.lua")}\n${read(name)}`;
  return { text, sha: hash("sha1", text) };
}

// Braces make a Valkey cluster store all keys of a script on one server, as scripts require.
const minuteKey = (id: string) => `{model-gateway}:minute:${id}`;
const openRequestsKey = (id: string) => `{model-gateway}:under-way:${id}`;
const keysOf = (holders: readonly HolderLimits[]) =>
  holders.flatMap(({ id }) => [minuteKey(id), openRequestsKey(id)]);
const sessionKey = (session: string) => `{model-gateway}:session:${session}`;

const sessionMs = 10_000;
const beatIntervalMs = 2_000;
/** `reserve.lua` contains the same value. */
const openRequestsTtlSeconds = 86_400;
