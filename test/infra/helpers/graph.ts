/** What a program registered, in the order of the names, as the engine saw it. */
export type Graph = {
  phase: "preview" | "update";
  stack: string;
  resources: GraphResource[];
  outputs: Inputs;
  /** What was asked of AWS while the program ran. */
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
  /** The names of the hooks that run before the resource is created, and before it is updated. */
  hooks: { beforeCreate: string[]; beforeUpdate: string[] };
  inputs: Inputs;
};

export type Inputs = { [name: string]: Value };
/** A secret is `{ $secret: value }`; what is known only after the resource exists is `{ $unknown: true }`. */
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

/** All that a resource needs before it, also by way of others. */
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

/** A value that is JSON in a text, such as a policy; undefined where it is not known yet. */
export function json<Shape>(value: Value | undefined): Shape | undefined {
  return typeof value === "string" ? (JSON.parse(value) as Shape) : undefined;
}

/** Every text in a value, with the path that leads there. */
export function texts(value: Value, path: string[] = []): { path: string[]; text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => texts(inner, [...path, name]));
}
