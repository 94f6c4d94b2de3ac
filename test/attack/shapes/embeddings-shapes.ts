import { type Shape, times } from "./shape.ts";

const inputs: Record<string, (count: number) => unknown> = {
  texts: (count) => times(count, (index) => `Text ${index}`),
  "token numbers": (count) => times(count, (index) => index),
  "lists of token numbers": (count) => times(count, (index) => [index]),
};

export const embeddingsShapes: Shape[] = Object.entries(inputs).map(([name, input]) => ({
  name,
  dialects: ["embeddings"],
  body: (count) => ({ model: "test/model", input: input(count) }),
}));
