import { changeJson } from "./check.ts";
import { find, type Graph, type GraphResource, json, ofType } from "./graph.ts";

export type Container = {
  name: string;
  image: string;
  user?: string;
  privileged?: boolean;
  readonlyRootFilesystem?: boolean;
  portMappings?: { containerPort: number }[];
  stopTimeout?: number;
  environment: { name: string; value: string }[];
  secrets: { name: string; valueFrom: string }[];
  linuxParameters?: { capabilities?: { drop?: string[] } };
  logConfiguration?: { logDriver: string; options: Record<string, string> };
};

const taskType = "aws:ecs/taskDefinition:TaskDefinition";

/** Returns the containers of all tasks. Empty in a preview, where their environment is unknown. */
export function containersOf(graph: Graph): { task: GraphResource; container: Container }[] {
  return ofType(graph, taskType).flatMap((task) =>
    (json<Container[]>(task.inputs["containerDefinitions"]) ?? []).map((container) => ({ task, container })),
  );
}

export function environmentOf({ environment }: Container): Record<string, string> {
  return Object.fromEntries(environment.map(({ name, value }) => [name, value]));
}

export function changeContainer(changes: Partial<Container>, task = "service"): (graph: Graph) => void {
  return (graph) =>
    changeJson<Container[]>(find(graph, taskType, task), "containerDefinitions", ([container]) => {
      Object.assign(container ?? {}, changes);
    });
}

export function changeVariable(name: string, value: string): (graph: Graph) => void {
  return (graph) =>
    changeJson<Container[]>(find(graph, taskType, "service"), "containerDefinitions", ([container]) => {
      container?.environment.push({ name, value });
    });
}
