import type { UsageStatus } from "../../db/entities/usage-record.ts";
import type { Person } from "../../gateway/auth/person.ts";
import type {
  SummaryGrouping,
  UsageHistory,
  UsageCriteria,
} from "../../gateway/usage/history/usage-history.ts";
import type { SeededRandom } from "../helpers/seeded-random.ts";

export type Question = { title: string; look(random: SeededRandom): Look };

export type Look =
  | { criteria: UsageCriteria; first: number; after?: string | undefined }
  | { criteria: UsageCriteria; by: SummaryGrouping };

export function askDomain(history: UsageHistory, person: Person, look: Look): Promise<unknown> {
  if ("by" in look) return history.summarize(person, look.criteria, look.by);
  return history.list(person, look.criteria, { first: look.first, after: look.after });
}

export function toGraphql(look: Look): { query: string; variables: object } {
  if ("by" in look) {
    const groupBy = look.by.groupBy.map((name) => (name === "apiKeyId" ? "API_KEY" : name.toUpperCase()));
    const query = `query($filter: UsageFilter, $groupBy: [UsageDimension!]!, $interval: UsageInterval) {
      usageSummary(filter: $filter, groupBy: $groupBy, interval: $interval) { interval apiKeyId model requests inputTokens outputTokens costUsd } }`;
    return {
      query,
      variables: { filter: look.criteria, groupBy, interval: look.by.interval?.toUpperCase() },
    };
  }
  const query = `query($filter: UsageFilter, $first: Int, $after: String) {
    usageRecords(filter: $filter, first: $first, after: $after) { pageInfo { hasNextPage endCursor } edges { cursor node {
      id createdAt apiKeyId apiKeyName model provider status httpStatus inputTokens outputTokens costUsd latencyMs } } } }`;
  return { query, variables: { filter: look.criteria, first: look.first, after: look.after } };
}

export async function questions(history: UsageHistory, person: Person, now: number): Promise<Question[]> {
  const keys = await history.summarize(person, {}, { groupBy: ["apiKeyId"], interval: null });
  const used = keys.toSorted((one, other) => other.requests - one.requests);
  const keyOf = (random: SeededRandom) => used[random.upTo(used.length - 1)]?.apiKeyId;
  const hundredths = await hundredthPages(
    history,
    person,
    used.slice(0, 10).flatMap(({ apiKeyId }) => apiKeyId ?? []),
  );
  const startOfDay = new Date(Math.floor(now / dayMs) * dayMs);
  const month = { from: new Date(now - 30 * dayMs), to: new Date(now) };
  const model = (random: SeededRandom) => {
    const number = random.upTo(11);
    return `provider-${number % 4}/model-${number}`;
  };
  const statuses: [UsageStatus, ...UsageStatus[]] = ["FAILED", "CANCELLED", "INTERRUPTED"];
  return [
    { title: "everybody's first page", look: () => ({ criteria: {}, first: 50 }) },
    { title: "a key's first page", look: (random) => ({ criteria: { apiKeyId: keyOf(random) }, first: 50 }) },
    {
      title: "a key's hundredth page",
      look: (random) => ({
        first: 50,
        ...(hundredths[random.upTo(hundredths.length - 1)] ?? { criteria: {} }),
      }),
    },
    {
      title: "a filtered page: model, time",
      look: (random) => ({
        criteria: { model: model(random), to: new Date(now - random.upTo(29 * dayMs)) },
        first: 50,
      }),
    },
    {
      title: "a filtered page: status",
      look: (random) => ({ criteria: { status: random.pick(statuses) }, first: 50 }),
    },
    {
      title: "a filtered page: model, status",
      look: (random) => ({ criteria: { model: model(random), status: random.pick(statuses) }, first: 50 }),
    },
    {
      title: "a filtered page: key, model, status",
      look: (random) => ({
        criteria: { apiKeyId: keyOf(random), model: model(random), status: random.pick(statuses) },
        first: 50,
      }),
    },
    {
      title: "a page of 500, as for an export",
      look: (random) => ({ criteria: { to: new Date(now - random.upTo(29 * dayMs)) }, first: 500 }),
    },
    {
      title: "the day's summary of everything",
      look: () => ({
        criteria: { from: startOfDay, to: new Date(now) },
        by: { groupBy: ["model"], interval: null },
      }),
    },
    {
      title: "the day's summary by key",
      look: () => ({ criteria: { from: startOfDay }, by: { groupBy: ["apiKeyId"], interval: null } }),
    },
    {
      title: "the month's chart",
      look: () => ({ criteria: month, by: { groupBy: ["model"], interval: "day" } }),
    },
    {
      title: "a key's chart",
      look: (random) => ({
        criteria: { ...month, apiKeyId: keyOf(random) },
        by: { groupBy: ["model"], interval: "day" },
      }),
    },
  ];
}

const dayMs = 86_400_000;

async function hundredthPages(history: UsageHistory, person: Person, keyIds: string[]) {
  const pages: { criteria: UsageCriteria; after: string | undefined }[] = [];
  for (const apiKeyId of keyIds) {
    let after: string | undefined;
    for (let page = 1; page < 100; page++) {
      const { records } = await history.list(person, { apiKeyId }, { first: 50, after });
      after = records.at(-1)?.id ?? after;
    }
    pages.push({ criteria: { apiKeyId }, after });
  }
  return pages;
}
