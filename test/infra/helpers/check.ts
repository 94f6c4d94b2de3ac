import type { Graph, GraphResource, Inputs, Value } from "./graph.ts";

/** Something that has to be true of a graph, with graphs of which it is not. */
export type Check = {
  title: string;
  /** What is wrong with a graph, in words; nothing when all is well. What a preview does not know yet is not wrong. */
  findings(graph: Graph, others: Others): string[];
  /** Each breaks the graph of production in one way that the check must notice. */
  mutants: Record<string, (graph: Graph) => void>;
};

/** What a graph is compared with. */
export type Others = {
  /** The same stack in the other phase. */
  otherPhase: Graph;
  /** The graph as it was last agreed to, in words; null for graphs that have no such file. */
  agreed: string | null;
};

/** Changes a resource's inputs in place. */
export function change(resource: GraphResource, inputs: Inputs): void {
  Object.assign(resource.inputs, inputs);
}

/** Changes an input that is JSON in a text. */
export function changeJson<Shape>(
  resource: GraphResource,
  property: string,
  edit: (value: Shape) => void,
): void {
  const value = JSON.parse(resource.inputs[property] as string) as Shape;
  edit(value);
  resource.inputs[property] = JSON.stringify(value);
}

/** A problem for each item for which there is one. */
export function problems<Item>(items: Item[], problem: (item: Item) => string | false | undefined): string[] {
  return items.map(problem).filter((found) => typeof found === "string");
}

export function field(value: Value | undefined, name: string): Value | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
}

export function remove(graph: Graph, resource: GraphResource): void {
  graph.resources.splice(graph.resources.indexOf(resource), 1);
}
