import type { ServerResponse } from "node:http";
import type { ExecutionContext } from "ava";
import { createModel } from "./connect-upstream.ts";
import { chatBody, postChat } from "./post-chat.ts";
import { createUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";
import { createKey, type TestGateway, usageOf } from "./test-gateway.ts";

/** Creates a provider with a scripted upstream, and a model with the given fallbacks. */
export async function addModel(
  t: Pick<ExecutionContext, "teardown">,
  gateway: TestGateway,
  script: Script | (Partial<ScriptedUpstream> & { url: string }),
  fallbacks: string[] = [],
): Promise<AddedModel> {
  const upstream =
    typeof script === "function"
      ? await createUpstream(t, (_request, response) => script(response))
      : { requests: [], sockets: new Set<never>(), ...script };
  const name = `way${++count}`;
  const settings = { name, apiKey: "first-secret-0123456789", upstreamModel: `${name}-upstream`, fallbacks };
  const { model: slug, providerId } = await createModel(gateway, upstream, settings);
  return { slug, name, providerId, upstream };
}

export type AddedModel = { slug: string; name: string; providerId: string; upstream: ScriptedUpstream };

export type Script = (response: ServerResponse) => void;

let count = 0;

export const answersWith =
  (status: number, headers: Record<string, string> = {}): Script =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: `told to say ${status}`, type: "x", code: "y" } }));
  };

export async function askModel(gateway: TestGateway, slug: string, more: object = {}) {
  const key = await createKey(gateway, [slug]);
  const answer = await postChat(gateway, key.value, chatBody(slug, "Hello", more));
  const [record] = await usageOf(gateway, key.id);
  return { answer, record };
}
