import { parseArgs } from "node:util";
import type { Database } from "../../../db/database.ts";
import { StartError } from "../../errors.ts";
import { parseMoment } from "./parse-moment.ts";
import { recomputeCosts, type RecomputedModel, type RecomputeRange } from "./recompute-costs.ts";

/**
 * Recomputes the costs of a period with current prices. Throws a `StartError` for invalid parameters, and
 * `invalid_value` for an unknown model.
 */
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
