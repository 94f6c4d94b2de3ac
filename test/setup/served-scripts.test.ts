import { spawnSync } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import test from "ava";
import fc from "fast-check";
import { buildLines } from "../../gateway/setup/build-script.ts";
import { toolIds } from "../../gateway/setup/tool-setups.ts";
import { setupScript } from "../../gateway/v1/setup-script.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { hostileText } from "./hostile-text.ts";
import { createSetupHome, readTree } from "./setup-home.ts";
import { setupModel, setupModels } from "./setup-models.ts";

const gateway = shareGateway();
const model = setupModel("demo/echo");
const models = { light: model, daily: model, hard: model, connected: [model] };

for (const operatingSystem of ["posix", "windows"] as const) {
  test(`the gateway serves the ${operatingSystem} script that the console expects`, async (t) => {
    for (const tool of toolIds) {
      const input = { tool, operatingSystem, baseUrl: gateway().url, key: null, models: setupModels() };
      const { setup, address, script } = buildLines(input);
      const url = /'(.+)'/.exec(setup)?.[1] ?? "";
      t.is(url, `${gateway().url}/setup/${address}`);
      const response = await fetch(url);
      t.is(response.status, 200, tool);
      t.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
      t.is(response.headers.get("cache-control"), "no-store");
      t.is(response.headers.get("x-content-type-options"), "nosniff");
      t.is(await response.text(), script, tool);
      t.notRegex(script, /[^\n\x20-\x7e]|sk-gateway-[0-9A-Za-z]{9}/);
    }
  });
}

test("hostile queries get an error page and never a script", async (t) => {
  const valid = "light=demo/echo&daily=demo/echo&hard=demo/echo";
  const fixed = [
    "",
    "light=demo/echo",
    `${valid}&daily=demo/echo`,
    `${valid}&key=sk-gateway-1`,
    `${valid}&__proto__=1`,
    `${valid}&undo&check`,
    `${valid}&undo=1`,
    "daily=demo/echo,context:0",
    "daily=demo/echo,context:99999999999",
    "daily=demo/echo,script:1",
    "daily=%E0%A4%A",
    `daily=demo/${"x".repeat(300)}`,
    `daily=demo/echo&models=${"demo/echo;".repeat(500)}`,
    `daily=demo/echo&models=`,
  ];
  const property = fc
    .tuple(
      fc.nat(valid.length),
      hostileText.filter((text) => !/^[\w.:@+~/-]*$/.test(text.toWellFormed())),
    )
    .map(([at, text]) => valid.slice(0, at) + encodeURIComponent(text.toWellFormed()) + valid.slice(at));
  const queries = [...fixed, ...fc.sample(property, { numRuns: 200, seed: 27 })];
  for (const [index, query] of queries.entries()) {
    const tool = toolIds[index % toolIds.length];
    const response = await fetch(`${gateway().url}/setup/${tool}.${index % 2 ? "ps1" : "sh"}?${query}`);
    const text = await response.text();
    t.true(response.status >= 400 && response.status < 500, `${response.status} ${query}`);
    t.regex(text, /^[A-Z][\w ,.]+\n$/, query);
    t.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
  }
});

test("a script lists at most 100 models, and its size grows with their number", async (t) => {
  const fetchScript = async (tool: string, count: number) => {
    const others = Array.from({ length: count }, (_, index) => `a/${index}`).join(";");
    const response = await fetch(`${gateway().url}/setup/${tool}?daily=demo/echo&models=${others}`);
    return { status: response.status, text: await response.text() };
  };
  for (const tool of toolIds.flatMap((id) => [`${id}.sh`, `${id}.ps1`])) {
    const [few, half, all] = [
      await fetchScript(tool, 1),
      await fetchScript(tool, 51),
      await fetchScript(tool, 100),
    ];
    t.is(all.status, 200, tool);
    t.true(all.text.length - half.text.length <= 1.1 * (half.text.length - few.text.length), tool);
    t.true(all.text.length < 60_000, `${tool}: ${all.text.length}`);
    const message = "The URL lists more than 100 models. Select fewer models.\n";
    t.deepEqual(await fetchScript(tool, 101), { status: 400, text: message }, tool);
    t.deepEqual(await fetchScript(tool, 500), { status: 400, text: message }, tool);
  }
  const many = Array.from({ length: 150 }, (_, index) => setupModel(`a/${index}`));
  for (const tool of toolIds) {
    const input = { tool, operatingSystem: "posix", baseUrl: gateway().url, key: null } as const;
    const { address, script } = buildLines({ ...input, models: { ...models, connected: many } });
    const response = await fetch(`${gateway().url}/setup/${address}`);
    t.is(await response.text(), script, `${tool}: the console's address stays below the limit`);
  }
});

test("a repeated script costs a fraction of the first one, for each host and method", async (t) => {
  const listener = setupScript(null);
  const request = (host: string, method: string) => {
    let text = "";
    const response = { writeHead: () => response, end: (body?: string) => void (text = body ?? "") };
    const url = "/claude-code.sh?daily=demo/echo";
    listener({ method, url, headers: { host } } as IncomingMessage, response as unknown as ServerResponse);
    return text;
  };
  t.true(request("one.example", "GET").includes("http://one.example"));
  t.true(request("two.example", "GET").includes("http://two.example"));
  t.is(request("one.example", "HEAD"), "");
  t.true(request("one.example", "GET").includes("http://one.example"));
  const cost = (hosts: string[]) => {
    const before = process.cpuUsage();
    for (const host of hosts) request(host, "GET");
    return cpuMsSince(before);
  };
  const hosts = Array.from({ length: 500 }, (_, index) => `host${index}.example`);
  t.true(cost(hosts) > 5 * cost(hosts.fill("one.example")));
});

test("an error page that reaches a shell fails visibly", async (t) => {
  const response = await fetch(`${gateway().url}/setup/claude-code.sh?daily=$(touch x)`);
  const { status, stderr } = spawnSync("sh", { input: await response.text(), encoding: "utf8" });
  t.not(status, 0);
  t.regex(stderr, /not found/);
});

test("unknown tools, files and methods get an error", async (t) => {
  for (const path of ["cobol.sh", "claude-code", "claude-code.exe", "constructor.sh", "a/b.sh", ""]) {
    const response = await fetch(`${gateway().url}/setup/${path}?daily=demo/echo`, {
      headers: { accept: "text/html" },
    });
    t.is(response.status, 404, path);
    t.is(
      await response.text(),
      "The setup script does not exist. Copy the command from the console again.\n",
    );
  }
  const post = await fetch(`${gateway().url}/setup/codex.sh?daily=demo/echo`, { method: "POST" });
  t.is(post.status, 405);
});

test("a script of any cut length changes nothing and fails", async (t) => {
  const { home, run } = await createSetupHome(t);
  const before = await readTree(home);
  const input = { tool: "codex", operatingSystem: "posix", baseUrl: gateway().url, key: null } as const;
  const { script } = buildLines({ ...input, models });
  const { value: key } = await createKey(gateway(), ["demo/echo"]);
  const cuts = Array.from({ length: 60 }, (_, index) => 1 + Math.floor((index * (script.length - 4)) / 59));
  for (const length of cuts) {
    const { code } = await run("dash", script.slice(0, length), { GATEWAY_API_KEY: key });
    t.not(code, 0, String(length));
  }
  t.deepEqual(await readTree(home), before);
});

test("a check fails for an unconnected model", async (t) => {
  const { run } = await createSetupHome(t);
  const { value: key } = await createKey(gateway(), ["demo/echo"]);
  const line = `curl -fsSL '${gateway().url}/setup/codex.sh?daily=demo/other&check' | sh\n`;
  const { code, stderr } = await run("dash", line, { GATEWAY_API_KEY: key });
  t.is(code, 1);
  t.regex(stderr, /not connected to demo\/other/);
});
