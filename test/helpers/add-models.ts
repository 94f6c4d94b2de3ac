import type { TestGateway } from "./test-gateway.ts";

/** Creates a provider without an upstream, and models such as `<name>/model-1`. Returns the slugs of the models. */
export async function addModels(gateway: TestGateway, name: string, count: number): Promise<string[]> {
  const { id } = await gateway.admin.providers.create.mutate({
    name,
    kind: "openai-compatible",
    baseUrl: "http://127.0.0.1:9/v1",
    apiKey: "secret",
  });
  const models = Array.from({ length: count }, (_, index) => `model-${index + 1}`);
  for (let from = 0; from < count; from += 100) {
    await gateway.admin.providers.addModels.mutate({ id, models: models.slice(from, from + 100) });
  }
  return models.map((model) => `${name}/${model}`);
}
