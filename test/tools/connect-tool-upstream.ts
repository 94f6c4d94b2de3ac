import type { ExecutionContext } from "ava";
import type { Dialect, SetupModels } from "../../gateway/setup/setup-input.ts";
import { findKind } from "../../gateway/providers/registry.ts";
import {
  type Answer,
  type Asked,
  createNativeUpstream,
  type NativeUpstream,
} from "../helpers/native-upstreams/native-upstream.ts";
import { createKey, type TestGateway, usageOf } from "../helpers/test-gateway.ts";
import { setupModel } from "../setup/setup-models.ts";
import type { GatewayAccess } from "./coding-tool.ts";
import type { ToolUpstream } from "./tool-upstreams.ts";
import { watchAnswers } from "./watch-answers.ts";

/** Creates the upstream's provider and models as the console does, and a key for all these models. */
export async function connectToolUpstream(
  t: Pick<ExecutionContext, "teardown">,
  gateway: TestGateway,
  { provider: name, preset, form, models = [form.model] }: ToolUpstream,
): Promise<ToolConnection> {
  const connection = { script: noScript };
  const upstream = await createNativeUpstream(t, form, (asked) => connection.script(asked));
  const { kind, baseUrl, apiKey } = upstream;
  const provider = await gateway.admin.providers.create.mutate({ name, kind, preset, baseUrl, apiKey });
  for (const upstreamModel of models) {
    const slug = `${name}/${upstreamModel}`;
    await gateway.admin.models.create.mutate({ slug, providerId: provider.id, upstreamModel });
  }
  const key = await createKey(
    gateway,
    models.map((model) => `${name}/${model}`),
  );
  const seen = new Set<string>();
  const newRecords = async () => {
    const records = (await usageOf(gateway, key.id)).filter(({ id }) => !seen.has(id));
    for (const { id } of records) seen.add(id);
    return records;
  };
  const { url, faults, upgrades, relayed } = await watchAnswers(t, gateway.url);
  return Object.assign(connection, {
    upstream,
    faults,
    upgrades,
    relayed,
    accessTo: (model: string) => ({
      url,
      apiKey: key.value,
      models: onlyModel(`${name}/${model}`, kind),
    }),
    newRecords,
    gatewayLog: gateway.log,
  });
}

function onlyModel(slug: string, kind: string): SetupModels {
  const dialects = nativeDialects[kind] ?? [];
  const model = setupModel(slug, { aiSdkName: findKind(kind)?.aiSdkName ?? null, dialects });
  return { light: model, daily: model, hard: model, connected: [model] };
}

const nativeDialects: Record<string, Dialect[]> = {
  "openai-compatible": ["chat", "responses"],
  anthropic: ["messages"],
};

export type ToolConnection = {
  /** Returns the response of the upstream's model. Each test sets its own script. */
  script: (asked: Asked) => Answer;
  upstream: NativeUpstream;
  accessTo(model: string): GatewayAccess;
  /** Returns the usage records since the last call. */
  newRecords(): ReturnType<typeof usageOf>;
  gatewayLog: string[];
  /** Violations of OpenAI's schemas in responses of the gateway. */
  faults: string[];
  /** The paths of the tool's WebSocket connections. */
  upgrades: string[];
  /** The chunks of the gateway's HTTP responses. */
  relayed: string[];
};

const noScript: ToolConnection["script"] = () => {
  throw new Error("No test has given a script.");
};
