import assert from "node:assert/strict";
import test from "ava";
import fc from "fast-check";
import type { Answer, Asked, Part } from "../helpers/native-upstreams/native-upstream.ts";
import { readOpenAiRequest } from "../helpers/native-upstreams/openai-request.ts";
import { postTo } from "../helpers/post-chat.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { answers, chatRequests, type RandomRequest } from "./chat-arbitraries.ts";
import { comparableAsked } from "./comparable-asked.ts";
import { connectVendor } from "./connect-vendor.ts";
import { plainAnswer } from "./step.ts";
import { vendors } from "./vendors.ts";

const gateway = shareGateway();

for (const vendor of vendors) {
  test(`${vendor.name}: random requests and responses keep their meaning`, async (t) => {
    let answer: Answer = plainAnswer;
    const { upstream, options } = await connectVendor(t, gateway(), vendor, () => answer);
    const property = fc.asyncProperty(
      chatRequests(),
      answers(),
      fc.boolean(),
      async (request, given, stream) => {
        answer = given;
        upstream.refusals.length = 0;
        const told = await ask(options, request, stream);
        assert.deepEqual(upstream.refusals, []);
        assert.deepEqual(told, expectedOf(given));
        assert.deepEqual(meaningOf(upstream.asked.at(-1)), meaningOf(read(request)));
      },
    );
    await fc.assert(property, { numRuns: isFull ? 80 : 20, includeErrorInReport: true });
    t.pass();
  });
}

type Told = {
  text: string;
  calls: { name: string; input: unknown }[];
  finish: string | null;
  tokens: number[];
};

function expectedOf({ text, calls, finish, usage }: Answer): Told {
  return {
    text: text.join(""),
    calls: calls.map((call) => ({ ...call })),
    finish,
    tokens: [usage.input, usage.cached, usage.output],
  };
}

function read(request: RandomRequest): Asked {
  const headers = { "content-type": "application/json" };
  return readOpenAiRequest({ method: "POST", url: "", headers, body: JSON.stringify(request) }, null);
}

/** Ignores how texts are split into parts, and the kind and amount of whitespace in `system`. */
function meaningOf(asked: Asked | undefined): object {
  return {
    ...comparableAsked(asked ?? {}, ["tools", "forcedTool", "stop"]),
    system: asked?.system.replaceAll(/\s+/g, " "),
    turns: asked?.turns.map(({ role, parts }) => ({ role, parts: parts.reduce<Part[]>(joinTexts, []) })),
  };
}

function joinTexts(parts: Part[], part: Part): Part[] {
  const last = parts.at(-1);
  if (last && "text" in last && "text" in part) {
    return [...parts.slice(0, -1), { text: last.text + part.text }];
  }
  return [...parts, part];
}

async function ask(
  { baseUrl, apiKey, model }: { baseUrl: string; apiKey: string; model: string },
  request: RandomRequest,
  stream: boolean,
): Promise<Told> {
  const streaming = stream && { stream, stream_options: { include_usage: true } };
  const headers = { authorization: `Bearer ${apiKey}` };
  const body = { ...request, model, ...streaming };
  const { status, text } = await postTo({ url: baseUrl }, "/chat/completions", headers, body);
  assert.equal(status, 200, text);
  return stream ? toldByStream(text) : toldByAnswer(text);
}

type Call = { index: number; function: { name?: string; arguments: string } };
type Choice = { content?: string | null; tool_calls?: Call[] };
type Usage = {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number };
};

function toldByAnswer(json: string): Told {
  const { choices, usage } = JSON.parse(json) as {
    choices: [{ message: Choice; finish_reason: string }];
    usage: Usage;
  };
  const [{ message, finish_reason: finish }] = choices;
  return { ...toContent([message]), finish, tokens: toTokens(usage) };
}

function toldByStream(text: string): Told {
  const events = text.split("\n\n").slice(0, -1);
  assert.equal(events.pop(), "data: [DONE]", text);
  const chunks = events.map(
    (event) =>
      JSON.parse(event.slice("data: ".length)) as {
        choices: { delta: Choice; finish_reason: string | null }[];
        usage: Usage | null;
      },
  );
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const usage = chunks.at(-1)?.usage;
  assert.ok(usage, "the last chunk has the usage");
  return {
    ...toContent(choices.map(({ delta }) => delta)),
    finish: choices.at(-1)?.finish_reason ?? null,
    tokens: toTokens(usage),
  };
}

function toContent(pieces: Choice[]): Pick<Told, "text" | "calls"> {
  const calls: { name: string; json: string }[] = [];
  const all = pieces.flatMap((piece) => piece.tool_calls ?? []);
  for (const [at, { index = at, function: called }] of all.entries()) {
    const call = (calls[index] ??= { name: "", json: "" });
    call.name += called.name ?? "";
    call.json += called.arguments;
  }
  return {
    text: pieces.map(({ content }) => content ?? "").join(""),
    calls: calls.map(({ name, json }) => ({ name, input: JSON.parse(json) as unknown })),
  };
}

function toTokens({ prompt_tokens, completion_tokens, prompt_tokens_details }: Usage): number[] {
  return [prompt_tokens, prompt_tokens_details?.cached_tokens ?? 0, completion_tokens];
}
