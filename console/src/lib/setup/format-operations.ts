import type { EnvOperation, Json, JsonOperation, PlannedFile, TomlOperation } from "./setup-plan.ts";

/** Operations as the editors of the command read them: a line each, parts of a path with ` > ` between them. */
export function formatOperations(file: Exclude<PlannedFile, { format: "own" }>): string[] {
  switch (file.format) {
    case "json":
    case "jsonc":
      return file.operations.map(formatJson);
    case "toml":
      return file.operations.map(formatToml);
    case "env":
      return file.operations.map(formatEnv);
  }
}

function formatJson(operation: JsonOperation): string {
  const path = formatPath(operation.path);
  switch (operation.do) {
    case "remove":
      return `remove ${path}`;
    case "replaceEntries": {
      const { member, is, entries } = operation;
      return `entries ${path} where ${member} is ${toText(is)} = ${toText(entries)}`;
    }
    default:
      return `${operation.do} ${path} = ${toText(operation.value)}`;
  }
}

/** A text of JSON without escapes is a text of TOML too, and no other passes the validation. */
function formatToml(operation: TomlOperation): string {
  if (operation.do === "set") return `set ${formatPath(operation.path)} = ${toText(operation.value)}`;
  const { path, prefix, keep } = operation;
  // Each on a line of its own; the second blank is part of the text.
  return `drop ${formatPath([...path, prefix])} except${keep.map((name) => `\n  ${name}`).join("")}`;
}

function formatEnv({ name, value }: EnvOperation): string {
  return `set ${name} = ${value}`;
}

/** What would be read as something else must not be in a path; a mistake in a tool's plan, since people's text has no blank. */
function formatPath(path: string[]): string {
  if (!path.every((name) => /^[\w$.:@+~/-]+$/.test(name))) throw new Error("A path has a name with a blank.");
  return path.join(" > ");
}

/**
 * Long values over more lines, each but the first with a blank in front: a terminal without line editing takes no more than
 * 1,024 bytes a line on macOS, 4,096 on Linux. No text of a value ends with a comma.
 */
function toText(value: Json): string {
  let length = 0;
  return JSON.stringify(value).replaceAll(/[^,]*,(?=["{])|.+$/g, (piece) => {
    const isFull = length + piece.length > lineLength && length > 0;
    length = isFull ? piece.length : length + piece.length;
    return isFull ? `\n ${piece}` : piece;
  });
}

const lineLength = 100;
