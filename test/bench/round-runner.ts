import type { BareProxy } from "./bare-proxy.ts";
import type { BenchmarkCase } from "./cases.ts";
import { chatRequest } from "./chat-request.ts";
import { checkAnswer } from "./check-answer.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import type { LoadGenerator } from "./load-generator.ts";
import type { MeasuredProcess } from "./measured-process.ts";
import type { Round } from "./report.ts";

type RoundRunnerOptions = {
  load: MeasuredProcess<LoadGenerator>;
  bare: MeasuredProcess<BareProxy>;
  gateway: MeasuredProcess<GatewayProcess>;
  ports: Record<Proxy, number>;
  /** The limits of the `limited` key are never reached. */
  keys: BenchKeys;
};

export type BenchKeys = { free: string; limited: string };

type Proxy = "bare" | "gateway";

export class RoundRunner {
  readonly #options: RoundRunnerOptions;
  readonly #answerBytes = new Map<BenchmarkCase, number>();
  #sentToGateway = 0;

  constructor(options: RoundRunnerOptions) {
    this.#options = options;
  }

  get sentToGateway(): number {
    return this.#sentToGateway;
  }

  /** Checks one gateway response in detail. Later responses must have the same length. */
  async check(benchmarkCase: BenchmarkCase): Promise<void> {
    const { load, ports } = this.#options;
    const request = this.#requestOf("gateway", benchmarkCase);
    const { status, body = "" } = await load.ask("fetch", { port: ports.gateway, request });
    this.#sentToGateway++;
    if (status !== 200) throw new Error(`${benchmarkCase.name}: the gateway answers ${status}: ${body}`);
    checkAnswer(benchmarkCase, body);
    this.#answerBytes.set(benchmarkCase, Buffer.byteLength(body));
  }

  /** Runs rounds through the bare proxy and the gateway in turn, so that noise affects both. */
  async runBoth(benchmarkCase: BenchmarkCase, rounds: number): Promise<Record<Proxy, Round[]>> {
    const both: Record<Proxy, Round[]> = { bare: [], gateway: [] };
    for (let round = 0; round < rounds; round++) {
      both.bare.push(await this.run("bare", benchmarkCase));
      both.gateway.push(await this.run("gateway", benchmarkCase));
    }
    return both;
  }

  async run(proxy: Proxy, benchmarkCase: BenchmarkCase, key: keyof BenchKeys = "free"): Promise<Round> {
    const { load, ports } = this.#options;
    const { requestsPerRound: count, body } = benchmarkCase;
    const request = this.#requestOf(proxy, benchmarkCase, key);
    const expected = body[proxy] ?? this.#answerBytes.get(benchmarkCase) ?? 0;
    const cpuBefore = await this.#cpuOf(proxy);
    const options = { port: ports[proxy], request, expected, count, timeoutMs: roundTimeoutMs };
    const { durationMs } = await load.ask("run", options);
    const cpuUs = (await this.#cpuOf(proxy)) - cpuBefore;
    if (proxy === "gateway") this.#sentToGateway += count;
    return { requestsPerSecond: (count / durationMs) * 1000, cpuUsPerRequest: cpuUs / count };
  }

  #cpuOf(proxy: Proxy): Promise<number> {
    const { bare, gateway } = this.#options;
    return proxy === "bare" ? bare.ask("cpu") : gateway.ask("cpu");
  }

  #requestOf(
    proxy: Proxy,
    { slug, stream, clientPath, upstreamPath }: BenchmarkCase,
    key: keyof BenchKeys = "free",
  ): string {
    const { ports, keys } = this.#options;
    const path = proxy === "bare" ? upstreamPath : clientPath;
    return chatRequest({ host: `127.0.0.1:${ports[proxy]}`, path, key: keys[key], model: slug, stream });
  }
}

const roundTimeoutMs = 10_000;
