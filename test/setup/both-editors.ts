import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ExecutionContext } from "ava";
import { formatOperations } from "../../gateway/setup/format-operations.ts";
import { editorFrame as awkFrame, envEditor as awkEnv } from "../../gateway/setup/posix/editor-frame.ts";
import { jsonEditor as awkJson } from "../../gateway/setup/posix/json-editor.ts";
import { tomlEditor as awkToml } from "../../gateway/setup/posix/toml-editor.ts";
import { editorConstants, editorFrame, envEditor } from "../../gateway/setup/powershell/editor-frame.ts";
import { jsonEditor } from "../../gateway/setup/powershell/json-editor.ts";
import { quote } from "../../gateway/setup/powershell/script-frame.ts";
import { tomlEditor } from "../../gateway/setup/powershell/toml-editor.ts";
import type { FileChange, PlannedFile } from "../../gateway/setup/setup-plan.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
import { keyValue } from "./setup-models.ts";
import type { PowerShell } from "./share-powershell.ts";

/** The edited text, with one character per byte, or the reason for the rejection. */
export type Edited = { text: string } | { why: string };

export type Merge = Exclude<FileChange, { format: "own" }>;

export type Edit = { text: string; change: Merge };

/** Makes all edits in one run, because PowerShell compiles the editors anew in each. */
export async function editInPowerShell({ run }: PowerShell, edits: Edit[]): Promise<Edited[]> {
  const cases = edits.map(({ text, change }) => {
    const operations = formatOperations(toFile(change)).flatMap((operation) => operation.split("\n"));
    return { format: change.format, text: Buffer.from(text, "latin1").toString("base64"), operations };
  });
  const { said, thrown } = await run(`& {
    Set-StrictMode -Version 3.0
    $ErrorActionPreference = 'Stop'
    ${editorConstants}
    ${[editorFrame, jsonEditor, tomlEditor, envEditor].join("\n")}
    $latin = [Text.Encoding]::GetEncoding(28591)
    foreach ($case in ConvertFrom-Json ${quote(JSON.stringify(cases))}) {
      $text = $latin.GetString([Convert]::FromBase64String($case.text))
      try { $text = edit_text $case.format $text ([string[]]$case.operations) ${quote(keyValue)} }
      catch {
        Write-Host "why:$($_.Exception.Message)"
        continue
      }
      Write-Host ([Convert]::ToBase64String($latin.GetBytes($text)))
    }
  }`);
  if (thrown !== null || said.length !== edits.length) throw new Error(thrown ?? said.join("\n"));
  return said.map((line) => {
    const refused = line.startsWith("why:refused: ");
    if (line.startsWith("why:") && !refused) throw new Error(line);
    return refused ? { why: line.slice(13) } : { text: Buffer.from(line, "base64").toString("latin1") };
  });
}

/** Returns a function that edits with the awk of the given name, as the setup command does. */
export async function createAwkEditor(
  t: Pick<ExecutionContext, "teardown">,
): Promise<(edit: Edit, awk?: string) => Promise<Edited>> {
  const folder = await createTestFolder(t);
  await mkdir(folder, { recursive: true });
  const programs = { json: awkJson, toml: awkToml, env: awkEnv };
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(path.join(folder, `${name}.awk`), `${awkFrame}${text}\n`);
  }
  return async ({ text, change }, awk = "awk") => {
    const operations = formatOperations(toFile(change)).map((line) => `${line}\n`);
    await writeFile(path.join(folder, "operations"), operations.join(""));
    const isLenient = change.format === "jsonc";
    const editor = isLenient ? "json" : change.format;
    const { promise, resolve, reject } = Promise.withResolvers<Edited>();
    const env = { PATH: process.env.PATH, LC_ALL: "C", HOME: folder, GATEWAY_API_KEY: keyValue };
    const settings = ["-v", "operations=operations", "-v", `lenient=${isLenient ? 1 : 0}`];
    const running = execFile(
      awk,
      [...(awk === "busybox" ? ["awk"] : []), ...settings, "-f", `${editor}.awk`],
      { cwd: folder, env, encoding: "latin1" },
      (error, stdout, stderr) => {
        if (!error) resolve({ text: stdout });
        else if (error.code === 3 && stdout === "") resolve({ why: stderr.trimEnd() });
        else reject(error);
      },
    );
    running.stdin?.end(`${text}x`, "latin1");
    return promise;
  };
}

function toFile(change: Merge): Exclude<PlannedFile, { format: "own" }> {
  return { folder: { variable: null, home: [] }, path: ["file"], ...change };
}
