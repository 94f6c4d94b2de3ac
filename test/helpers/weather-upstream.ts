import type { ExecutionContext } from "ava";
import { connectUpstream } from "./connect-upstream.ts";
import { anthropicForm, claudeHaiku } from "./native-upstreams/anthropic-upstream.ts";
import { geminiForm } from "./native-upstreams/gemini-upstream.ts";
import { type Answer, anyQuestion, buildAnswer } from "./native-upstreams/native-upstream.ts";
import { openAiForm } from "./native-upstreams/openai-upstream.ts";
import { createUpstream, type ScriptedUpstream } from "./scripted-upstream.ts";
import type { TestGateway } from "./test-gateway.ts";
import { asksToStream } from "./vendor-answers.ts";

/**
 * Starts an upstream with the chat completions, Anthropic and Gemini APIs. The upstream calls `get_weather`, and
 * answers "It is sunny." to a request with the tool's result.
 */
export function createWeatherUpstream(t: Pick<ExecutionContext, "teardown">): Promise<ScriptedUpstream> {
  return createUpstream(t, (request, response) => {
    const { url, body } = request;
    const form = url.includes("enerateContent")
      ? gemini
      : url.startsWith("/v1/messages")
        ? claude
        : openAiForm;
    const thoughts = form === claude ? ["Weather needs a tool."] : [];
    const answer = body.includes("22 degrees") ? sunny : { ...look, thoughts };
    const { whole, events } = buildAnswer(form, answer, { ...anyQuestion, isThinking: true });
    const isStream = asksToStream(request);
    response.writeHead(200, { "content-type": isStream ? form.streamContentType : "application/json" });
    response.end(isStream ? Buffer.concat(events) : whole);
  });
}

export async function connectWeather(gateway: TestGateway, upstream: ScriptedUpstream): Promise<string[]> {
  await connectUpstream(gateway, upstream, { name: "chat" });
  await connectUpstream(gateway, upstream, { name: "claude", kind: "anthropic" });
  await connectUpstream(gateway, upstream, { name: "gemini", kind: "gemini" });
  return ["chat/model", "claude/model", "gemini/model"];
}

const claude = anthropicForm(claudeHaiku);
const gemini = geminiForm({ name: "gemini-2.5-flash", generation: 2 });

const sunny: Answer = {
  thoughts: [],
  text: ["It is sunny."],
  calls: [],
  finish: "stop",
  usage: { input: 5, cached: 0, cacheWritten: 0, output: 2, thinking: 0 },
  ending: "complete",
};
const look: Answer = {
  ...sunny,
  text: ["Let me look."],
  calls: [{ name: "get_weather", input: { city: "Paris" } }],
  finish: "tool_calls",
};
