import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import type { BareProxy } from "./bare-proxy.ts";
import { type BenchmarkCase, dialectCases, openAiCases, vendorCases } from "./cases.ts";
import { compareFeatures } from "./compare-features.ts";
import type { GatewayProcess, RecordCounts } from "./gateway-process.ts";
import type { LoadGenerator } from "./load-generator.ts";
import { startProcess } from "./measured-process.ts";
import { formatResults, machineFacts, median, type Result } from "./report.ts";
import { RoundRunner } from "./round-runner.ts";
import { setUpGateway } from "./set-up-gateway.ts";
import { startFlags } from "./start-flags.ts";
import type { UpstreamProcess } from "./upstream-process.ts";

/**
 * `npm run bench` compares the gateway's CPU time per request with that of a bare `node:http` proxy. Missed targets do
 * not fail the benchmark. `npm run bench -- --profile <folder>` also writes a CPU profile of each case.
 */
async function bench(profileFolder: string | undefined): Promise<void> {
  const upstream = startProcess<UpstreamProcess>("upstream-process.ts");
  const bareProxy = startProcess<BareProxy>("bare-proxy.ts");
  const gateway = startProcess<GatewayProcess>("gateway-process.ts", startFlags());
  const load = startProcess<LoadGenerator>("load-generator.ts");
  try {
    const upstreamPort = await upstream.ask("start");
    const { url, setUpToken } = await gateway.ask("start", upstreamPort);
    const keys = await setUpGateway(url, setUpToken, upstreamPort);
    const ports = { bare: await bareProxy.ask("start", upstreamPort), gateway: Number(new URL(url).port) };
    const runner = new RoundRunner({ load, bare: bareProxy, gateway, ports, keys });

    const measure = async (benchmarkCase: BenchmarkCase): Promise<Result> => {
      const { name, rounds } = benchmarkCase;
      const result = { ...benchmarkCase, ...(await runner.runBoth(benchmarkCase, rounds)) };
      if (profileFolder === undefined) return result;
      // The profile is recorded after the measurement, because profiling costs time.
      mkdirSync(profileFolder, { recursive: true });
      await gateway.ask("startProfile");
      for (let round = 0; round < rounds; round++) await runner.run("gateway", benchmarkCase);
      await gateway.ask("stopProfile", path.resolve(profileFolder, `${name}.cpuprofile`));
      return result;
    };

    const results: Result[] = [];
    // OpenAI's cases are measured before other formats make V8 deoptimize shared code.
    for (const cases of [openAiCases, [...vendorCases, ...dialectCases]]) {
      // All cases of a group run before its first measurement, because new kinds of requests make V8 deoptimize code.
      for (const benchmarkCase of cases) {
        await runner.check(benchmarkCase);
        await runner.runBoth(benchmarkCase, benchmarkCase.warmUpRounds);
      }
      for (const benchmarkCase of cases) results.push(await measure(benchmarkCase));
    }
    const [shortest] = openAiCases;
    const bareUs = median(results[0]?.bare ?? []);
    const costOfFeatures = shortest ? await compareFeatures(runner, gateway, shortest, bareUs) : "";

    const sent = runner.sentToGateway;
    const { left, counts } = await gateway.ask("stopAndCount");
    checkRecords(counts, sent - left);
    console.log(`${machineFacts()}\n\n${formatResults(results)}`);
    console.log(
      `\n${sent.toLocaleString("en")} requests through the gateway, each with its usage record but for ${left.toLocaleString("en")} that were to have none.`,
    );
    console.log(costOfFeatures);
  } finally {
    await Promise.all([load.stop(), gateway.stop(), bareProxy.stop(), upstream.stop()]);
  }
}

/** The upstream reports 219 input tokens and 50 output tokens for every request. */
function checkRecords({ records, succeeded, inputTokens, outputTokens }: RecordCounts, sent: number): void {
  const isRight =
    records === sent && succeeded === sent && inputTokens === sent * 219 && outputTokens === sent * 50;
  if (isRight) return;
  throw new Error(
    `${sent} requests were sent, but there are ${records} usage records, ${succeeded} of success, with ${inputTokens} and ${outputTokens} tokens.`,
  );
}

const { values } = parseArgs({ options: { profile: { type: "string" } } });

const benchTimeoutMs = values.profile === undefined ? 360_000 : 480_000;
setTimeout(() => {
  console.error(`The benchmark took more than ${benchTimeoutMs} ms.`);
  process.exit(1);
}, benchTimeoutMs).unref();

try {
  await bench(values.profile);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
