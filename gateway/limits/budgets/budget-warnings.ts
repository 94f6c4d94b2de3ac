import { hash } from "node:crypto";
import type { Database } from "../../../db/database.ts";
import type { LimitEventRow } from "../../../db/entities/limit-event.ts";
import type { LimitHolder } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import { type BudgetHolder, toHolderColumns } from "./budget-holder.ts";
import { dayMs, type SpentPart } from "./ledger.ts";
import { sendAgainAfterMs, type Webhook } from "./webhook.ts";

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
    runtime.log.warn({ ...ids, period, percent }, messages[kind]);
    if (this.#unwritten.length >= unwrittenMax) return;
    const createdAt = new Date(runtime.now());
    this.#unwritten.push({
      id: hash("sha256", [...identify(holder), period, periodStartsAt, percent, budget].join()),
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

const messages: Record<LimitHolder, string> = {
  key: "an API key has spent part of its budget",
  person: "a user's API keys have spent part of their budget",
  gateway: "the gateway has spent part of its budget",
};

/** Omits `kind` for a key, so that event IDs stay the same as in older releases. */
function identify({ kind, apiKeyId, ownerId }: BudgetHolder): (string | null)[] {
  return kind === "key" ? [apiKeyId] : [kind, ownerId];
}

const unwrittenMax = 10_000;
const eventsPerRun = 20;
const keptMs = 400 * dayMs;
