import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startFakeEngine } from "./fake-engine.ts";
import type { Graph } from "./graph.ts";

type RunOptions = {
  stack: string;
  phase: Graph["phase"];
  config: Record<string, string>;
  program?: string;
  runsHooks?: boolean;
  /** Additional variables. The program inherits no variables, so that it cannot find real credentials. */
  environment?: Record<string, string>;
};

type Run = { graph: Graph; exitCode: number | null; messages: string[]; failures: string[] };

/** Runs a program with Pulumi's language host, as `pulumi preview` and `pulumi up` do. */
export async function runProgram(options: RunOptions): Promise<Run> {
  const { stack, phase, config, program = infraProgram, runsHooks = false, environment = {} } = options;
  const engine = await startFakeEngine({ project: "gateway", stack, phase, runsHooks });
  try {
    const parameters = {
      monitor: engine.address,
      engine: engine.address,
      project: "gateway",
      stack,
      organization: "tests",
      parallel: "32",
      pwd: path.dirname(program),
    };
    const child = spawn(
      process.execPath,
      [
        // Recording a full stack trace for every output would take half of the host's time.
        "--stack-trace-limit=4",
        `--import=${withoutSourceMaps}`,
        languageHost,
        ...Object.entries(parameters).map(([name, value]) => `--${name}=${value}`),
        ...(phase === "preview" ? ["--dry-run"] : []),
        path.basename(program),
      ],
      {
        env: {
          PULUMI_CONFIG: JSON.stringify(config),
          PULUMI_NODEJS_TYPESCRIPT: "false",
          NODE_COMPILE_CACHE: path.join(tmpdir(), "model-gateway-infra-tests"),
          ...environment,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => printed.push(text));
    const { promise, resolve, reject } = Promise.withResolvers<number | null>();
    child.once("error", reject).once("close", resolve);
    const exitCode = await promise;
    const { messages, failures, invocations } = engine;
    const resources = engine.resources.toSorted((a, b) => (a.urn < b.urn ? -1 : 1));
    const graph = { phase, stack, resources, outputs: engine.outputs(), invocations };
    return { graph, exitCode, messages: [...messages, ...printed], failures };
  } finally {
    engine.close();
  }
}

/** Supports only the YAML syntax of the files infra/Pulumi.dev.yaml and infra/Pulumi.prod.yaml. */
export function exampleConfig(stack: "dev" | "prod"): Record<string, string> {
  const yaml = readFileSync(path.join(infraFolder, `Pulumi.${stack}.yaml`), "utf8");
  const lines = yaml.matchAll(/^ {2}([\w:-]+): (.+)$/gm);
  return Object.fromEntries(
    [...lines].map(([, key = "", value = ""]) => [key, value.replace(/^"(.*)"$/, "$1")]),
  );
}

const infraFolder = path.join(import.meta.dirname, "../../../infra");
const infraProgram = path.join(infraFolder, "index.ts");
const withoutSourceMaps = import.meta.resolve("./without-source-maps.ts");
const languageHost = createRequire(import.meta.url).resolve("@pulumi/pulumi/cmd/run");
