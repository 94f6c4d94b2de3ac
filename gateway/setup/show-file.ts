import type { ShownFile } from "./emitted-setup.ts";
import {
  type FilePlace,
  type Json,
  type JsonOperation,
  keyPlaceholder,
  type PlannedFile,
  type TomlOperation,
} from "./setup-plan.ts";

export function showFile(file: PlannedFile, formatPlace: (place: FilePlace) => string): ShownFile {
  const path = formatPlace(file);
  const content = showContent(file).replaceAll(keyPlaceholder, "<your API key>");
  const instead = nameOther(file, formatPlace);
  return { path, instead, content, removes: removedBy(file), language: languageOf(file, path) };
}

function nameOther(file: PlannedFile, formatPlace: (place: FilePlace) => string): string | null {
  if (file.format === "own") {
    const name = file.path.at(-1) ?? "";
    return file.otherwise ? `or ${formatPlace(file.otherwise)}, if you have your own ${name}` : null;
  }
  const { folder, path, beatenBy } = file;
  if (beatenBy === undefined) return null;
  return `or ${formatPlace({ folder, path: path.with(-1, beatenBy) })}, if it exists`;
}

function showContent(file: PlannedFile): string {
  switch (file.format) {
    case "json":
    case "jsonc":
      return `${JSON.stringify(showJson(file.operations), null, 2)}\n`;
    case "toml":
      return showToml(file.operations);
    case "env":
      return file.operations.map(({ name, value }) => `${name}=${value}\n`).join("");
    case "own":
      return file.text;
  }
}

function showJson(operations: JsonOperation[]): JsonObject {
  const root: JsonObject = {};
  for (const operation of operations) {
    if (operation.do === "remove") continue;
    const value = operation.do === "replaceEntries" ? operation.entries : operation.value;
    let object = root;
    for (const name of operation.path.slice(0, -1)) {
      const below = object[name];
      const inner = isObject(below) ? below : {};
      object[name] = inner;
      object = inner;
    }
    const last = operation.path.at(-1);
    if (last !== undefined) object[last] = value;
  }
  return root;
}

type JsonObject = { [name: string]: Json };

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function showToml(operations: TomlOperation[]): string {
  const settings = operations.flatMap((operation) =>
    operation.do === "set"
      ? [
          {
            table: operation.path.slice(0, -1).map(formatName).join("."),
            line: `${formatName(operation.path.at(-1) ?? "")} = ${JSON.stringify(operation.value)}\n`,
          },
        ]
      : [],
  );
  const tables = Map.groupBy(settings, ({ table }) => table);
  return [...tables]
    .map(([table, lines]) => (table ? `[${table}]\n` : "") + lines.map(({ line }) => line).join(""))
    .join("\n");
}

function formatName(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function removedBy(file: PlannedFile): string[] {
  if (file.format !== "json" && file.format !== "jsonc") return [];
  return file.operations.flatMap(({ do: verb, path }) => (verb === "remove" ? path.join(" > ") : []));
}

function languageOf({ format }: PlannedFile, path: string): ShownFile["language"] {
  if (format === "json" || format === "jsonc") return "json";
  if (format === "toml") return "toml";
  if (format === "env") return "ini";
  if (path.endsWith(".yaml")) return "yaml";
  return path.endsWith(".ps1") ? "powershell" : "sh";
}
