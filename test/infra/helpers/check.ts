import { find, type Graph, type GraphResource, type Inputs, type Value } from "./graph.ts";

/** A condition for graphs, with changes that violate it. */
export type Check = {
  title: string;
  /** Returns a description of each problem. Unknown values of a preview are not problems. */
  findings(graph: Graph, others: Others): string[];
  /** Each function breaks the production graph in one way that the check must detect. */
  mutants: Record<string, (graph: Graph) => void>;
};

export type Others = {
  /** The same stack in the other phase, preview or update. The tested graph if that phase was not run. */
  otherPhase: Graph;
  /** The checked-in text of the graph. Null for graphs without a file. */
  agreed: string | null;
};

/** Returns a mutant that changes inputs of a resource. */
export function changing(type: string, name: string, inputs: Inputs): (graph: Graph) => void {
  return (graph) => void Object.assign(find(graph, type, name).inputs, inputs);
}

export function changeJson<Shape>(
  resource: GraphResource,
  property: string,
  edit: (value: Shape) => void,
): void {
  const value = JSON.parse(resource.inputs[property] as string) as Shape;
  edit(value);
  resource.inputs[property] = JSON.stringify(value);
}

export function problems<Item>(items: Item[], problem: (item: Item) => string | false | undefined): string[] {
  return items.map(problem).filter((found) => typeof found === "string");
}

export function field(value: Value | undefined, name: string): Value | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
}
