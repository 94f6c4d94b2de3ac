import type { EmittedSetup, ScriptTarget } from "./emitted-setup.ts";
import { formatOperations } from "./format-operations.ts";
import { askForKey, scriptFrame } from "./posix/script-frame.ts";
import { checkGateway } from "./posix/check-gateway.ts";
import { editorFrame, envEditor, ownEditor, profileEditor } from "./posix/editor-frame.ts";
import { jsonEditor } from "./posix/json-editor.ts";
import { mergeFiles, writeFiles } from "./posix/write-files.ts";
import { tomlEditor } from "./posix/toml-editor.ts";
import type { FilePlace, PlannedFile, SetupPlan } from "./setup-plan.ts";
import { showFile } from "./show-file.ts";

/**
 * Emits a script for `sh` that needs only POSIX tools, `mktemp` and `readlink`.
 * @param key a validated key value, or null to leave it out of the command
 */
export function emitPosix(plan: SetupPlan, key: string | null): EmittedSetup {
  const files = [...plan.files, ...environmentFiles(plan)];
  const script = emitSetup(plan, files);
  // Because of the leading space, some shells omit the command and its key from their history.
  const environment = key === null ? "" : ` GATEWAY_API_KEY=${quote(key)}`;
  return {
    script,
    command: `${environment} sh <<'MODEL_GATEWAY'\n${script}MODEL_GATEWAY\n`,
    undo: `sh ~/.config/model-gateway/undo-${plan.tool}.sh`,
    files: files.map((file) => showFile(file, formatPlace)),
  };
}

function emitSetup(plan: SetupPlan, files: PlannedFile[]): string {
  const { environment, program, install = "see its documentation" } = plan;
  const hasProfile = environment?.load === "always";
  const editors = new Set(files.map(({ format }) => editorOf(format)));
  if (hasProfile) editors.add("profile");
  return toBlock([
    `# Sets up ${plan.toolName} for the gateway at ${plan.baseUrl}. It merges into the files named here,`,
    "# keeps copies of them, and can be undone. The rest of the script does this.",
    "setup() {",
    variablesOf(plan),
    "start",
    "ask_for_key",
    checkStep(plan.slugs),
    'if [ -n "$failed" ]; then stop "Nothing was changed."; fi',
    ...files.map(mergeStep),
    ...(hasProfile ? [profileStep(plan)] : []),
    "write_files",
    ...(program ? [`look_for ${quote(program)} ${quote(install)}`] : []),
    `finish ${quote(plan.next)}`,
    "}",
    "write_editors() {",
    ...[...editors].map((name) => `cat >${name}.awk <<'EOF'${editorFrame}${editorTexts[name]}\nEOF`),
    "}",
    scriptFrame,
    askForKey,
    mergeFiles,
    writeFiles,
    checkGateway,
    "setup",
  ]);
}

export function emitPosixCheck(target: ScriptTarget, slugs: string[]): string {
  return toBlock([
    `# Checks an API key of the gateway at ${target.baseUrl}. It changes nothing.`,
    "write_editors() { :; }",
    scriptFrame,
    askForKey,
    checkGateway,
    variablesOf(target),
    "start",
    "ask_for_key",
    checkStep(slugs),
    'if [ -n "$failed$unverified" ]; then exit 1; fi',
  ]);
}

export function emitPosixUndo({ tool, toolName }: ScriptTarget): string {
  return toBlock([
    `# Undoes the newest setup of ${toolName}: runs the script that it left on this machine.`,
    `undo="$HOME/.config/model-gateway/undo-${tool}.sh"`,
    `if [ ! -f "$undo" ]; then printf '%s\\n' ${quote(`There is no setup of ${toolName} to undo. Use the account that ran the setup.`)} >&2; exit 1; fi`,
    'sh "$undo" </dev/null || exit 1',
    `if [ -f "$undo" ]; then printf '%s\\n' 'An earlier setup remains. Run this again to undo it.'; fi`,
  ]);
}

/** A shell reads the whole block before running it, so a partial download changes nothing and fails. */
function toBlock(parts: string[]): string {
  return `{\n${parts.map((part) => part.trim()).join("\n")}\n}\n`;
}

function variablesOf({ tool, toolName, baseUrl }: ScriptTarget): string {
  return `tool=${quote(tool)} tool_name=${quote(toolName)} base_url=${quote(baseUrl)}`;
}

function checkStep(slugs: string[]): string {
  return ["check_gateway", ...slugs.map(quote)].join(" ");
}

const editorTexts = {
  json: jsonEditor,
  toml: tomlEditor,
  env: envEditor,
  own: ownEditor,
  profile: profileEditor,
};

function editorOf(format: PlannedFile["format"]): keyof typeof editorTexts {
  return format === "jsonc" ? "json" : format;
}

function mergeStep(file: PlannedFile): string {
  if (file.format === "own") {
    const places = [file, ...(file.otherwise ? [file.otherwise] : [])];
    return `own ${places.map(quotePlace).join(" ")} <<'EOF'\n${file.text}EOF`;
  }
  const { folder, path, beatenBy } = file;
  const places = [file, ...(beatenBy ? [{ folder, path: path.with(-1, beatenBy) }] : [])];
  const operations = formatOperations(file).map((line) => `${line}\n`);
  return `merge ${file.format} ${places.map(quotePlace).join(" ")} <<'EOF'\n${operations.join("")}EOF`;
}

/** The variables can contain the key, so they stay out of shell profiles, which are often shared. */
function environmentFiles({ tool, toolName, environment }: SetupPlan): PlannedFile[] {
  if (!environment) return [];
  const lines = [
    `# ${toolName}: the gateway`,
    // fish also loads this file, and needs `set -e` instead of `unset`.
    ...environment.remove.flatMap((name) => [
      `test -n "$FISH_VERSION" && set -e ${name}`,
      `test -n "$FISH_VERSION" || unset ${name}`,
    ]),
    ...Object.entries(environment.variables).map(([name, value]) => `export ${name}=${quote(value)}`),
  ];
  const text = lines.map((line) => `${line}\n`).join("");
  return [{ ...environmentPlace(tool), format: "own", text }];
}

function environmentPlace(tool: string): FilePlace {
  return { folder: { variable: null, home: [".config", "model-gateway"] }, path: [`${tool}.sh`] };
}

function profileStep({ tool, toolName }: SetupPlan): string {
  const marks = [`# >>> ${toolName}: the gateway >>>`, `# <<< ${toolName}: the gateway <<<`];
  const file = quotePlace(environmentPlace(tool)).replaceAll("$", "\\$");
  return `find_profile\nload=.\nif [ "$shell" = fish ]; then load=source; fi
merge profile "$profile" <<EOF\n${marks[0]}\n[ -f ${file} ] && $load ${file}\n${marks[1]}\nEOF`;
}

/** Path names come from tool plans and need no escaping. */
function quotePlace({ folder, path }: FilePlace): string {
  const below = path.map((part) => `/${part}`).join("");
  const home = ["$HOME", ...folder.home].join("/");
  return folder.variable === null ? `"${home}${below}"` : `"\${${folder.variable}:-${home}}${below}"`;
}

function formatPlace({ folder, path }: FilePlace): string {
  return ["~", ...folder.home, ...path].join("/");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
