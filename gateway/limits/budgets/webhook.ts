import { createHmac } from "node:crypto";
import type { LimitEventRow } from "../../../db/entities/limit-event.ts";
import { toBudgetHolder } from "./budget-holder.ts";
import { toUsd } from "../key-limits.ts";

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
