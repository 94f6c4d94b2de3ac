import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";
import type { Database, Repositories } from "../../../db/database.ts";
import type { ModelRow } from "../../../db/entities/model.ts";
import type { UsageRecordRow } from "../../../db/entities/usage-record.ts";
import { GatewayError, StartError } from "../../errors.ts";
import { firstIdAt } from "../../ids.ts";
import type { UsageDetails } from "../../wire/token-usage.ts";
import { isUnsent, toCost } from "../counting/cost.ts";
import { parseMoment } from "./parse-moment.ts";

type RecomputeRange = {
  from: Date;
  to: Date;
  /** The slug of one model. Undefined for all models. */
  model?: string | undefined;
};

/** Costs are in nano-dollars. */
const nothing = {
  records: 0,
  changed: 0,
  costBefore: 0n,
  costAfter: 0n,
  unknownBefore: 0,
  unknownAfter: 0,
};

type RecomputedModel = typeof nothing & { model: string };

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
      const changed = pairs.filter(({ before, after }) => !isDeepStrictEqual({ ...before }, { ...after }));
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

function count(
  results: Map<string, RecomputedModel>,
  model: string,
  before: UsageRecordRow,
  after: UsageRecordRow,
): void {
  const result = results.get(model) ?? { model, ...nothing };
  results.set(model, result);
  result.records++;
  if (before.cost !== after.cost) result.changed++;
  result.costBefore += BigInt(before.cost ?? 0);
  result.costAfter += BigInt(after.cost ?? 0);
  if (before.cost === null) result.unknownBefore++;
  if (after.cost === null) result.unknownAfter++;
}

/** Throws a `StartError` for invalid parameters, and `invalid_value` for an unknown model. */
export async function recomputeCommand(
  database: Database,
  parameters: string[],
  print: (line: string) => void,
): Promise<void> {
  const range = readRange(parameters);
  let reportedAt = performance.now();
  const results = await recomputeCosts(database, range, (time) => {
    if (performance.now() - reportedAt < progressIntervalMs) return;
    reportedAt = performance.now();
    print(
      `Done up to ${time.toISOString()}. After an interruption, continue with --from ${time.toISOString()}`,
    );
  });
  if (results.length === 0)
    return print(`No requests to ${range.model ?? "a configured model"} in this period.`);
  for (const result of results) print(describe(result));
}

const progressIntervalMs = 5_000;

function readRange(parameters: string[]): RecomputeRange {
  try {
    const { values } = parseArgs({
      args: parameters,
      options: { from: { type: "string" }, to: { type: "string" }, model: { type: "string" } },
    });
    const from = readMoment("--from", values.from);
    const to = readMoment("--to", values.to);
    if (from >= to) throw new Error(`--from ${values.from} is not before --to ${values.to}`);
    return { from, to, model: values.model };
  } catch (error) {
    // Node adds advice about its own syntax in further sentences.
    const [problem] = (error instanceof Error ? error.message : String(error)).split(". ");
    throw new StartError(`${problem}.\n${usage}`);
  }
}

const usage =
  "Use: npm run usage:recompute -- --from 2026-11-01 --to 2026-12-01T12:00:00Z [--model openai/gpt-4o]";

function readMoment(name: string, text: string | undefined): Date {
  if (text === undefined) throw new Error(`${name} is missing`);
  const moment = momentPattern.test(text) ? parseMoment(text) : null;
  if (moment === null) throw new Error(`${name} is neither a date nor a timestamp: ${text}`);
  return moment;
}

const momentPattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

function describe(result: RecomputedModel): string {
  const { model, records, changed, costBefore, costAfter, unknownBefore, unknownAfter } = result;
  const sums = `${formatDollars(costBefore)} before (${unknownBefore} unpriced), ${formatDollars(costAfter)} now (${unknownAfter} unpriced)`;
  return `${model}: the cost of ${changed} of ${records} requests changed. ${sums}`;
}

function formatDollars(nano: bigint): string {
  const digits = String(nano).padStart(10, "0");
  return `$${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
