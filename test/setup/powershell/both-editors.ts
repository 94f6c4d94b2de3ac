import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { formatOperations } from "../../../gateway/setup/format-operations.ts";
import { editorFrame as awkFrame, envEditor as awkEnv } from "../../../gateway/setup/posix/editor-frame.ts";
import { jsonEditor as awkJson } from "../../../gateway/setup/posix/json-editor.ts";
import { tomlEditor as awkToml } from "../../../gateway/setup/posix/toml-editor.ts";
import { editorConstants, editorFrame, envEditor } from "../../../gateway/setup/powershell/editor-frame.ts";
import { jsonEditor } from "../../../gateway/setup/powershell/json-editor.ts";
import { jsonOperations } from "../../../gateway/setup/powershell/json-operations.ts";
import { tomlEditor } from "../../../gateway/setup/powershell/toml-editor.ts";
import { tomlOperations } from "../../../gateway/setup/powershell/toml-operations.ts";
import type { FileChange, PlannedFile } from "../../../gateway/setup/setup-plan.ts";
import { findProgram } from "../../helpers/system-packages.ts";
import { createTestFolder } from "../../helpers/test-folder.ts";
import { awkWords } from "../run-editor.ts";
import { keyValue } from "../setup-models.ts";
import { createPowerShellParser } from "./parse-powershell.ts";
import { runPowerShell } from "./run-powershell.ts";
import { Thrown } from "./values.ts";

/** The edited text, with one character per byte, or the reason for the rejection. */
export type Edited = { text: string } | { why: string };

export type Merge = Exclude<FileChange, { format: "own" }>;

export type Editor = (text: string, change: Merge) => Promise<Edited>;

export async function createPowerShellEditor(): Promise<Editor> {
  const parts = [
    editorConstants,
    editorFrame,
    jsonEditor,
    jsonOperations,
    tomlEditor,
    tomlOperations,
    envEditor,
  ];
  const { tree, mistakes } = (await createPowerShellParser())(parts.join("\n"));
  if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
  const run = runPowerShell(tree);
  return async (text, change) => {
    const operations = formatOperations(toFile(change)).flatMap((operation) => operation.split("\n"));
    try {
      return { text: String(run("edit_text", change.format, text, operations, keyValue)) };
    } catch (error) {
      if (error instanceof Thrown) return { why: error.message.replace("refused: ", "") };
      throw error;
    }
  };
}

export async function createAwkEditor(t: Pick<ExecutionContext, "teardown">): Promise<Editor> {
  const program = findProgram("awk");
  if (!program) throw new Error("This machine has no awk.");
  const folder = await createTestFolder(t);
  await mkdir(folder, { recursive: true });
  const programs = { json: awkJson, toml: awkToml, env: awkEnv };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(path.join(folder, `${name}.awk`), `${awkFrame}${text}\n`);
  }
  return async (text, change) => {
    const operations = formatOperations(toFile(change)).map((line) => `${line}\n`);
    await writeFile(path.join(folder, "operations"), operations.join(""));
    const isLenient = change.format === "jsonc";
    const editor = isLenient ? "json" : change.format;
    const { promise, resolve } = Promise.withResolvers<Edited>();
    const env = { PATH: process.env.PATH, LC_ALL: "C", GATEWAY_API_KEY: keyValue };
    const awk = execFile(
      program,
      awkWords(`${editor}.awk`, isLenient),
      { cwd: folder, env, encoding: "latin1" },
      (error, stdout, stderr) => {
        resolve(error ? { why: stderr.trimEnd() } : { text: stdout });
      },
    );
    awk.stdin?.end(`${text}x`, "latin1");
    return promise;
  };
}

function toFile(change: Merge): Exclude<PlannedFile, { format: "own" }> {
  return { folder: { variable: null, home: [] }, path: ["file"], ...change };
}
