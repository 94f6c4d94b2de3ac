import type { BenchmarkCase } from "./cases.ts";
import { comparePairs, formatPairedCost } from "./compare-pairs.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { MeasuredProcess } from "./measured-process.ts";
import type { RoundRunner } from "./round-runner.ts";

/**
 * Reports what the gateway's own HTTP client saves, and what limits and usage records cost.
 * @param bareUs the bare proxy's CPU time per request in microseconds
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
  const client = await comparePairs(async (variant) => {
    await gateway.ask("useUndici", variant === "without");
    const { cpuUsPerRequest } = await runner.run("gateway", turn);
    return cpuUsPerRequest;
  });
  await gateway.ask("useUndici", false);
  return [
    `The gateway's own HTTP client saves ${(-client.more).toFixed(1)} ± ${client.error.toFixed(1)} of ${client.without.toFixed(1)} CPU µs/request with undici (${((-100 * client.more) / client.without).toFixed(0)} %).`,
    formatPairedCost("Limits of every kind", limits, 3, bareUs),
    formatPairedCost("Usage records", records, 15, bareUs),
  ].join("\n");
}

/** A turn of this many requests takes about 50 ms. */
const requestsPerTurn = 512;
