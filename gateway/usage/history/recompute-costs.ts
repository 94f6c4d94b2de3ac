import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Database, Repositories } from "../../../db/database.ts";
import type { ModelRow } from "../../../db/entities/model.ts";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";
import { GatewayError } from "../../errors.ts";
import { firstIdAt } from "../../ids.ts";
import type { UsageDetails } from "../../wire/token-usage.ts";
import { isUnsent, toCost } from "../counting/cost.ts";

export type RecomputeRange = {
  from: Date;
  to: Date;
  /** The slug of one model. Undefined for all models. */
  model?: string | undefined;
};

/** Costs are in nano-dollars. */
export type RecomputedModel = {
  model: string;
  records: number;
  changed: number;
  costBefore: bigint;
  costAfter: bigint;
  unknownBefore: number;
  unknownAfter: number;
};

/**
 * Recomputes a period's costs and roll-ups with current prices, in small transactions. An interrupted run can
 * be repeated. Throws `invalid_value` for an unknown model.
 * @param onProgress receives the time of the last processed record
 */
export async function recomputeCosts(
  database: Database,
  { from, to, model }: RecomputeRange,
  onProgress: (time: Date) => void = () => {},
): Promise<RecomputedModel[]> {
  const models = await database.read(readModels);
  const wanted = model === undefined ? undefined : models.find(({ slug }) => slug === model);
  if (model !== undefined && !wanted) {
    throw new GatewayError("invalid_value", `The model ${model} does not exist. Check the slug.`, {
      param: "model",
    });
  }
  const modelOf = answeringModel(models);
  const results = new Map<string, RecomputedModel>();
  const beforeId = firstIdAt("req", to.getTime());
  for (let fromId = firstIdAt("req", from.getTime()); ;) {
    const page = { fromId, beforeId, limit: recordsPerTransaction };
    const done = await database.write(async ({ usageRecords, usageRollUps }) => {
      const records = await usageRecords.lockOldest(page);
      const matching = records.filter((record) => {
        const answering = modelOf(record);
        return answering && (!wanted || answering.id === wanted.id);
      });
      const pairs = matching.map((before) => ({ before, after: withPricesOf(before, modelOf(before)) }));
      const changed = pairs.filter(({ before, after }) => differ(before, after));
      await usageRecords.replaceCosts(changed.map(({ after }) => after));
      await usageRollUps.replace(
        changed.map(({ before }) => before),
        changed.map(({ after }) => after),
      );
      return { records, pairs };
    });
    // Counting inside the transaction would count records again when the transaction is repeated.
    for (const { before, after } of done.pairs) count(results, modelOf(before)?.slug ?? "", before, after);
    const last = done.records.at(-1);
    if (!last || done.records.length < recordsPerTransaction) return [...results.values()];
    // Appending a character skips the last record but no later one.
    fromId = `${last.id}0`;
    onProgress(last.createdAt);
    if (database.isSqlite) await pause(othersTurnMs);
  }
}

const recordsPerTransaction = 500;
/** SQLite does not queue writers, so a pause lets a running gateway write. */
const othersTurnMs = 20;

type PricedModel = ModelRow & { providerName: string; costSource: "provider" | null };

async function readModels({ models, providers }: Repositories): Promise<PricedModel[]> {
  const byId = new Map((await providers.list()).map((provider) => [provider.id, provider]));
  return (await models.list()).map((model) => {
    const { name: providerName = "", costSource = null } = byId.get(model.providerId) ?? {};
    return { ...model, providerName, costSource };
  });
}

/** Several models may share a provider and upstream model. The requested model then takes precedence. */
function answeringModel(models: PricedModel[]) {
  const bySlug = new Map(models.map((model) => [model.slug, model]));
  const byUpstream = Map.groupBy(
    models,
    ({ providerName, upstreamModel }) => `${providerName}\n${upstreamModel}`,
  );
  return ({ model, provider, upstreamModel }: UsageRecordRow): PricedModel | undefined => {
    const requested = bySlug.get(model);
    if (requested?.providerName === provider && requested.upstreamModel === upstreamModel) return requested;
    return byUpstream.get(`${provider}\n${upstreamModel}`)?.[0];
  };
}

/** Keeps the record's charge factor, because it was agreed for the time of the request. */
function withPricesOf(record: UsageRecordRow, model: PricedModel | undefined): UsageRecordRow {
  if (!model || isUnsent(record)) return record;
  const { costDetails, providerCost } = record;
  const isTheirs = model.costSource !== null && providerCost !== null;
  if (model.inputPrice === null && !isTheirs) return record;
  const details: UsageDetails = {
    ...costDetails?.usage,
    ...(providerCost !== null && { providerCost }),
  };
  const hasDetails = Object.keys(details).length > 0;
  const usage = hasDetails ? { ...record, details } : record;
  const { costSource } = model;
  const chargeFactor = costDetails?.factor ?? 1;
  return { ...record, ...toCost(model, usage, { costSource, chargeFactor, at: record.createdAt }) };
}

function differ(before: UsageRecordRow, after: UsageRecordRow): boolean {
  const names = [
    "cost",
    "inputPrice",
    "cachedInputPrice",
    "cacheWritePrice",
    "outputPrice",
    "markup",
  ] as const;
  return (
    names.some((name) => before[name] !== after[name]) ||
    !isDeepStrictEqual(before.costDetails, after.costDetails)
  );
}

function count(
  results: Map<string, RecomputedModel>,
  model: string,
  before: UsageRecordRow,
  after: UsageRecordRow,
): void {
  const nothing = {
    model,
    records: 0,
    changed: 0,
    costBefore: 0n,
    costAfter: 0n,
    unknownBefore: 0,
    unknownAfter: 0,
  };
  const result = results.get(model) ?? nothing;
  results.set(model, result);
  result.records++;
  if (before.cost !== after.cost) result.changed++;
  result.costBefore += BigInt(before.cost ?? 0);
  result.costAfter += BigInt(after.cost ?? 0);
  if (before.cost === null) result.unknownBefore++;
  if (after.cost === null) result.unknownAfter++;
}
