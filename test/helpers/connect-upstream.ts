import { createKey, type TestGateway } from "./test-gateway.ts";

/** Creates a provider for the upstream with a model, and a key for that model. */
export async function connectUpstream(
  gateway: Pick<TestGateway, "admin">,
  upstream: { url: string },
  settings: UpstreamSettings = {},
): Promise<{ id: string; value: string; model: string; modelId: string }> {
  const { model, modelId } = await createModel(gateway, upstream, settings);
  return { ...(await createKey(gateway, [model])), model, modelId };
}

/** Creates a provider for the upstream, and a model `<name>/model` that the upstream calls `upstream-model`. */
export async function createModel(
  { admin }: Pick<TestGateway, "admin">,
  upstream: { url: string },
  {
    name = "test",
    kind = "openai-compatible",
    preset,
    path = "/v1",
    apiKey = upstreamSecret,
    upstreamModel = "upstream-model",
    fallbacks,
    prices,
    ...timeouts
  }: UpstreamSettings = {},
): Promise<{ model: string; modelId: string; providerId: string }> {
  const baseUrl = `${upstream.url}${path}`;
  const { id: providerId } = await admin.providers.create.mutate({
    name,
    kind,
    preset,
    baseUrl,
    apiKey,
    timeouts,
  });
  const model = `${name}/model`;
  const settings = { slug: model, providerId, upstreamModel, fallbacks, prices };
  return { model, modelId: (await admin.models.create.mutate(settings)).id, providerId };
}

type NewProvider = Parameters<TestGateway["admin"]["providers"]["create"]["mutate"]>[0];
type NewModel = Parameters<TestGateway["admin"]["models"]["create"]["mutate"]>[0];

type UpstreamSettings = Partial<Pick<NewProvider, "name" | "kind" | "preset" | "apiKey">> &
  Partial<Pick<NewModel, "upstreamModel" | "fallbacks" | "prices">> & {
    /** Of the base URL. */
    path?: string;
    firstByteTimeoutMs?: number;
    idleTimeoutMs?: number;
    totalTimeoutMs?: number;
  };

export const upstreamSecret = "upstream-secret-0123456789";
