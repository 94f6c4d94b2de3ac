import { createKey, type TestGateway } from "./test-gateway.ts";

/**
 * Creates a provider for the upstream, a model `<name>/model` that the upstream calls `upstream-model`, and a key
 * for that model.
 */
export async function connectUpstream(
  gateway: Pick<TestGateway, "admin">,
  upstream: { url: string },
  {
    name = "test",
    kind = "openai-compatible",
    preset,
    upstreamModel = "upstream-model",
    ...timeouts
  }: UpstreamSettings = {},
): Promise<{ id: string; value: string; model: string; modelId: string }> {
  const provider = await gateway.admin.providers.create.mutate({
    name,
    kind,
    preset,
    baseUrl: `${upstream.url}/v1`,
    apiKey: upstreamSecret,
    timeouts,
  });
  const model = `${name}/model`;
  const { id: modelId } = await gateway.admin.models.create.mutate({
    slug: model,
    providerId: provider.id,
    upstreamModel,
  });
  return { ...(await createKey(gateway, [model])), model, modelId };
}

type UpstreamSettings = {
  name?: string;
  kind?: "openai-compatible" | "anthropic" | "gemini";
  preset?: string;
  upstreamModel?: string;
  firstByteTimeoutMs?: number;
  idleTimeoutMs?: number;
  totalTimeoutMs?: number;
};

export const upstreamSecret = "upstream-secret-0123456789";
