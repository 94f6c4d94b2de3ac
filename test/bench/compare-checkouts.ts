import path from "node:path";
import { startFlags } from "./start-flags.ts";
import { type BenchmarkCase, openAiCases } from "./cases.ts";
import { chatRequest } from "./chat-request.ts";
import { comparePairs, type Variant } from "./compare-pairs.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { LoadGenerator } from "./load-generator.ts";
import { type MeasuredProcess, startProcess } from "./measured-process.ts";
import { formatTable, machineFacts } from "./report.ts";
import type { ScriptedUpstream } from "./scripted-upstream.ts";
import { setUpGateway } from "./set-up-gateway.ts";

/**
 * `npm run bench:compare -- <folder>` compares the CPU time per request of this and another checkout. Noise affects
 * both checkouts alike, because they run in short alternating turns.
 */
async function compareCheckouts(other: string): Promise<void> {
  const upstream = startProcess<ScriptedUpstream>("scripted-upstream.ts");
  const load = startProcess<LoadGenerator>("load-generator.ts");
  const gatewayFile = "test/bench/gateway-process.ts";
  const gateways: Record<Variant, MeasuredProcess<GatewayProcess>> = {
    without: startProcess<GatewayProcess>(path.resolve(other, gatewayFile), startFlags()),
    with: startProcess<GatewayProcess>(path.resolve(gatewayFile), startFlags()),
  };
  try {
    const upstreamPort = await upstream.ask("start");
    const start = async (variant: Variant) => {
      const { url, setUpToken } = await gateways[variant].ask("start", upstreamPort);
      const { free: key } = await setUpGateway(url, setUpToken, upstreamPort);
      return { url: new URL(url), key };
    };
    const started = { without: await start("without"), with: await start("with") };

    const rows = [["case", "other, CPU µs", "this, CPU µs", "difference", "%"]];
    for (const { name, promptBytes, count, benchmarkCase } of cases) {
      const { slug, stream, clientPath } = benchmarkCase;
      const turnOf = async (variant: Variant) => {
        const { url, key } = started[variant];
        const path = clientPath;
        const request = chatRequest({ host: url.host, path, key, model: slug, stream, promptBytes });
        const port = Number(url.port);
        const { status, body = "" } = await load.ask("fetch", { port, request });
        if (status !== 200) throw new Error(`${name}: status ${status}: ${body}`);
        return { port, request, expected: Buffer.byteLength(body), count, timeoutMs: 10_000 };
      };
      const turns = { without: await turnOf("without"), with: await turnOf("with") };
      const cost = await comparePairs(async (variant) => {
        const before = await gateways[variant].ask("cpu");
        await load.ask("run", turns[variant]);
        return ((await gateways[variant].ask("cpu")) - before) / count;
      });
      const percent = [cost.more, cost.error].map((us) => ((100 * us) / cost.without).toFixed(1));
      rows.push([
        name,
        cost.without.toFixed(1),
        cost.with.toFixed(1),
        `${cost.more.toFixed(1)} ± ${cost.error.toFixed(1)}`,
        percent.join(" ± "),
      ]);
    }
    console.log(`${machineFacts()}\n\n${formatTable(rows)}`);
  } finally {
    await Promise.all([load, upstream, ...Object.values(gateways)].map((each) => each.stop()));
  }
}

type Case = { name: string; promptBytes: number; count: number; benchmarkCase: BenchmarkCase };

const [answer, stream] = openAiCases;
if (!answer || !stream) throw new Error("The benchmark has no OpenAI cases.");

const cases: Case[] = [
  { name: "1 KB prompt", promptBytes: 1_024, count: 512, benchmarkCase: answer },
  { name: "50-chunk stream", promptBytes: 1_024, count: 256, benchmarkCase: stream },
  { name: "128 KB prompt", promptBytes: 128 * 1024, count: 64, benchmarkCase: answer },
  { name: "1 MB prompt", promptBytes: 1024 * 1024, count: 16, benchmarkCase: answer },
];

const [other] = process.argv.slice(2);
if (other === undefined) throw new Error("Name the folder of the checkout to compare with.");
await compareCheckouts(other);
