import type { EmittedSetup, ScriptTarget } from "./emitted-setup.ts";
import { formatOperations } from "./format-operations.ts";
import { askForKey, quote, scriptEnd, scriptFrame, variables } from "./powershell/script-frame.ts";
import { checkGateway } from "./powershell/check-gateway.ts";
import { editorFrame, envEditor } from "./powershell/editor-frame.ts";
import { jsonEditor } from "./powershell/json-editor.ts";
import { mergeFiles, writeFiles } from "./powershell/write-files.ts";
import { tomlEditor } from "./powershell/toml-editor.ts";
import { writeUndo } from "./powershell/write-undo.ts";
import type { FilePlace, PlannedEnvironment, PlannedFile, SetupPlan } from "./setup-plan.ts";
import { showFile } from "./show-file.ts";

/**
 * Emits a script for Windows PowerShell 5.1 and PowerShell 7. Terminals accept the script as pasted text, because it
 * is ASCII without tabs or here-strings.
 * @param key a validated key value, or null to leave it out of the command
 */
export function emitPowerShell(plan: SetupPlan, key: string | null): EmittedSetup {
  const { environment } = plan;
  const files = [...plan.files, ...environmentFiles(plan)];
  return {
    script: emitSetup(plan, files, null),
    command: emitSetup(plan, files, key),
    // Windows' default execution policy blocks script files, so the command runs the file's text.
    undo: `& ([scriptblock]::Create((Get-Content -Raw -Encoding UTF8 -LiteralPath "${undoFile(plan.tool)}")))`,
    files: [
      ...files.map((file) => showFile(file, formatPlace)),
      ...(environment?.load === "always" ? [showVariables(environment)] : []),
    ],
  };
}

function undoFile(tool: string): string {
  return `$env:USERPROFILE\\.config\\model-gateway\\undo-${tool}.ps1`;
}

function emitSetup(plan: SetupPlan, files: PlannedFile[], key: string | null): string {
  const { environment, program, install = "see its documentation" } = plan;
  const formats = new Set(files.map(({ format }) => format));
  return toBlock([
    `# Sets up ${plan.toolName} for the gateway at ${plan.baseUrl}. It merges into the files named here,`,
    "# keeps copies of them, and can be undone. The rest of the script does this.",
    "# The word secret keeps this line out of PSReadLine's history file.",
    "function run_setup {",
    startStep(plan),
    `ask_for_key ${quote(key ?? "")}`,
    checkStep(plan.slugs),
    "if ($setup.is_failed) { stop_setup 'Nothing was changed.' }",
    ...files.map(mergeStep),
    ...(environment?.load === "always" ? variableSteps(environment) : []),
    "write_files",
    ...(program ? [`look_for ${quote(program)} ${quote(install)}`] : []),
    `finish_setup ${quote(plan.next)}`,
    "}",
    scriptFrame,
    askForKey,
    mergeFiles,
    editorFrame,
    ...(formats.has("json") || formats.has("jsonc") ? [jsonEditor] : []),
    ...(formats.has("toml") ? [tomlEditor] : []),
    ...(formats.has("env") ? [envEditor] : []),
    variables,
    writeFiles,
    writeUndo,
    checkGateway,
    scriptEnd,
  ]);
}

export function emitPowerShellCheck(target: ScriptTarget, slugs: string[]): string {
  return toBlock([
    `# Checks an API key of the gateway at ${target.baseUrl}. It changes nothing.`,
    "function run_setup {",
    startStep(target),
    "ask_for_key ''",
    checkStep(slugs),
    "if ($setup.is_failed -or $setup.is_unverified) { throw 'stopped' }",
    "}",
    scriptFrame,
    askForKey,
    checkGateway,
    scriptEnd,
  ]);
}

export function emitPowerShellUndo({ tool, toolName }: ScriptTarget): string {
  return toBlock([
    `# Undoes the newest setup of ${toolName}: runs the script that it left on this machine.`,
    `$undo_file = "${undoFile(tool)}"`,
    `if (-not (Test-Path -LiteralPath $undo_file)) { throw ${quote(`There is no setup of ${toolName} to undo. Use the account that ran the setup.`)} }`,
    "& ([scriptblock]::Create((Get-Content -Raw -Encoding UTF8 -LiteralPath $undo_file)))",
    "if (Test-Path -LiteralPath $undo_file) { Write-Host 'An earlier setup remains. Run this again to undo it.' }",
  ]);
}

/** PowerShell parses the whole block before running it, so a partial download changes nothing and fails. */
function toBlock(parts: string[]): string {
  return `& {\n${parts.map((part) => part.trim()).join("\n")}\n}\n`;
}

function startStep({ tool, toolName, baseUrl }: ScriptTarget): string {
  return ["start_setup", tool, quote(toolName), quote(baseUrl)].join(" ");
}

function checkStep(slugs: string[]): string {
  return `check_gateway @(${slugs.map(quote).join(", ")})`;
}

function mergeStep(file: PlannedFile): string {
  if (file.format === "own") {
    const other = file.otherwise ? quotePlace(file.otherwise) : "''";
    return `own_file ${quotePlace(file)} ${other} ${toList(file.text.trimEnd().split("\n"))}`;
  }
  const { folder, path, beatenBy } = file;
  const rival = beatenBy === undefined ? "''" : quotePlace({ folder, path: path.with(-1, beatenBy) });
  const operations = formatOperations(file).flatMap((operation) => operation.split("\n"));
  return `merge_file ${quote(file.format)} ${quotePlace(file)} ${rival} ${toList(operations)}`;
}

function toList(texts: string[]): string {
  return `@(\n${texts.map(quote).join("\n")}\n)`;
}

/** Variables with `load: "always"` need no file, because the script stores them in the user's account. */
function environmentFiles({ tool, toolName, environment }: SetupPlan): PlannedFile[] {
  if (environment?.load !== "on-demand") return [];
  const lines = [
    `# ${toolName}: the gateway`,
    ...environment.remove.map((name) => `Remove-Item Env:${name} -ErrorAction SilentlyContinue`),
    ...Object.entries(environment.variables).map(([name, value]) => `$env:${name} = ${quote(value)}`),
  ];
  const text = lines.map((line) => `${line}\n`).join("");
  const folder = { variable: null, home: [".config", "model-gateway"] };
  return [{ folder, path: [`${tool}.ps1`], format: "own", text }];
}

function variableSteps({ variables: wanted, remove }: PlannedEnvironment): string[] {
  return [
    ...Object.entries(wanted).map(([name, value]) => `want_variable ${quote(name)} ${quote(value)}`),
    ...remove.map((name) => `drop_variable ${quote(name)}`),
  ];
}

function showVariables(environment: PlannedEnvironment): EmittedSetup["files"][number] {
  const operations = Object.entries(environment.variables).map(([name, value]) => ({
    do: "set" as const,
    name,
    value,
  }));
  const place = { folder: { variable: null, home: [] }, path: [] };
  const shown = showFile({ ...place, format: "env", operations }, () => "User environment variables");
  return { ...shown, removes: environment.remove };
}

function quotePlace({ folder, path }: FilePlace): string {
  const parts = [folder.variable ?? "", folder.home.join("/"), path.join("/")];
  return `(find_place ${parts.map(quote).join(" ")})`;
}

function formatPlace({ folder, path }: FilePlace): string {
  return ["~", ...folder.home, ...path].join("\\");
}
