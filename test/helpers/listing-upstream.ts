import type { ExecutionContext } from "ava";
import { createUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";

/** Starts an upstream that lists its models for the given keys and serves nothing else. */
export function createListingUpstream(
  t: Pick<ExecutionContext, "teardown">,
  models: string[],
  keys: string[] = [goodKey],
): Promise<ScriptedUpstream> {
  return createUpstream(t, ({ url, headers }, response) => {
    const isKnown = keys.some((key) => headers.authorization === `Bearer ${key}`);
    const status = !url.endsWith("/models") ? 404 : isKnown ? 200 : 401;
    const body =
      status === 200
        ? { object: "list", data: models.map((id) => ({ id, object: "model" })) }
        : { error: { message: "refused" } };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
}

export const goodKey = "upstream-key-0123456789-good";
export const badKey = "upstream-key-0123456789-evil";
