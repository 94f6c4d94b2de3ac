import path from "node:path";
import { inside, type Rule } from "./import-rule.ts";
import type { SourceFile } from "./source-tree.ts";

export const sizeRules: Rule[] = [
  {
    title: "every file except a migration has at most 500 lines",
    findings: (files) =>
      files
        .filter((file) => file.lineCount > 500 && !inside(file.path, ["db/migrations/"]))
        .map((file) => `${file.path} has ${file.lineCount} lines`),
    seeds: { "gateway/keys/key-service.ts": "\n".repeat(501) },
    permitted: { "db/migrations/0001.ts": "\n".repeat(600), "gateway/app.ts": "\n".repeat(500) },
  },
  {
    title: "answer-request.ts has at most 120 lines",
    findings: (files) =>
      files
        .filter((file) => file.path === "gateway/completions/answer-request.ts" && file.lineCount > 120)
        .map((file) => `${file.path} has ${file.lineCount} lines`),
    seeds: { "gateway/completions/answer-request.ts": "\n".repeat(121) },
  },
  {
    title: "a helper of at most 40 lines with one importer is part of its caller's file",
    findings: (files) =>
      files
        .filter((file) => isCrumb(file, files) && !crumbsToKeep.has(file.path))
        .map((file) => `${file.path} has ${file.lineCount} lines and one importer`),
    seeds: { "gateway/keys/a.ts": 'import "./b.ts";', "gateway/keys/b.ts": 'import "./a.ts";' },
    permitted: {
      "gateway/keys/shared.ts": "",
      "gateway/keys/one.ts": 'import "./shared.ts";',
      "gateway/keys/other.ts": 'import "./shared.ts";\nimport "./long.ts";',
      "gateway/keys/long.ts": "\n".repeat(41),
      "gateway/v1/elsewhere.ts": 'import "../keys/one.ts"; import "../keys/other.ts";',
    },
  },
];

const crumbsToKeep = new Map([
  ["gateway/dialects/chat/chat-stream-writer.ts", "each dialect's stream writer has a file"],
  ["gateway/keys/check-owner.ts", "key-service.ts is full"],
  ["gateway/keys/edit-status.ts", "key-service.ts is full"],
  ["gateway/trpc/audit-router.ts", "each tRPC router has a file"],
  ["gateway/trpc/gateway-router.ts", "each tRPC router has a file"],
  ["gateway/trpc/overview-router.ts", "each tRPC router has a file"],
  ["gateway/v1/count-tokens.ts", "each endpoint has a file"],
]);

function isCrumb({ path: file, lineCount }: SourceFile, files: SourceFile[]): boolean {
  if (!file.startsWith("gateway/") || lineCount > 40) return false;
  const importers = files.filter(({ imports }) => imports.some(({ to }) => to === file));
  const [importer] = importers;
  return importers.length === 1 && path.dirname(importer?.path ?? "") === path.dirname(file);
}
