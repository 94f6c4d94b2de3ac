import { GatewayError } from "../errors.ts";
import type { Provider, ProviderSettings, UpstreamApi } from "../providers/provider.ts";
import { type CollectedAnswer, collectAnswer } from "../upstream/collect-answer.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { explainFailure } from "../upstream/explain-failure.ts";
import { explainRefusal } from "./explain-refusal.ts";

/** What a real, cheap call to a provider showed. */
export type ProviderVerdict = {
  ok: boolean;
  /** In words for whoever set the provider up. */
  message: string;
  latencyMs: number;
  /** The names of the upstream's models, as far as it tells. */
  models: string[];
};

/**
 * Asks an upstream for its list of models: nothing is billed for that, and it takes host, address, path and credential.
 * Throws what the provider throws for settings that it does not take.
 */
export async function probeProvider(
  provider: Provider,
  settings: ProviderSettings,
  upstreams: Upstreams,
): Promise<ProviderVerdict> {
  const api = provider.connect(settings);
  const startedAt = performance.now();
  const finding = await ask(api, upstreams);
  const latencyMs = Math.round(performance.now() - startedAt);
  if (typeof finding === "string") return { ok: false, message: finding, latencyMs, models: [] };
  const count = `${finding.length} ${finding.length === 1 ? "model" : "models"}`;
  const message = api.modelsEndpoint.answer
    ? "It answers by itself."
    : `Answered in ${latencyMs} ms, ${count}.`;
  return { ok: true, message, latencyMs, models: finding };
}

/** The names of the models, or what is wrong. */
async function ask(api: UpstreamApi, upstreams: Upstreams): Promise<string[] | string> {
  const { modelsEndpoint } = api;
  try {
    return readAnswer(
      api,
      await collectAnswer(upstreams, modelsEndpoint, { timeouts, bytesMax: listBytesMax }),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return explainFailure(error, modelsEndpoint.origin);
  }
}

function readAnswer(api: UpstreamApi, { status, headers, body }: CollectedAnswer): string[] | string {
  const { modelsEndpoint } = api;
  const json = parseJson(body);
  if (status !== 200) {
    return explainRefusal(api.meantStatus?.(status, json) ?? status, json, modelsEndpoint);
  }
  const names = json === null ? null : api.readModelNames(json);
  if (names !== null) return names;
  const isPage =
    /html/i.test(String(headers["content-type"])) ||
    /^\s*<(?:!doctype|html)/i.test(body.toString("utf8", 0, 200));
  const what = isPage ? "a web page" : "no list of models";
  return `What it answered at ${modelsEndpoint.path} is ${what}. Check the base URL.`;
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
