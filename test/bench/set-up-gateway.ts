import { administrator, createConsoleClient } from "../helpers/test-gateway.ts";
import { cannedUpstreams } from "./canned-upstreams.ts";
import type { BenchKeys } from "./round-runner.ts";

/** Creates an administrator and one priced model per upstream. Returns two keys for all the models. */
export async function setUpGateway(
  url: string,
  setUpToken: string,
  upstreamPort: number,
): Promise<BenchKeys> {
  const setUp = { token: setUpToken, ...administrator };
  const { accessToken } = await createConsoleClient(url).auth.setUp.mutate(setUp);
  const admin = createConsoleClient(url, accessToken);
  for (const { kind, slug, baseUrl, apiKey, model } of cannedUpstreams) {
    const provider = await admin.providers.create.mutate({
      name: slug.replace(/\/.*/, ""),
      kind,
      baseUrl: baseUrl(`http://127.0.0.1:${upstreamPort}`),
      apiKey,
    });
    const prices = { input: 2.5, cachedInput: 1.25, output: 10 };
    await admin.models.create.mutate({ slug, providerId: provider.id, upstreamModel: model, prices });
  }
  const models = cannedUpstreams.map(({ slug }) => slug);
  const free = await admin.keys.create.mutate({ name: "Benchmark", models });
  const most = 2 ** 31 - 1;
  const limits = {
    requestsPerMinute: most,
    tokensPerMinute: most,
    concurrentRequests: most,
    budgetsUsd: { day: 1e6, month: 1e6 },
  };
  const limited = await admin.keys.create.mutate({ name: "Limited", models, limits });
  return { free: free.value, limited: limited.value };
}
