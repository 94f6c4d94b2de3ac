import { createTRPCClient, httpLink } from "@trpc/client";
import type { AppRouter } from "../../gateway/trpc/app-router.ts";
import { upstreamModel } from "./canned-answers.ts";

/** What the gateway's clients call the model. */
export const slug = "bench/model";

/** Makes the upstream a provider with one priced model, and returns the value of a key for it. */
export async function setUpGateway(url: string, setUpToken: string, upstreamPort: number): Promise<string> {
  const { accessToken } = await createConsoleClient(url).auth.setUp.mutate({
    token: setUpToken,
    name: "Ada",
    email: "ada@example.com",
    password: "correct horse battery",
  });
  const admin = createConsoleClient(url, { authorization: `Bearer ${accessToken}` });
  const provider = await admin.providers.create.mutate({
    name: "bench",
    kind: "openai-compatible",
    baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
    apiKey: "upstream-secret-0123456789",
  });
  const prices = { input: 2.5, cachedInput: 1.25, output: 10 };
  await admin.models.create.mutate({ slug, providerId: provider.id, upstreamModel, prices });
  const { value } = await admin.keys.create.mutate({ name: "Benchmark", models: [slug] });
  return value;
}

function createConsoleClient(url: string, headers: Record<string, string> = {}) {
  return createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc`, headers })] });
}
