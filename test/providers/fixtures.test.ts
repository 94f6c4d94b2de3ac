import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { GatewayError } from "../../gateway/errors.ts";
import { toPlainChat } from "../../gateway/providers/chat-completions/to-plain-chat.ts";
import { type ClaudeTraits, findClaudeTraits } from "../../gateway/providers/claude-models.ts";
import type {
  ChatApi,
  EmbeddingsTranslation,
  ModelApis,
  UpstreamModel,
} from "../../gateway/providers/provider.ts";
import { providerKinds } from "../../gateway/providers/registry.ts";
import type {
  ChatQuirks,
  ChatRequestBody,
  EmbeddingsRequestBody,
} from "../../gateway/wire/chat-completion.ts";
import { frameEvents } from "../helpers/frame-events.ts";
import { readStream } from "../helpers/read-stream.ts";

type Fixture = {
  model?: UpstreamModel;
  baseUrl?: string;
  secret?: string;
  chatRequest?: ChatRequestBody;
  upstreamRequest?: unknown;
  refused?: { param: string };
  /** The parameters that the request omits. */
  dropped?: string[];
  upstreamAnswer?: unknown;
  chatAnswer?: unknown;
  chatChoices?: unknown;
  chatUsage?: unknown;
  embeddingsRequest?: EmbeddingsRequestBody;
  upstreamEmbeddingsRequest?: unknown;
  upstreamEmbeddingsAnswer?: unknown;
  embeddingsAnswer?: unknown;
};

const folder = path.resolve(import.meta.dirname, "../fixtures/providers");

for (const file of globSync("*/*.json", { cwd: folder }).toSorted()) {
  const fixture = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Fixture;
  const kind = path.dirname(file);
  const name = `${kind}: ${path.basename(file, ".json")}`;
  const model = fixture.model ?? { name: "some-model", outputTokensMax: null };
  const chunksFile = path.join(folder, file.replace(/\.json$/, ".chunks.txt"));

  if (fixture.refused !== undefined) {
    test(`${name} is rejected`, (t) => {
      const error = t.throws(() => requestOf(kind, fixture, model), { instanceOf: GatewayError });
      t.is(error?.param ?? null, fixture.refused?.param ?? null);
    });
  }
  if (fixture.upstreamRequest !== undefined) {
    test(`${name}: the request is translated`, (t) => {
      const dropped = new Set<string>();
      t.deepEqual(viaJson(requestOf(kind, fixture, model, dropped)), fixture.upstreamRequest);
      t.deepEqual([...dropped], fixture.dropped ?? []);
    });
  }
  if (fixture.chatAnswer !== undefined) {
    test(`${name}: the response is translated`, (t) => {
      const answer = translated(apisOf(kind, fixture, model)).readAnswer(fixture.upstreamAnswer);
      t.deepEqual(viaJson(answer), fixture.chatAnswer);
    });
  }
  if (fixture.chatChoices !== undefined) {
    test(`${name}: the stream is translated, wherever it is cut`, (t) => {
      const api = translated(apisOf(kind, fixture, model));
      const bytes = frameEvents(readFileSync(chunksFile, "utf8"), api.streamContentType);
      for (const size of [bytes.length, 7, 1]) {
        const { choices, usage, state } = readStream(api, bytes, size);
        t.deepEqual(viaJson(choices), fixture.chatChoices, `pieces of ${size} bytes`);
        t.deepEqual(viaJson(usage), fixture.chatUsage ?? null);
        t.not(state, "unfinished");
      }
    });
  }
  if (fixture.upstreamEmbeddingsRequest !== undefined) {
    test(`${name}: the embeddings request is translated`, (t) => {
      const api = translatedEmbeddings(apisOf(kind, fixture, model));
      const body = fixture.embeddingsRequest ?? { model: "", input: "" };
      t.deepEqual(viaJson(api.buildRequest(body, model)), fixture.upstreamEmbeddingsRequest);
    });
  }
  if (fixture.embeddingsAnswer !== undefined) {
    test(`${name}: the embeddings response is translated`, (t) => {
      const api = translatedEmbeddings(apisOf(kind, fixture, model));
      t.deepEqual(viaJson(api.readAnswer(fixture.upstreamEmbeddingsAnswer)), fixture.embeddingsAnswer);
    });
  }
}

function requestOf(
  kind: string,
  fixture: Fixture,
  model: UpstreamModel,
  dropped = new Set<string>(),
): object {
  const body = fixture.chatRequest ?? { model: "", messages: [] };
  return translated(apisOf(kind, fixture, model)).buildRequest(body, model, dropped);
}

function apisOf(kind: string, { baseUrl, secret = "secret" }: Fixture, model: UpstreamModel): ModelApis {
  const provider = Object.entries(providerKinds).find(([name]) => name === kind)?.[1];
  if (!provider) throw new Error(`${kind} is no kind of provider`);
  const api = provider.connect({
    baseUrl: baseUrl ?? provider.defaultBaseUrl ?? "https://bedrock-runtime.us-east-1.amazonaws.com",
    secret,
    preset: null,
  });
  return api.apis(model);
}

function translated({ "chat/completions": api }: ModelApis): ChatApi {
  if (api.quirks !== null) throw new Error("there is nothing to translate");
  return api;
}

function translatedEmbeddings({ embeddings }: ModelApis): EmbeddingsTranslation {
  if (!embeddings?.translation) throw new Error("there is nothing to translate");
  return embeddings.translation;
}

/** Drops undefined members, which a fixture in JSON cannot contain. */
function viaJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

const disabled = { thinking: { type: "disabled" } };
const low = { effort: "low" };

/** https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting */
const table: Row[] = [
  ["anthropic.claude-v2:1", "never", {}, "all", true, false],
  ["claude-3-opus-20240229", "never", {}, "all", true, false],
  ["claude-3-5-haiku-20241022", "never", {}, "all", true, false],
  ["claude-3-7-sonnet-20250219", "by budget", {}, "all", true, false],
  ["claude-opus-4-20250514", "by budget", {}, "all", true, false],
  ["claude-opus-4-1@20250805", "by budget", {}, "one", true, false],
  ["us.anthropic.claude-sonnet-4-20250514-v1:0", "by budget", {}, "all", true, false],
  ["claude-haiku-4-5-20251001", "by budget", {}, "one", true, false],
  ["anthropic/claude-opus-4.5", "by budget", {}, "one", true, false],
  ["claude-sonnet-4-6", "by budget or effort", {}, "one", true, false],
  ["claude-opus-4-7", "by effort", {}, "none", true, false],
  ["claude-opus-4-8", "by effort", {}, "none", true, false],
  ["claude-sonnet-5", "by effort", disabled, "none", true, false],
  ["claude-opus-5", "by effort", disabled, "none", true, false],
  ["claude-fable-5", "by effort", low, "none", true, false],
  ["claude-mythos-preview", "by effort", low, "none", true, false],
  ["claude-fable-5-1", "by effort", low, "none", false, true],
  ["claude-mythos-5-1", "by effort", low, "none", false, true],
  ["claude-opus-5-5", "by effort", low, "none", false, true],
  [
    "eu.anthropic.claude-sonnet-5-5",
    "by effort",
    { thinking: { type: "between_tools" } },
    "none",
    false,
    true,
  ],
  ["claude-haiku-5-5-20261007", "by effort", disabled, "none", true, true],
  // Unknown models inherit from the newest of their family, or of all.
  ["Claude-Opus-6-10", "by effort", low, "none", false, true],
  ["claude-haiku-7", "by effort", disabled, "none", true, true],
  ["claude-sonnet-latest", "by effort", { thinking: { type: "between_tools" } }, "none", false, true],
  ["claude-saga-9", "by effort", low, "none", false, true],
  ["MiniMax-M2", "as requested", {}, "all", true, false],
  ["constructor", "as requested", {}, "all", true, false],
];

type Row = [
  name: string,
  thinking: ClaudeTraits["thinking"],
  thinkingOff: ClaudeTraits["thinkingOff"],
  sampling: ClaudeTraits["sampling"],
  canForceTools: boolean,
  bindsThoughts: boolean,
];

for (const [name, thinking, thinkingOff, sampling, canForceTools, bindsThoughts] of table) {
  test(`${name} has its known traits`, (t) => {
    t.like(findClaudeTraits(name), { thinking, thinkingOff, sampling, canForceTools, bindsThoughts });
    t.deepEqual(findClaudeTraits(name).thinkingOff, thinkingOff);
  });
}

const quirks = (extensions: ChatQuirks["extensions"]): ChatQuirks => ({
  maxTokensName: "max_completion_tokens",
  developerRole: "developer",
  extensions,
});

const mark = { cache_control: { type: "ephemeral" } };
const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });

const request: ChatRequestBody = {
  model: "m",
  verbosity: "low",
  tools: [
    { type: "function", function: { name: "look", parameters: { cache_control: "a parameter" } }, ...mark },
  ],
  messages: [
    { role: "system", content: [{ type: "text", text: "Be brief.", ...mark }] },
    { role: "user", content: "Look.", ...mark },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Hm.",
      reasoning_details: [{ type: "reasoning.text", format: "f", text: "Hm." }],
      tool_calls: [{ ...call("call_1"), ...mark }, call("call_2")],
    },
    { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "a picture" }, image] },
    { role: "tool", tool_call_id: "call_2", content: [image] },
    { role: "user", content: "And?" },
  ],
};

test("a strict upstream receives only the common form", (t) => {
  const plain = toPlainChat(request, {}, quirks([]));
  t.false("verbosity" in plain);
  t.notRegex(JSON.stringify(plain.messages), /cache_control|reasoning_/);
  t.deepEqual(plain["tools"], [
    { type: "function", function: { name: "look", parameters: { cache_control: "a parameter" } } },
  ]);
});

test("an extended upstream receives the extensions", (t) => {
  const plain = toPlainChat(request, {}, quirks(["thoughts", "cache_control", "verbosity"]));
  t.is(plain["verbosity"], "low");
  t.deepEqual(plain["tools"], request["tools"]);
  t.deepEqual(plain.messages.slice(0, 3), request.messages.slice(0, 3));
});

test("images returned by tools follow all results of the turn", (t) => {
  const { messages } = toPlainChat(request, {}, quirks([]));
  t.deepEqual(
    messages.map(({ role }) => role),
    ["system", "user", "assistant", "tool", "tool", "user", "user"],
  );
  t.deepEqual(messages[3]?.content, [{ type: "text", text: "a picture" }]);
  t.is(messages[4]?.content, "See the image below.");
  const said = { type: "text", text: "The tool returned this:" };
  t.deepEqual(messages[5]?.content, [said, image, said, image]);
  const last = toPlainChat({ ...request, messages: request.messages.slice(0, -1) }, {}, quirks([]));
  t.is(last.messages.at(-1)?.role, "user");
});

test("a model without reasoning receives no reasoning effort", (t) => {
  const effort = { ...request, reasoning_effort: "high" };
  for (const [canReason, expected] of [
    [true, "high"],
    [undefined, "high"],
    [false, undefined],
  ] as const) {
    t.is(toPlainChat(effort, { canReason }, quirks([]))["reasoning_effort"], expected);
  }
});
