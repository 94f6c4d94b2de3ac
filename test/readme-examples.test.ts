import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import path from "node:path";
import test, { type ExecutionContext } from "ava";
import { hangMs } from "./helpers/eventually.ts";
import { listen } from "./helpers/listen.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { createKey, startTestGateway } from "./helpers/test-gateway.ts";
import { installTool } from "./tools/install-tool.ts";
import type { PythonVersion } from "./tools/coding-tool.ts";
import { runProgram } from "./tools/run-program.ts";

const root = path.join(import.meta.dirname, "..");
const readme = readFileSync(path.join(root, "README.md"), "utf8");
const example = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n(.+?)^\`\`\``, "ms").exec(readme)?.[1] ?? "";

/**
 * The example sends its request to port 8080, which another program may use. A proxy redirects the request to the
 * test's gateway.
 */
async function run(t: ExecutionContext, command: string, file: string) {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const { port } = new URL(gateway.url);
  const targets: string[] = [];
  const proxy = createServer((incoming, response) => {
    const { pathname, host } = new URL(incoming.url ?? "");
    targets.push(host);
    const { method, headers } = incoming;
    const forwarded = request({ host: "127.0.0.1", port, path: pathname, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(forwarded);
  });
  // Depending on its version, Node opens a tunnel even for plain HTTP.
  proxy.on("connect", ({ url = "" }, socket) => {
    targets.push(url);
    const tunnel = connect(Number(port), "127.0.0.1");
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    socket.on("error", () => tunnel.destroy()).on("close", () => tunnel.destroy());
    tunnel.on("error", () => socket.destroy());
    socket.pipe(tunnel).pipe(socket);
  });
  const proxyUrl = `http://127.0.0.1:${await listen(t, proxy)}`;
  const environment = {
    PATH: process.env["PATH"],
    GATEWAY_API_KEY: value,
    HTTP_PROXY: proxyUrl,
    http_proxy: proxyUrl,
    NODE_USE_ENV_PROXY: "1",
  };
  const result = await runProgram(command, [file], {
    folder: path.dirname(file),
    environment,
    timeoutMs: hangMs,
  });
  t.is(result.code, 0, result.stderr);
  t.is(result.stdout, "Hello, gateway!\n");
  t.deepEqual(targets, ["127.0.0.1:8080"]);
}

test("the README's JavaScript example works as it stands", async (t) => {
  const folder = await createTestFolder(t);
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const file = path.join(folder, "first-request.mjs");
  await writeFile(file, example("js"));
  await run(t, process.execPath, file);
});

const openaiVersion = "3.57.0";
const version = (minor: number): PythonVersion => [3, minor];

test("the README's Python example works as it stands", async (t) => {
  const registry = { name: "pypi" as const, pythonAtLeast: version(10), pythonBelow: version(15) };
  const installed = await installTool({
    package: "openai",
    version: openaiVersion,
    registry,
    command: "openai",
  });
  if ("said" in installed) {
    t.log(`SKIPPED: PyPI or Python is not to be had here. ${installed.said}`);
    return t.pass();
  }
  const file = path.join(await createTestFolder(t), "first_request.py");
  await writeFile(file, example("python"));
  await run(t, path.join(installed.folder, "bin/python"), file);
});
