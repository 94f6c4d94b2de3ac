import path from "node:path";
import test from "ava";
import { folderCycles, importCycles } from "./helpers/import-cycles.ts";
import { folder, fromPackage, importRule, inside, libraryRule, type Rule } from "./helpers/import-rule.ts";
import { parseSources, readSourceTree } from "./helpers/source-tree.ts";

const transports = ["gateway/v1/", "gateway/trpc/", "gateway/graphql/"];
const domain =
  "kept-responses keys models providers completions routing known-models usage auth credentials limits audit upstream dialects"
    .split(" ")
    .map((name) => `gateway/${name}/`);
const ours = ["gateway/", "db/", "console/", "infra/", "test/"];
const networkAndDisk = /^(undici|node:(http|https|http2|net|tls|dgram|dns|fs|child_process))(\/|$)/;

const rules: Rule[] = [
  importRule({
    title: "transports never import db",
    breaks: (from, to) => inside(from, transports) && inside(to, ["db/"]),
    seeds: { "gateway/v1/models.ts": 'import type { Database } from "../../db/database.ts";' },
  }),
  importRule({
    title: "transports never import one another",
    breaks: (from, to) => inside(from, transports) && inside(to, transports) && folder(from) !== folder(to),
    seeds: { "gateway/graphql/schema.ts": 'export { router } from "../trpc/router.ts";' },
    permitted: { "gateway/graphql/schema.ts": 'import { builder } from "./builder.ts";' },
  }),
  importRule({
    title: "domain folders import no transport, neither ours nor its library",
    breaks: (from, to) =>
      inside(from, domain) &&
      (inside(to, transports) ||
        fromPackage(to, "express", "router", "@trpc", "graphql", "graphql-yoga", "@pothos")),
    seeds: {
      "gateway/keys/key-service.ts": 'import type { Context } from "../trpc/context.ts";',
      "gateway/keys/authenticate-key.ts": 'import type { Request } from "express";',
      "gateway/usage/history/usage-history.ts": 'const trpc = await import("@trpc/server");',
    },
  }),
  importRule({
    title: "domain folders import only repositories, entities, database.ts and its errors from db",
    breaks: (from, to) =>
      inside(from, domain) &&
      inside(to, ["db/"]) &&
      !inside(to, ["db/repositories/", "db/entities/"]) &&
      to !== "db/database.ts" &&
      to !== "db/database-errors.ts",
    seeds: {
      "gateway/usage/recording/shipper.ts": 'import { openDataSource } from "../../../db/data-source.ts";',
    },
    permitted: {
      "gateway/usage/recording/shipper.ts": 'import type { Database } from "../../../db/database.ts";',
    },
  }),
  importRule({
    title: "completions import only the folders of the request path and the types of keys",
    breaks: (from, to, { typeOnly }) =>
      inside(from, ["gateway/completions/"]) &&
      inside(to, ours) &&
      !/^gateway\/((completions|routing|limits|dialects|providers|upstream|usage|wire)\/|(config\/variables|errors|runtime|ids)\.ts$)/.test(
        to,
      ) &&
      !(typeOnly && inside(to, ["gateway/keys/"])),
    seeds: {
      "gateway/completions/complete.ts": 'import { keyCache } from "../keys/authenticate-key.ts";',
      "gateway/completions/relay.ts": 'import type { Model } from "../../db/entities/model.ts";',
    },
    permitted: {
      "gateway/completions/complete.ts":
        'import type { Key } from "../keys/key.ts"; import "../routing/slug.ts";',
    },
  }),
  importRule({
    title: "a dialect or provider folder imports only shared types, errors and chat completions",
    breaks: (from, to) =>
      /^gateway\/(dialects|providers)\/[^/]+\//.test(from) &&
      inside(to, ours) &&
      folder(from, 3) !== folder(to, 3) &&
      !/^gateway\/(errors\.ts$|wire\/|(dialects|providers)\/(?!registry\.ts)[^/]+\.ts$|providers\/chat-completions\/)/.test(
        to,
      ),
    seeds: {
      "gateway/providers/bedrock/build-request.ts": 'import "../anthropic/build-request.ts";',
      "gateway/dialects/messages/read-request.ts": 'import { providers } from "../../providers/registry.ts";',
      "gateway/dialects/chat/read-request.ts": 'import { newId } from "../../ids.ts";',
    },
    permitted: { "gateway/providers/demo/demo.ts": 'import "./echo.ts"; import "../provider.ts";' },
  }),
  importRule({
    title: "dialects and providers do no input or output",
    breaks: (from, to) =>
      inside(from, ["gateway/dialects/", "gateway/providers/"]) && networkAndDisk.test(to),
    seeds: {
      "gateway/providers/gemini/gemini.ts": 'import { request } from "undici";',
      "gateway/dialects/chat/chat.ts": 'import { readFile } from "fs/promises";',
    },
    permitted: { "gateway/providers/bedrock/sign.ts": 'import { createHmac } from "node:crypto";' },
  }),
  importRule({
    title: "wire imports only errors, and http only wire and errors",
    breaks: (from, to) =>
      inside(from, ["gateway/wire/", "gateway/http/"]) &&
      inside(to, ours) &&
      folder(from) !== folder(to) &&
      to !== "gateway/errors.ts" &&
      !(inside(from, ["gateway/http/"]) && inside(to, ["gateway/wire/"])),
    seeds: {
      "gateway/wire/json.ts": 'import { chat } from "../dialects/chat/chat.ts";',
      "gateway/http/read-body.ts": 'import type { KnownKey } from "../keys/authenticate-key.ts";',
    },
    permitted: { "gateway/http/read-body.ts": 'import { GrowingBody } from "../wire/bytes.ts";' },
  }),
  importRule({
    title: "kept-responses import only what their README names",
    breaks: (from, to, { typeOnly }) =>
      inside(from, ["gateway/kept-responses/"]) &&
      inside(to, ours) &&
      !/^gateway\/((kept-responses|dialects|wire|credentials|limits\/valkey)\/|(config\/config|errors|log|runtime)\.ts$)/.test(
        to,
      ) &&
      !(typeOnly && inside(to, ["gateway/completions/"])),
    seeds: {
      "gateway/kept-responses/follow-up.ts": 'import { Exchange } from "../completions/exchange.ts";',
    },
    permitted: {
      "gateway/kept-responses/follow-up.ts": 'import type { FollowUp } from "../completions/operation.ts";',
    },
  }),
  importRule({
    title: "db imports no other folder",
    breaks: (from, to) => inside(from, ["db/"]) && inside(to, ours) && !inside(to, ["db/"]),
    seeds: { "db/database.ts": 'import { GatewayError } from "../gateway/errors.ts";' },
  }),
  importRule({
    title: "infra imports only the configuration's form from the gateway",
    breaks: (from, to) =>
      inside(from, ["infra/"]) &&
      inside(to, ours) &&
      !inside(to, ["infra/"]) &&
      !to.startsWith("gateway/config/"),
    seeds: { "infra/index.ts": 'import { generateKeyValue } from "../gateway/keys/key-value.ts";' },
    permitted: { "infra/index.ts": 'import type { Config } from "../gateway/config/config.ts";' },
  }),
  importRule({
    title: "the console imports only the setup generator and the type AppRouter from the gateway",
    breaks: (from, to, { typeOnly, names }) =>
      inside(from, ["console/"]) &&
      inside(to, ours) &&
      !inside(to, ["console/", "gateway/setup/"]) &&
      !(inside(to, ["gateway/"]) && typeOnly && names.join() === "AppRouter"),
    seeds: {
      "console/src/lib/trpc.ts": 'import { AppRouter } from "../../../gateway/trpc/router.ts";',
      "console/src/routes/keys/+page.svelte":
        '<p>Keys</p>\n<script lang="ts">\nimport type { Key } from "../../../../gateway/keys/key.ts";\n</script>',
    },
    permitted: {
      "console/src/lib/trpc.ts": 'import type { AppRouter } from "../../../gateway/trpc/router.ts";',
      "console/src/lib/setup.ts": 'import { generateSetup } from "../../../gateway/setup/generate-setup.ts";',
    },
  }),
  importRule({
    title: "the setup generator imports nothing but itself, so it runs in the browser too",
    breaks: (from, to) => inside(from, ["gateway/setup/"]) && !inside(to, ["gateway/setup/"]),
    seeds: {
      "gateway/setup/generate-setup.ts": 'import { GatewayError } from "../errors.ts";',
      "gateway/setup/tools/codex.ts": 'import { readFile } from "node:fs/promises";',
    },
    permitted: { "gateway/setup/tools/codex.ts": 'import type { ToolSetup } from "../tool-setup.ts";' },
  }),
  libraryRule(["express"], ["gateway/application.ts"]),
  libraryRule(["router"], ["gateway/v1/"]),
  libraryRule(["@trpc"], ["gateway/trpc/", "gateway/application.ts", "console/", "test/"]),
  libraryRule(["graphql", "graphql-yoga", "@pothos"], ["gateway/graphql/", "test/"]),
  libraryRule(["@opentelemetry"], ["gateway/tracing/", "test/tracing/"]),
  libraryRule(["typeorm"], ["db/", "gateway/services.ts"]),
  libraryRule(["better-sqlite3", "mysql2"], ["db/", "infra/create-database-users.ts", "test/"]),
  {
    title: "only gateway/config/config.ts and standalone programs read process.env",
    findings: (files) =>
      files
        .filter(
          (file) =>
            !["gateway/config/config.ts", "infra/create-database-users.ts"].includes(file.path) &&
            !inside(file.path, ["test/"]),
        )
        .flatMap((file) => file.environmentLines.map((line) => `${file.path}:${line} reads process.env`)),
    seeds: {
      "gateway/main.ts": "start(process.env);",
      "gateway/log.ts": "const { env } = process;",
      "db/migrate.ts": 'import { env } from "node:process";',
      "infra/index.ts": "new Service(process.env.IMAGE);",
    },
    permitted: {
      "gateway/config/config.ts": "readConfig(process.env);",
      "gateway/main.ts": "process.exit();",
    },
  },
  {
    title: "files import each other without cycles",
    findings: (files) =>
      importCycles(files).map((cycle) =>
        cycle.map(({ from, imported }) => `${from}:${imported.line} -> ${imported.to}`).join(" "),
      ),
    seeds: {
      "gateway/keys/a.ts": 'import "./b.ts";',
      "gateway/keys/b.ts": 'import "./c.ts";',
      "gateway/keys/c.ts": 'import type { A } from "./a.ts";',
    },
  },
  {
    title: "folders import each other without cycles",
    findings: (files) =>
      folderCycles(files.filter(({ path }) => inside(path, ["gateway/", "db/"]))).map((cycle) =>
        cycle.map(({ imported }) => `${imported.file} -> ${imported.to}`).join(" "),
      ),
    seeds: {
      "gateway/keys/a.ts": 'import "../auth/b.ts";',
      "gateway/auth/c.ts": 'import type { D } from "../keys/d.ts";',
      "gateway/limits/rates/a.ts": 'import "../valkey/b.ts";',
      "gateway/limits/valkey/c.ts": 'import "../rates/d.ts";',
    },
    permitted: {
      "gateway/providers/registry.ts": 'import "./demo/demo.ts";',
      "gateway/providers/demo/demo.ts": 'import "../provider.ts";',
    },
  },
];

const files = readSourceTree(path.join(import.meta.dirname, ".."), ours);

for (const rule of rules) {
  test(rule.title, (t) => {
    t.deepEqual(rule.findings(files), []);
  });

  test(`negative control: ${rule.title}`, (t) => {
    const findings = rule.findings(parseSources(rule.seeds)).join("\n");
    for (const seed of Object.keys(rule.seeds)) t.true(findings.includes(seed), `not noticed in ${seed}`);
    t.deepEqual(rule.findings(parseSources(rule.permitted ?? {})), []);
    t.deepEqual(rule.findings([]), []);
  });
}

test("the source tree contains the folders that the rules name", (t) => {
  t.true(files.some((file) => file.path === "test/architecture.test.ts" && file.imports.length > 0));
});
