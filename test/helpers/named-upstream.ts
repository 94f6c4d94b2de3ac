import { createKey, type TestGateway } from "./test-gateway.ts";

/** What an upstream is given as our credential. */
export const upstreamSecret = "upstream-secret-0123456789";

/** Like `connectUpstream`, for gateways with several: the provider has this name, its one model is `<name>/model`. */
export async function connectNamedUpstream(
  gateway: TestGateway,
  name: string,
  upstream: { url: string },
  timeouts: { firstByteTimeoutMs?: number; idleTimeoutMs?: number; totalTimeoutMs?: number } = {},
): Promise<{ id: string; value: string; model: string; modelId: string }> {
  const provider = await gateway.admin.providers.create.mutate({
    name,
    kind: "openai-compatible",
    baseUrl: `${upstream.url}/v1`,
    apiKey: upstreamSecret,
    timeouts,
  });
  const model = `${name}/model`;
  const { id: modelId } = await gateway.admin.models.create.mutate({
    slug: model,
    providerId: provider.id,
    upstreamModel: "upstream-model",
  });
  return { ...(await createKey(gateway, [model])), model, modelId };
}
