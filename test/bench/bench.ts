import { mkdirSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import manifest from "../../package.json" with { type: "json" };
import type { BareProxy } from "./bare-proxy.ts";
import { type BenchmarkCase, cases, checkAnswer } from "./cases.ts";
import { chatRequest } from "./chat-request.ts";
import type { GatewayProcess, RecordCounts } from "./gateway-process.ts";
import type { LoadGenerator } from "./load-generator.ts";
import { startProcess } from "./measured-process.ts";
import { formatResults, machineFacts, type Result, type Round } from "./report.ts";
import type { ScriptedUpstream } from "./scripted-upstream.ts";
import { setUpGateway, slug } from "./set-up-gateway.ts";

/**
 * `npm run bench`: what a request costs the gateway, in CPU time, beside a bare `node:http` proxy under the same load.
 * `-- --profile <folder>` also writes a CPU profile of each case. Fails only where something is broken.
 */
async function bench(profileFolder: string | undefined): Promise<void> {
  const upstream = startProcess<ScriptedUpstream>("scripted-upstream.ts");
  const bareProxy = startProcess<BareProxy>("bare-proxy.ts");
  const gateway = startProcess<GatewayProcess>("gateway-process.ts", startFlags());
  const load = startProcess<LoadGenerator>("load-generator.ts");
  try {
    const upstreamPort = await upstream.ask("start");
    const { url, setUpToken } = await gateway.ask("start", upstreamPort);
    const key = await setUpGateway(url, setUpToken, upstreamPort);
    const ports = { bare: await bareProxy.ask("start", upstreamPort), gateway: Number(new URL(url).port) };
    let sentToGateway = 0;

    const requestOf = (proxy: Proxy, { stream }: BenchmarkCase) =>
      chatRequest({ host: `127.0.0.1:${ports[proxy]}`, key, model: slug, stream });
    const cpuOf = (proxy: Proxy) => (proxy === "bare" ? bareProxy : gateway).ask("cpu");

    const runRound = async (proxy: Proxy, benchmarkCase: BenchmarkCase): Promise<Round> => {
      const { requestsPerRound: count, body } = benchmarkCase;
      const request = requestOf(proxy, benchmarkCase);
      const cpuBefore = await cpuOf(proxy);
      const options = { port: ports[proxy], request, body: body[proxy], count, timeoutMs: roundTimeoutMs };
      const { durationMs } = await load.ask("run", options);
      const cpuUs = (await cpuOf(proxy)) - cpuBefore;
      if (proxy === "gateway") sentToGateway += count;
      return { requestsPerSecond: (count / durationMs) * 1000, cpuUsPerRequest: cpuUs / count };
    };

    // Everything runs before anything is measured: what V8 makes of the code depends on all that has gone through it.
    for (const benchmarkCase of cases) {
      const { status, body } = await load.ask("fetch", {
        port: ports.gateway,
        request: requestOf("gateway", benchmarkCase),
      });
      sentToGateway++;
      if (status !== 200) throw new Error(`The gateway answers ${status}: ${body}`);
      checkAnswer(benchmarkCase.stream, body ?? "");
      for (let round = 0; round < warmUpRounds; round++) {
        await runRound("bare", benchmarkCase);
        await runRound("gateway", benchmarkCase);
      }
    }

    const results: Result[] = [];
    for (const benchmarkCase of cases) {
      const result: Result = { name: benchmarkCase.name, aim: benchmarkCase.aim, bare: [], gateway: [] };
      // In turn, so that whatever else the machine does befalls both.
      for (let round = 0; round < rounds; round++) {
        result.bare.push(await runRound("bare", benchmarkCase));
        result.gateway.push(await runRound("gateway", benchmarkCase));
      }
      results.push(result);
      if (profileFolder === undefined) continue;
      // After the measurement, because being profiled costs too.
      mkdirSync(profileFolder, { recursive: true });
      await gateway.ask("startProfile");
      for (let round = 0; round < rounds; round++) await runRound("gateway", benchmarkCase);
      await gateway.ask("stopProfile", path.resolve(profileFolder, `${benchmarkCase.name}.cpuprofile`));
    }

    checkRecords(await gateway.ask("stopAndCount"), sentToGateway);
    console.log(`${machineFacts()}\n\n${formatResults(results)}`);
    console.log(
      `\n${sentToGateway.toLocaleString("en")} requests through the gateway, each with its usage record.`,
    );
  } finally {
    await Promise.all([load.stop(), gateway.stop(), bareProxy.stop(), upstream.stop()]);
  }
}

type Proxy = "bare" | "gateway";

const warmUpRounds = 5;
const rounds = 9;
const roundTimeoutMs = 10_000;
const benchTimeoutMs = 60_000;

/** The flags of `npm start`. */
function startFlags(): string[] {
  return manifest.scripts.start.split(" ").filter((word) => word.startsWith("-"));
}

/** Every request has left a record, with the counts that the upstream gave. */
function checkRecords({ records, succeeded, inputTokens, outputTokens }: RecordCounts, sent: number): void {
  const isRight =
    records === sent && succeeded === sent && inputTokens === sent * 219 && outputTokens === sent * 50;
  if (isRight) return;
  throw new Error(
    `${sent} requests were sent, but there are ${records} usage records, ${succeeded} of success, with ${inputTokens} and ${outputTokens} tokens.`,
  );
}

// However this process ends, its children end when they notice.
setTimeout(() => {
  console.error(`The benchmark took more than ${benchTimeoutMs} ms.`);
  process.exit(1);
}, benchTimeoutMs).unref();

const { values } = parseArgs({ options: { profile: { type: "string" } } });
try {
  await bench(values.profile);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
