import { toGatewayError } from "../errors.ts";
import type { Provider, ProviderSettings } from "../providers/provider.ts";
import { collectAnswer } from "../upstream/collect-answer.ts";
import type { Upstreams } from "../upstream/upstreams.ts";

/** What a real, cheap call to a provider showed. */
export type ProviderVerdict = {
  ok: boolean;
  /** In words for whoever set the provider up. */
  message: string;
  latencyMs: number;
  /** The names of the upstream's models, as far as it tells. */
  models: string[];
};

/** Asks an upstream for its list of models: nothing is billed for that, and it takes host, address, path and credential. */
export async function probeProvider(
  provider: Provider,
  settings: ProviderSettings,
  upstreams: Upstreams,
): Promise<ProviderVerdict> {
  if (provider.reach === "local") {
    return { ok: true, message: "It answers by itself.", latencyMs: 0, models: provider.modelNames };
  }
  const startedAt = performance.now();
  const verdict = (ok: boolean, message: string, models: string[] = []): ProviderVerdict => {
    return { ok, message, latencyMs: Math.round(performance.now() - startedAt), models };
  };
  try {
    const endpoint = provider.modelsEndpoint(settings);
    const { status, body } = await collectAnswer(upstreams, endpoint, timeouts, listBytesMax);
    if (status === 401 || status === 403)
      return verdict(false, `The key was refused (HTTP status ${status}).`);
    if (status !== 200)
      return verdict(false, `It answered ${endpoint.path} with HTTP status ${status}. Check the base URL.`);
    const models = provider.readModelNames(parseJson(body));
    if (models === null)
      return verdict(false, `What it answered at ${endpoint.path} is no list of models. Check the base URL.`);
    const { latencyMs } = verdict(true, "");
    return verdict(
      true,
      `Answered in ${latencyMs} ms, ${models.length} ${models.length === 1 ? "model" : "models"}.`,
      models,
    );
  } catch (error) {
    return verdict(false, toGatewayError(error).message);
  }
}

const timeouts = {
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  totalTimeoutMs: 20_000,
};
const listBytesMax = 8 * 1024 * 1024;

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
