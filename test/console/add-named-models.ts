import type { TestGateway } from "../helpers/test-gateway.ts";

/** Creates an unreachable provider and its models. With the preset `openai`, known models have prices. */
export async function addNamedModels(
  { admin: { providers } }: TestGateway,
  name: string,
  models: string[],
  preset?: string,
): Promise<{ id: string }> {
  const baseUrl = "http://127.0.0.1:1/v1";
  const { id } = await providers.create.mutate({ name, kind: "openai-compatible", preset, baseUrl });
  await providers.addModels.mutate({ id, models });
  return { id };
}
