import { hash, createHmac } from "node:crypto";
import type { Database } from "../../../db/database.ts";
import { type LimitEventRow, noKey } from "../../../db/entities/limit-event.ts";
import type { LimitHolder } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import { dayMs, type SpentPart } from "./ledger.ts";
import { holderOf } from "../holders.ts";
import { toUsd } from "../limit-table.ts";
import type { UsageRecord } from "../../usage/recording/spool.ts";

export type BudgetWarning = SpentPart & { holder: BudgetHolder };

type BudgetWarningsOptions = { database: Database; runtime: Runtime; webhook: Webhook | null };

/** Stores each warning once, even if several processes add it. Sends it to the webhook, if any, with retries. */
export class BudgetWarnings {
  readonly #options: BudgetWarningsOptions;
  #unwritten: LimitEventRow[] = [];
  #nextPruneAt = 0;

  constructor(options: BudgetWarningsOptions) {
    this.#options = options;
  }

  /** Logs a warning and queues it. `work` stores and sends it. */
  add({ holder, period, percent, budget, spent, periodStartsAt }: BudgetWarning): void {
    const { runtime, webhook } = this.#options;
    const { kind, apiKeyId, ownerId } = holder;
    const ids = kind === "key" ? { apiKeyId } : kind === "person" ? { ownerId } : {};
    runtime.log.warn({ ...ids, period, percent }, holderOf(kind).warning);
    if (this.#unwritten.length >= unwrittenMax) return;
    const createdAt = new Date(runtime.now());
    this.#unwritten.push({
      id: hash(
        "sha256",
        [holder.kind, holder.apiKeyId ?? holder.ownerId, period, periodStartsAt, percent, budget].join(),
      ),
      ...toHolderColumns(holder),
      period,
      percent,
      budget,
      spent,
      createdAt,
      periodStartsAt: new Date(periodStartsAt),
      attempts: 0,
      sendAt: webhook && createdAt,
    });
  }

  /** Stores queued warnings, sends due warnings, and deletes old warnings once a day. */
  async work(): Promise<void> {
    const { database, runtime, webhook } = this.#options;
    const now = runtime.now();
    for (let event = this.#unwritten[0]; event; event = this.#unwritten[0]) {
      const written = event;
      await database.write(({ limitEvents }) => limitEvents.insert(written));
      this.#unwritten.shift();
    }
    const at = runtime.monotonicNow();
    if (at >= this.#nextPruneAt) {
      this.#nextPruneAt = at + dayMs;
      await database.write(({ limitEvents }) => limitEvents.deleteBefore(new Date(now - keptMs)));
    }
    if (!webhook) return;
    const due = await database.read(({ limitEvents }) => limitEvents.due(new Date(now), eventsPerRun));
    for (const event of due) await this.#send(webhook, event);
  }

  async #send(webhook: Webhook, event: LimitEventRow): Promise<void> {
    const { database, runtime } = this.#options;
    const waitMs = sendAgainAfterMs(event.attempts);
    const again = waitMs === null ? null : new Date(runtime.now() + waitMs);
    if (!(await database.write(({ limitEvents }) => limitEvents.claim(event, again)))) return;
    try {
      await webhook.send(event);
      await database.write(({ limitEvents }) => limitEvents.settle(event.id));
    } catch (error) {
      const { id, attempts } = event;
      runtime.log.warn({ id, attempts, error }, "cannot deliver a warning to the webhook");
    }
  }
}

const unwrittenMax = 10_000;
const eventsPerRun = 20;
const keptMs = 400 * dayMs;

export type BudgetHolder = {
  kind: LimitHolder;
  /** Null unless the holder is a key. */
  apiKeyId: string | null;
  apiKeyName: string | null;
  /** The user, or the key's owner. Null for the gateway and for a key without an owner. */
  ownerId: string | null;
};

type HolderColumns = Pick<LimitEventRow, "apiKeyId" | "apiKeyName" | "ownerId">;

/** @param record a request of the holder, which a key's warning needs for its names */
export function warnedHolder(kind: LimitHolder, id: string, record?: UsageRecord): BudgetHolder {
  if (kind !== "key" || !record)
    return { kind, apiKeyId: null, apiKeyName: null, ownerId: kind === "person" ? id : null };
  const { apiKeyId, apiKeyName, ownerId } = record;
  return { kind, apiKeyId, apiKeyName, ownerId };
}

function toHolderColumns({ apiKeyId, apiKeyName, ownerId }: BudgetHolder): HolderColumns {
  return { apiKeyId: apiKeyId ?? noKey, apiKeyName: apiKeyName ?? "", ownerId };
}

function toBudgetHolder({ apiKeyId, apiKeyName, ownerId }: HolderColumns): BudgetHolder {
  if (apiKeyId !== noKey) return { kind: "key", apiKeyId, apiKeyName, ownerId };
  return { kind: ownerId === null ? "gateway" : "person", apiKeyId: null, apiKeyName: null, ownerId };
}

type WebhookOptions = { url: string; secret: string; now: () => number };

/**
 * Sends signed warnings to another system.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export class Webhook {
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** Throws unless the webhook returns a 2xx status within `timeoutMs`. */
  async send(event: LimitEventRow): Promise<void> {
    const { url, secret, now } = this.#options;
    const body = JSON.stringify(toMessage(event));
    const seconds = String(Math.floor(now() / 1000));
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": event.id,
        "webhook-timestamp": seconds,
        "webhook-signature": `v1,${sign(secret, `${event.id}.${seconds}.${body}`)}`,
      },
      body,
      // A redirect could lead to a host other than the configured one.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`The webhook returned HTTP status ${answer.status}. Check its URL.`);
  }
}

/** The delay before the next attempt, from half a minute to a day. Null after a day and a half in total. */
export function sendAgainAfterMs(attempts: number): number | null {
  return attempts >= attemptsMax ? null : Math.min(firstWaitMs * 4 ** attempts, waitMsMax);
}

const timeoutMs = 5_000;
const firstWaitMs = 30_000;
const waitMsMax = 24 * 3_600_000;
const attemptsMax = 7;

function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64");
}

function toMessage(event: LimitEventRow): object {
  const { kind: scope, ...ids } = toBudgetHolder(event);
  const { period, periodStartsAt, percent, budget, spent, createdAt } = event;
  return {
    type: percent >= 100 ? "budget.spent" : "budget.warning",
    timestamp: createdAt,
    data: {
      scope,
      ...ids,
      period,
      percent,
      periodStartsAt: period === "total" ? null : periodStartsAt,
      budgetUsd: toUsd(budget),
      spentUsd: toUsd(spent),
    },
  };
}
