import type { Person } from "../../auth/person.ts";
import { inTurns } from "../../next-turn.ts";
import { addSums } from "./usage-summary.ts";
import type { UsageHistory } from "./usage-history.ts";
import type { UsageSummary } from "./usage-summary.ts";
import { type OverviewPeriod, startOf } from "./usage-overview.ts";

/** `id` is empty for requests without a model or owner. */
type TopRow = { id: string; name: string; requests: number; costUsd: number | null };

/** The top five rows of each list. Keys, models and people are sorted by cost, then by requests. */
export type TopUsage = {
  keys: TopRow[];
  models: TopRow[];
  /** Empty for members. */
  people: TopRow[];
  /** Error reasons of failed and interrupted requests, most frequent first. */
  errors: { reason: string; requests: number }[];
};

export async function readTopUsage(
  history: UsageHistory,
  person: Person,
  { period, now }: { period: OverviewPeriod; now: number },
): Promise<TopUsage> {
  const times = { from: new Date(startOf(period, now)), to: new Date(now + 1) };
  const read = (groupBy: ("apiKeyId" | "ownerId" | "model" | "errorReason")[]) =>
    history.summarize(person, times, { groupBy, interval: null, isWithoutTimes: true });
  // One read serves `keys` and `people`. It returns few extra rows, because keys rarely change owners.
  const owned = await read(["apiKeyId", "ownerId"]);
  const keys = await addUp(owned, ({ apiKeyId }) => apiKeyId);
  const people = person.role === "admin" ? await addUp(owned, ({ ownerId }) => ownerId) : [];
  const models = await read(["model"]);
  const reasons = await read(["errorReason"]);
  return {
    keys: topOf(keys, ({ apiKeyId = "", apiKeyName = "" }) => ({ id: apiKeyId, name: apiKeyName })),
    models: topOf(models, ({ model = "" }) => ({ id: model, name: model })),
    people: topOf(people, ({ ownerId = "", ownerName = "" }) => ({
      id: ownerId ?? "",
      name: ownerName,
    })),
    errors: reasons
      .map(({ errorReason, outcomes }) => ({
        reason: errorReason ?? "",
        requests: outcomes.FAILED + outcomes.INTERRUPTED,
      }))
      .filter(({ requests }) => requests > 0)
      .toSorted((one, other) => other.requests - one.requests)
      .slice(0, rowsMax),
  };
}

const rowsMax = 5;
/** About 2 ms of work. */
const rowsPerTurn = 200;

async function addUp(
  rows: UsageSummary[],
  keyOf: (row: UsageSummary) => string | undefined,
): Promise<UsageSummary[]> {
  const groups = new Map<string | undefined, UsageSummary>();
  for await (const row of inTurns(rows, rowsPerTurn)) {
    const sum = groups.get(keyOf(row));
    groups.set(keyOf(row), sum ? { ...sum, ...addSums(sum, row) } : row);
  }
  return [...groups.values()];
}

function topOf(rows: UsageSummary[], nameOf: (row: UsageSummary) => Pick<TopRow, "id" | "name">): TopRow[] {
  const costOf = ({ cost }: UsageSummary) => Number(cost);
  return rows
    .toSorted((one, other) => costOf(other) - costOf(one) || other.requests - one.requests)
    .slice(0, rowsMax)
    .map((row) => ({
      ...nameOf(row),
      requests: row.requests,
      costUsd: costOf(row) === 0 && row.unknownCosts > 0 ? null : costOf(row) / 1e9,
    }));
}
