import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { checkProse } from "./check-prose.ts";
import { readMarkdown } from "./read-markdown.ts";
import { readSvelte } from "./read-svelte.ts";
import { readTypeScript } from "./read-typescript.ts";
import type { Text } from "./text.ts";

// Checks the repository's documents, code and console. Prints the findings, and exits with 1 if there are any.
const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
});
const files = listed
  .split("\n")
  .filter((file) => /\.(md|svelte|ts)$/.test(file) && !file.startsWith("test/fixtures/"))
  // These files quote the retired phrases.
  .filter((file) => !/^test\/prose\/|^test\/prose\.test\.ts$/.test(file));
const texts = files.flatMap(readTexts);
const findings = texts.flatMap(checkProse);
for (const { file, line, problem, text } of findings) console.log(`${file}:${line}: ${problem}\n    ${text}`);
console.log(`${texts.length} texts in ${files.length} files, ${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;

function readTexts(file: string): Text[] {
  const content = readFileSync(file, "utf8");
  if (file.endsWith(".md")) return readMarkdown(file, content);
  return file.endsWith(".svelte") ? readSvelte(file, content) : readTypeScript({ file, content });
}
