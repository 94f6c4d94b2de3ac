import { readFileSync } from "node:fs";
import test from "ava";
import { readConfig } from "../../gateway/config/config.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const [, gateway = ""] = /^ {2}gateway:\n((?: {4}.*\n)+)/m.exec(read("infra/compose.yaml")) ?? [];

test("compose.yaml uses the gateway's own variables with valid values", (t) => {
  const variables = Array.from(gateway.matchAll(/^ {6}([A-Z_]+): (.+)$/gm), ([, name = "", value = ""]) => [
    name,
    // Compose resolves a variable to its value, or to the default after ":-".
    value.replace(/\$\{\w+:\?[^}]*\}/g, "password").replace(/\$\{\w+:-([^}]*)\}/g, "$1"),
  ]);
  const names = variables.map(([name]) => name ?? "");
  t.deepEqual(names, ["DATABASE_URL", "PUBLIC_URL", "UPSTREAM_PRIVATE_HOSTS"]);
  const config = readConfig(Object.fromEntries(variables) as Record<string, string>);
  t.is(config.databaseUrl, "mysql://gateway:password@mysql:3306/gateway");
  for (const name of names) t.true(read("gateway/config/README.md").includes(`| \`${name}\` `), name);
});

test("the container has minimal rights and a stop timeout above the drain time", (t) => {
  for (const line of [
    "read_only: true",
    "cap_drop: [ALL]",
    "no-new-privileges:true",
    "127.0.0.1:8080:8080",
  ]) {
    t.true(gateway.includes(line), line);
  }
  const seconds = Number(/stop_grace_period: (\d+)s/.exec(gateway)?.[1]);
  t.true(seconds * 1_000 > readConfig({}).limits.drainTimeoutMs);
});
