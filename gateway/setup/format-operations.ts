import type { EnvOperation, Json, JsonOperation, PlannedFile, TomlOperation } from "./setup-plan.ts";

/** Formats the operations for the script's editors. ` > ` separates the parts of a path. */
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

/** JSON strings without escapes are valid TOML. Validated slugs and URLs need no escapes. */
function formatToml(operation: TomlOperation): string {
  if (operation.do === "set") return `set ${formatPath(operation.path)} = ${toText(operation.value)}`;
  const { path, prefix, keep } = operation;
  // Each name is on its own line. The first space marks a continuation line, and the second separates the names.
  return `drop ${formatPath([...path, prefix])} except${keep.map((name) => `\n  ${name}`).join("")}`;
}

function formatEnv({ name, value }: EnvOperation): string {
  return `set ${name} = ${value}`;
}

/** Throws for a name with an unsafe character, such as a space. Only a faulty tool plan contains such names. */
function formatPath(path: string[]): string {
  const unsafe = path.find((name) => !/^[\w$.:@+~/-]+$/.test(name));
  if (unsafe !== undefined)
    throw new Error(`The name "${unsafe}" in a path contains an unsupported character.`);
  return path.join(" > ");
}

/**
 * Splits long values into lines, because terminals without line editing limit the line length (1,024 bytes on macOS,
 * 4,096 on Linux). Continuation lines start with a space.
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
