import type { Asked } from "../helpers/native-upstreams/native-upstream.ts";

export function comparableAsked(asked: Partial<Asked>, names: string[]): object {
  const { tools = [], schema } = asked;
  const comparable = {
    ...asked,
    tools: tools.map((tool) => ({ ...tool, parameters: comparableSchema(tool.parameters) })),
    schema: comparableSchema(schema),
  };
  return Object.fromEntries(Object.entries(comparable).filter(([name]) => names.includes(name)));
}

function comparableSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(comparableSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([name]) => name !== "$schema" && name !== "additionalProperties",
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, comparableSchema(value)]));
}
