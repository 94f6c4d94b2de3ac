import { hash } from "node:crypto";
import type { Graph, GraphResource, Value } from "./graph.ts";

export function describeGraph({ resources, outputs }: Graph): string {
  const blocks = resources.filter(({ isCustom }) => isCustom).map(describe);
  return `${[...blocks, `outputs\n${lines(outputs)}`].join("\n\n")}\n`;
}

function describe(resource: GraphResource): string {
  const { type, name, parent, isProtected, dependencies, ignoreChanges, hooks, inputs } = resource;
  const marks = [
    ["in", shortName(parent)],
    ["protected", isProtected ? "yes" : ""],
    ["after", dependencies.map(shortName).join(", ")],
    ["ignores", ignoreChanges.join(", ")],
    ["before it is created", hooks.beforeCreate.join(", ")],
    ["before it is updated", hooks.beforeUpdate.join(", ")],
  ].filter(([, value]) => value !== "");
  return [`${type} ${name}`, ...marks.map(([mark, value]) => `  ${mark}: ${value}`), lines(inputs)].join(
    "\n",
  );
}

function lines(values: Record<string, Value>): string {
  return Object.entries(values)
    .filter(([name]) => !name.startsWith("__"))
    .map(([name, value]) => `    ${name} = ${JSON.stringify(readable(value))}`)
    .join("\n");
}

/** Parses JSON in texts, and replaces long texts, such as programs, with their hashes. */
function readable(value: Value): unknown {
  if (typeof value === "string") {
    if (/^(\{"|\[[{"])/.test(value)) return readable(JSON.parse(value) as Value);
    return value.length > 1_000 ? `sha256 ${hash("sha256", value).slice(0, 16)}` : value;
  }
  if (Array.isArray(value)) return value.map(readable);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, readable(inner)]));
}

function shortName(urn: string): string {
  const [, , types = "", name = ""] = urn.split("::");
  return `${types.split(/[$:/]/).at(-1)} ${name}`;
}
