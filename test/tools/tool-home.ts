import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { generateSetup } from "../../gateway/setup/generate-setup.ts";
import { listen } from "../helpers/listen.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import type { CodingTool, GatewayAccess } from "./coding-tool.ts";
import { type ProgramSettings, runProgram } from "./run-program.ts";

/** Creates a home folder with a project, and runs the tool's setup in it. */
export async function createToolHome(
  t: Pick<ExecutionContext, "teardown">,
  tool: CodingTool,
  access: GatewayAccess,
): Promise<{ project: string; environment: Record<string, string>; wanted: string[] }> {
  const folder = await createTestFolder(t);
  const { url: proxyUrl, wanted } = await startRefusingProxy(t);
  const home = path.join(folder, "home");
  const project = path.join(home, "project");
  const temporary = path.join(folder, "tmp");
  for (const each of [project, temporary]) await mkdir(each, { recursive: true });
  for (const [name, content] of Object.entries(tool.files ?? {})) {
    const file = path.join(home, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content, { mode: 0o600 });
  }
  const environment = {
    // Tools that need Node use the version that runs the tests.
    PATH: [path.dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(path.delimiter),
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_DATA_HOME: path.join(home, ".local/share"),
    XDG_STATE_HOME: path.join(home, ".local/state"),
    XDG_CACHE_HOME: path.join(home, ".cache"),
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    ...networkVariables(proxyUrl),
    SHELL: "/bin/bash",
    ...tool.environment,
  };
  await setUp(tool, access, { folder: home, environment, timeoutMs: 120_000 });
  return { project, environment, wanted };
}

/** Runs the generated command without a terminal. Throws if the command's check fails. */
async function setUp(tool: CodingTool, access: GatewayAccess, settings: ProgramSettings): Promise<void> {
  const { url: baseUrl, apiKey: key, models } = access;
  const { command } = generateSetup({ tool: tool.tab, operatingSystem: "posix", baseUrl, key, models });
  const { code, stdout, stderr, tookMs } = await runProgram("sh", ["-c", command], settings);
  if (code === 0 && stdout.includes("\nOK, ")) return;
  throw new Error(`${stdout}${stderr}It ended with ${code} after ${Math.round(tookMs)} ms.`);
}

/** Starts a proxy that refuses and records every request. */
async function startRefusingProxy(t: Pick<ExecutionContext, "teardown">) {
  const wanted: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    wanted.push(url);
    response.writeHead(403).end();
  });
  server.on("connect", ({ url = "" }, socket) => {
    wanted.push(url);
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  });
  return { url: `http://127.0.0.1:${await listen(t, server)}`, wanted };
}

/** Returns variables that direct all traffic except the gateway's to the proxy. */
function networkVariables(proxyUrl: string): Record<string, string> {
  const variables = { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl, NO_PROXY: "127.0.0.1" };
  const lowerCase = Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...variables, ...Object.fromEntries(lowerCase), DO_NOT_TRACK: "1" };
}
