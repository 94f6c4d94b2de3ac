import type { BenchmarkCase } from "./cases.ts";
import { comparePairs, formatPairedCost } from "./compare-pairs.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { MeasuredProcess } from "./measured-process.ts";
import type { RoundRunner } from "./round-runner.ts";

/**
 * What limits of all kinds on the key cost, and what it costs to write usage records down, in the spool and in the database; a
 * line each.
 * @param bareUs what the bare proxy takes for a request
 */
export async function compareFeatures(
  runner: RoundRunner,
  gateway: MeasuredProcess<GatewayProcess>,
  benchmarkCase: BenchmarkCase,
  bareUs: number,
): Promise<string> {
  const turn = { ...benchmarkCase, requestsPerRound: requestsPerTurn };
  const limits = await comparePairs(async (variant) => {
    const { cpuUsPerRequest } = await runner.run("gateway", turn, variant === "with" ? "limited" : "free");
    return cpuUsPerRequest;
  });
  const records = await comparePairs(async (variant) => {
    await gateway.ask("keepRecords", variant === "with");
    const { cpuUsPerRequest } = await runner.run("gateway", turn);
    return cpuUsPerRequest;
  });
  return [
    formatPairedCost("Limits of every kind", limits, 3, bareUs),
    formatPairedCost("Usage records", records, 15, bareUs),
  ].join("\n");
}

/** A twentieth of a second, about. */
const requestsPerTurn = 512;
