/** The resources of a program, sorted by URN, with its outputs and provider calls. */
export type Graph = {
  phase: "preview" | "update";
  stack: string;
  resources: GraphResource[];
  outputs: Inputs;
  invocations: { token: string; provider: string }[];
};

export type GraphResource = {
  urn: string;
  type: string;
  name: string;
  isCustom: boolean;
  parent: string;
  provider: string;
  isProtected: boolean;
  dependencies: string[];
  propertyDependencies: Record<string, string[]>;
  ignoreChanges: string[];
  hooks: { beforeCreate: string[]; beforeUpdate: string[] };
  inputs: Inputs;
};

export type Inputs = { [name: string]: Value };
/** A secret is `{ $secret: value }`. A value unknown until creation is `{ $unknown: true }`. */
export type Value = null | boolean | number | string | Value[] | Inputs;

export const unknown = { $unknown: true };

export function isUnknown(value: Value | undefined): boolean {
  return value !== null && typeof value === "object" && "$unknown" in value;
}

export function ofType(graph: Graph, ...types: string[]): GraphResource[] {
  return graph.resources.filter(({ type }) => types.includes(type));
}

export function find(graph: Graph, type: string, name: string): GraphResource {
  const found = graph.resources.find((resource) => resource.type === type && resource.name === name);
  if (!found) throw new Error(`There is no ${type} called ${name} in the graph.`);
  return found;
}

export function neededBy(graph: Graph, resource: GraphResource): Set<string> {
  const needed = new Set<string>();
  const byUrn = new Map(graph.resources.map((each) => [each.urn, each]));
  const visit = (urn: string) => {
    if (needed.has(urn)) return;
    needed.add(urn);
    byUrn.get(urn)?.dependencies.forEach(visit);
  };
  resource.dependencies.forEach(visit);
  return needed;
}

export function json<Shape>(value: Value | undefined): Shape | undefined {
  return typeof value === "string" ? (JSON.parse(value) as Shape) : undefined;
}

export function texts(value: Value, path: string[] = []): { path: string[]; text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => texts(inner, [...path, name]));
}
