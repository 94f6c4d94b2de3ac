import type { EmittedSetup } from "./emitted-setup.ts";
import { formatOperations } from "./format-operations.ts";
import { askForKey } from "./posix/ask-for-key.ts";
import { checkGateway } from "./posix/check-gateway.ts";
import { editorFrame } from "./posix/editor-frame.ts";
import { envEditor } from "./posix/env-editor.ts";
import { jsonEditor } from "./posix/json-editor.ts";
import { mergeFiles } from "./posix/merge-files.ts";
import { ownEditor } from "./posix/own-editor.ts";
import { profileEditor } from "./posix/profile-editor.ts";
import { scriptFrame } from "./posix/script-frame.ts";
import { tomlEditor } from "./posix/toml-editor.ts";
import { writeFiles } from "./posix/write-files.ts";
import type { FilePlace, PlannedFile, SetupPlan } from "./setup-plan.ts";
import { showFile } from "./show-file.ts";

/**
 * Emits a command for bash, zsh and dash: a here-document for `sh`, which no interactive shell changes. It needs only
 * POSIX tools, `mktemp` and `readlink`.
 * @param key a validated key value, or null to prompt for it
 */
export function emitPosix(plan: SetupPlan, key: string | null): EmittedSetup {
  const files = [...plan.files, ...environmentFiles(plan)];
  const steps = [
    ...files.map(mergeStep),
    ...(plan.environment?.load === "always" ? [profileStep(plan)] : []),
  ];
  const editors = new Set(files.map(({ format }) => editorOf(format)));
  if (plan.environment?.load === "always") editors.add("profile");
  const script = [
    `# Sets up ${plan.toolName} for the gateway at ${plan.baseUrl}. It merges into the files named here,`,
    "# keeps copies of them, and can be taken back. All the rest is how it does that.",
    "setup() {",
    `tool=${quote(plan.tool)} tool_name=${quote(plan.toolName)} base_url=${quote(plan.baseUrl)}`,
    "start",
    `ask_for_key ${key === null ? "asked" : "given"}`,
    ...steps,
    "write_files",
    ...(plan.program === null ? [] : [`look_for ${quote(plan.program)} ${quote(plan.install ?? "")}`]),
    ["check_gateway", ...plan.slugs.map(quote)].join(" "),
    `finish ${quote(plan.next)}`,
    "}",
    "write_editors() {",
    ...[...editors].map((name) => `cat >${name}.awk <<'EOF'${editorFrame}${editorTexts[name]}\nEOF`),
    "}",
    ...[scriptFrame, askForKey, mergeFiles, writeFiles, checkGateway].map((part) => part.trim()),
    "setup",
  ];
  // The leading space keeps the line out of the history of shells with that setting. The key is on the first line,
  // which they check.
  const environment = key === null ? "" : ` GATEWAY_API_KEY=${quote(key)}`;
  return {
    command: `${environment} sh <<'MODEL_GATEWAY'\n${script.join("\n")}\nMODEL_GATEWAY\n`,
    undo: `sh ~/.config/model-gateway/undo-${plan.tool}.sh`,
    files: files.map((file) => showFile(file, formatPlace)),
  };
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

/** Variables have their own file, because a shell profile is often shared and shown. */
function environmentFiles({ tool, toolName, environment }: SetupPlan): PlannedFile[] {
  if (!environment) return [];
  const lines = [
    `# ${toolName}: the gateway`,
    // fish only knows `set -e`, and reads the same file.
    ...environment.remove.flatMap((name) => [
      `test -n "$FISH_VERSION" && set -e ${name}`,
      `test -n "$FISH_VERSION" || unset ${name}`,
    ]),
    ...Object.entries(environment.variables).map(([name, value]) => `export ${name}=${quote(value)}`),
  ];
  const text = lines.map((line) => `${line}\n`).join("");
  return [{ ...environmentPlace(tool), format: "own", text, otherwise: null }];
}

function environmentPlace(tool: string): FilePlace {
  return { folder: { variable: null, home: [".config", "model-gateway"] }, path: [`${tool}.sh`] };
}

/** fish uses `source`, all others `.`. */
function profileStep({ tool, toolName }: SetupPlan): string {
  const marks = [`# >>> ${toolName}: the gateway >>>`, `# <<< ${toolName}: the gateway <<<`];
  const file = quotePlace(environmentPlace(tool)).replaceAll("$", "\\$");
  return `find_profile\nload=.\nif [ "$shell" = fish ]; then load=source; fi
merge profile "$profile" <<EOF\n${marks[0]}\n[ -f ${file} ] && $load ${file}\n${marks[1]}\nEOF`;
}

/** A path for the shell. It consists of fixed names and quoted variables. */
function quotePlace({ folder, path }: FilePlace): string {
  const below = path.map((part) => `/${part}`).join("");
  const home = ["$HOME", ...folder.home].join("/");
  return folder.variable === null ? `"${home}${below}"` : `"\${${folder.variable}:-${home}}${below}"`;
}

/** A path for display. */
function formatPlace({ folder, path }: FilePlace): string {
  return ["~", ...folder.home, ...path].join("/");
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
