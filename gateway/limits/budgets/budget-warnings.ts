import { hash, createHmac } from "node:crypto";
import type { Database } from "../../../db/database.ts";
import { holderColumns } from "../../../db/entities/api-key.ts";
import { type LimitEventRow, noKey } from "../../../db/entities/limit-event.ts";
import type { LimitHolder } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import { dayMs, type SpentPart } from "./ledger.ts";
import { holderKinds, holderOf } from "../holders.ts";
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
    const { kind, ...columns } = holder;
    runtime.log.warn({ ...idOf(holder), period, percent }, holderOf(kind).warning);
    if (this.#unwritten.length >= unwrittenMax) return;
    const createdAt = new Date(runtime.now());
    this.#unwritten.push({
      id: hash(
        "sha256",
        [kind, columns.apiKeyId || columns.ownerId, period, periodStartsAt, percent, budget].join(),
      ),
      ...columns,
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

/** The columns of a warning that say whose budget it is. `ownerId` has the ID of any holder but a key and the gateway. */
export type BudgetHolder = { kind: LimitHolder } & Pick<LimitEventRow, "apiKeyId" | "apiKeyName" | "ownerId">;

/** @param record a request of the holder, which a key's warning needs for its names */
export function warnedHolder(kind: LimitHolder, id: string, record?: UsageRecord): BudgetHolder {
  if (kind === "key" && record) {
    const { apiKeyId, apiKeyName, ownerId } = record;
    return { kind, apiKeyId, apiKeyName, ownerId };
  }
  return { kind, apiKeyId: noKey, apiKeyName: "", ownerId: kind === "gateway" ? null : id };
}

/** The holder's ID, by its name in messages. Empty for the gateway. */
function idOf({ kind, apiKeyId, ownerId }: BudgetHolder): Record<string, string | null> {
  if (kind === "gateway") return {};
  return kind === "key" ? { apiKeyId } : { [holderColumns[kind]]: ownerId };
}

function toBudgetHolder({ apiKeyId, apiKeyName, ownerId }: LimitEventRow): BudgetHolder {
  const shared = holderKinds.find(({ isRowOf }) => isRowOf?.(ownerId ?? "gateway"));
  return { kind: apiKeyId === noKey ? (shared?.kind ?? "gateway") : "key", apiKeyId, apiKeyName, ownerId };
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
  const holder = toBudgetHolder(event);
  const { kind: scope, apiKeyName, ownerId } = holder;
  const ofKey = scope === "key" ? { apiKeyName, ownerId } : { apiKeyName: null, ownerId: null };
  const { period, periodStartsAt, percent, budget, spent, createdAt } = event;
  return {
    type: percent >= 100 ? "budget.spent" : "budget.warning",
    timestamp: createdAt,
    data: {
      scope,
      apiKeyId: null,
      ...ofKey,
      ...idOf(holder),
      period,
      percent,
      periodStartsAt: period === "total" ? null : periodStartsAt,
      budgetUsd: toUsd(budget),
      spentUsd: toUsd(spent),
    },
  };
}
