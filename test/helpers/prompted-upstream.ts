import type { ServerResponse } from "node:http";
import type { ExecutionContext } from "ava";
import { createUpstream, type ScriptedUpstream, type SeenRequest } from "./scripted-upstream.ts";

/** The prompt selects the script, so that parallel tests can share an upstream and its gateway. */
export async function createPromptedUpstream(
  t: Pick<ExecutionContext, "teardown">,
): Promise<PromptedUpstream> {
  const scripts = new Map<string, PromptScript>();
  const upstream = await createUpstream(t, async (request, response) => {
    const script = scripts.get(promptOf(request));
    if (!script) throw new Error(`No test has a script for: ${request.body}`);
    await script(response, request);
  });
  return {
    ...upstream,
    scripts,
    seen: (prompt) => upstream.requests.filter((request) => promptOf(request) === prompt),
  };
}

export type PromptedUpstream = ScriptedUpstream & {
  scripts: Map<string, PromptScript>;
  seen(prompt: string): SeenRequest[];
};

export type PromptScript = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

function promptOf({ body }: SeenRequest): string {
  const { input, messages } = JSON.parse(body) as { input?: string; messages?: { content: Content }[] };
  const content = messages?.at(-1)?.content;
  return input ?? (typeof content === "string" ? content : content?.at(-1)?.text) ?? "";
}

type Content = string | { text?: string }[];
