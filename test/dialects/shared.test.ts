import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import test from "ava";
import { chatRequestSchema, readChatRequest } from "../../gateway/dialects/chat/chat.ts";
import {
  embeddingsRequestSchema,
  readEmbeddingsRequest,
} from "../../gateway/dialects/embeddings/read-embeddings-request.ts";
import {
  countRequestSchema,
  messagesRequestSchema,
  readCountRequest,
  readMessagesRequest,
} from "../../gateway/dialects/messages/read-messages-request.ts";
import { NamedEventReader } from "../../gateway/dialects/named-event-reader.ts";
import { parseBody } from "../../gateway/dialects/parse-body.ts";
import {
  readResponsesRequest,
  responsesRequestSchema,
} from "../../gateway/dialects/responses/read-responses-request.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { providerKinds } from "../../gateway/providers/registry.ts";
import { findClientTool } from "../../gateway/v1/endpoint.ts";
import type { ChatRequestBody } from "../../gateway/wire/chat-completion.ts";
import { bodyLimits } from "../helpers/body-limits.ts";

const { requestJsonValuesMax: valuesMax, requestTextBytesMax: textBytesMax } = bodyLimits;

function parse(body: object): unknown {
  return parseBody(Buffer.from(JSON.stringify(body)), bodyLimits, () => {});
}

test("a body with too many values is rejected with the variable's name", (t) => {
  t.notThrows(() => parse({ a: Array.from({ length: valuesMax / 2 }, () => ({})) }));
  t.throws(() => parse({ a: Array.from({ length: valuesMax }, () => ({})) }), {
    code: "request_too_large",
    message: /more than 60000 JSON values\..*REQUEST_JSON_VALUES_MAX/,
  });
});

test("a number counts as a tenth of another value", (t) => {
  t.notThrows(() => parse({ a: Array.from({ length: 9 * valuesMax }, () => 1) }));
  t.throws(() => parse({ a: Array.from({ length: 11 * valuesMax }, () => 1) }), {
    code: "request_too_large",
  });
});

test("the default limits accept 8 MB of code and reject a longer text", (t) => {
  const line = '  const value = await readValue(name, "text");\n';
  const code = line.repeat(8_000_000 / line.length);
  t.notThrows(() => parse({ a: code }));
  t.throws(() => parse({ a: code.repeat(2) }), {
    code: "request_too_large",
    message: /REQUEST_TEXT_BYTES_MAX/,
  });
});

test("media do not count as text, and escapes count four times", (t) => {
  const base64 = "iVBORw0K".repeat(4_000_000);
  t.notThrows(() => parse({ a: `data:image/png;base64,${base64}`, b: base64 }));
  t.throws(() => parse({ a: base64.replaceAll("K", " ") }), { code: "request_too_large" });
  t.throws(() => parse({ a: "\n".repeat(textBytesMax / 4) }), { code: "request_too_large" });
});

for (const kind of ["anthropic", "gemini", "bedrock"] as const) {
  test(`${kind}: the arguments of all calls together are limited`, (t) => {
    const provider = providerKinds[kind];
    const baseUrl = "https://upstream.example?region=us-east-1";
    const model = { name: "model", outputTokensMax: null };
    const chat = provider.connect({ baseUrl, secret: null, preset: null }).apis(model)["chat/completions"];
    t.is(chat.quirks, null);
    const args = JSON.stringify(Array.from({ length: 100 }, (_, index) => `text ${index}`));
    const request = (count: number) => ({
      model: "model",
      messages: [
        { role: "user", content: "Hello" },
        {
          role: "assistant",
          tool_calls: Array.from({ length: count }, (_, index) => ({
            id: `call_${index}`,
            type: "function",
            function: { name: "a", arguments: `{"a":${args}}` },
          })),
        },
      ],
    });
    t.notThrows(() => chat.buildRequest(request(300) as ChatRequestBody, model));
    t.throws(() => chat.buildRequest(request(500) as ChatRequestBody, model), { code: "request_too_large" });
  });
}

for (const [tool, headers] of [
  ["claude-code", { "user-agent": "claude-cli/2.1.329 (external, cli)", "x-app": "cli" }],
  ["claude-code", { "user-agent": "claude-code/2.1.329" }],
  ["codex", { "user-agent": "codex_exec/0.169.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.169.0)" }],
  ["codex", { "user-agent": "codex-tui/0.169.0 (Debian 12.0.0; x86_64)" }],
  ["codex", { "user-agent": "codex_cli_rs/0.144.0 (Mac OS; arm64)" }],
  ["opencode", { "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.46 runtime/bun/1.3.14" }],
  ["kilo-code", { "user-agent": "Kilo-Code/7.7.7 ai-sdk/provider-utils/4.0.27 runtime/bun/1.3.14" }],
  ["kilo-code", { "user-agent": "opencode/7.8.3 (darwin 25.0.0; arm64)", "x-title": "Kilo Code" }],
  ["qwen-code", { "user-agent": "QwenCode/0.24.4 (linux; x64)" }],
  ["pi", { "user-agent": "pi (linux 6.18.44; x64)" }],
  ["kimi-code", { "user-agent": "kimi-code-cli/2.1.0" }],
  ["gemini-cli", { "user-agent": "GeminiCLI-tui/0.61.0/google/gemini-2.5-pro (linux; x64; terminal)" }],
  ["continue", { "user-agent": "ls/JS 5.23.2" }],
  [
    "cline",
    { "user-agent": "ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13" },
  ],
  ["cline", { "user-agent": "OpenAI/JS 5.0.0", "x-title": "Cline" }],
  ["copilot", { "user-agent": "OpenAI/JS 5.20.1", "x-initiator": "user" }],
  ["copilot", { "user-agent": "Anthropic/JS 0.94.0", "x-initiator": "agent" }],
  ["crush", { "user-agent": "Charm-Crush/v0.97.1 (https://charm.land/crush)" }],
  ["zed", { "user-agent": "Zed/0.210.0 (macos; aarch64)" }],
  ["grok-build", { "user-agent": "grok-shell/1.0.41 (linux; x86_64)" }],
  ["droid", { "user-agent": "factory-cli/0.215.0" }],
  ["aider", { "user-agent": "aider" }],
  ["hermes-agent", { "user-agent": "hermes-agent" }],
  ["mistral-vibe", { "user-agent": "mistral-vibe" }],
  ["openclaw", { "user-agent": "openclaw" }],
  ["goose", { "user-agent": "goose" }],
  ["vscode-copilot", { "user-agent": "GitHubCopilotChat/0.44.1" }],
  ["cherry-studio", { "user-agent": "ai-sdk/openai-compatible/2.0.1", "x-title": "Cherry Studio" }],
  ["open-webui", { "user-agent": "Open WebUI" }],
  ["librechat", { "user-agent": "LibreChat" }],
  ["junie", { "user-agent": "junie" }],
  [null, { "user-agent": "OpenAI/JS 5.20.1" }],
  [null, { "user-agent": "ai-sdk/openai-compatible/3.0.37 runtime/node.js/24" }],
  [null, { "user-agent": "not-claude-cli/1.0" }],
  [null, { "user-agent": "pi-hole/1.0" }],
  [null, { "user-agent": `claude-cli/${"1".repeat(2_000)}` }],
  [null, { "x-title": ["Kilo Code"] }],
  [null, {}],
] as const) {
  test(`${tool ?? "no tool"}: ${JSON.stringify(headers).slice(0, 100)}`, (t) => {
    t.is(findClientTool(headers as Record<string, string>), tool);
  });
}

const folder = path.resolve(import.meta.dirname, "../../../shared/fixtures/coding-tools");
const files = existsSync(folder)
  ? globSync("*.json", { cwd: folder }).filter((file) => !file.startsWith("_"))
  : [];

test("tools are recognized by their recorded headers", (t) => {
  if (files.length === 0) t.log("skipped: ../shared/fixtures/coding-tools is not here");
  for (const file of files) {
    const { headers } = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as {
      headers: Record<string, string>;
    };
    // Neither Claude Code's startup probe nor claude-code-router (ccr) sends a header that identifies the tool.
    if (file.startsWith("claude-code-head-probe") || file.startsWith("ccr-")) continue;
    const tool = findClientTool(headers);
    t.true(tool !== null && file.startsWith(tool.replace(/^(kilo|gemini)-.*/, "$1")), `${file}: ${tool}`);
  }
  t.pass();
});

// Each check is handwritten beside its schema, so the two could accept different values.

const ajv = new Ajv2020({ allowUnionTypes: true, strictRequired: false, strictTypes: false });
const messages = [{ role: "user", content: "Hi" }];

const endpoints = [
  ["chat", chatRequestSchema, readChatRequest, { model: "a/b", messages }],
  ["embeddings", embeddingsRequestSchema, readEmbeddingsRequest, { model: "a/b", input: "Hi" }],
  ["messages", messagesRequestSchema, readMessagesRequest, { model: "a/b", messages, max_tokens: 1 }],
  ["count_tokens", countRequestSchema, readCountRequest, { model: "a/b", messages }],
  ["responses", responsesRequestSchema, readResponsesRequest, { model: "a/b", input: "Hi" }],
] as const;

const values: unknown[] = [
  undefined,
  null,
  true,
  false,
  -3,
  -2,
  -1,
  -0.5,
  0,
  0.5,
  1,
  1.5,
  2,
  2.5,
  20,
  21,
  1e300,
  "",
  "x",
  "float",
  "base64",
  {},
  { a: 1 },
  [],
  [null],
  ["x"],
  [1],
  [0],
  [0.5],
  [-1],
  ["x", 1],
  [[1]],
  [[]],
  [["x"]],
  [{}],
  [{ role: "user" }],
  [{ role: "user", content: null }],
  [{ role: "user", content: [] }],
  [{ role: "user", content: [null] }],
  [{ role: "user", content: ["Hi"] }],
  [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  ...["system", "developer", "assistant", "tool", "function", "nobody", 1].flatMap((role) => [
    [{ role }],
    [{ role, content: "Hi" }],
    [{ role, content: 1 }],
    [...messages, { role, content: null }],
  ]),
];

for (const [name, schema, read, whole] of endpoints) {
  test(`${name}: the schema accepts what the gateway accepts`, (t) => {
    const validate = ajv.compile(schema);
    t.true(validate(whole));
    for (const parameter of [...Object.keys(schema.properties), "unknown"]) {
      for (const value of values) {
        const body = JSON.stringify({ ...whole, [parameter]: value });
        t.is(
          validate(JSON.parse(body)),
          isTaken(() => read(Buffer.from(body), bodyLimits)),
          body,
        );
      }
    }
  });
}

test("responses: the schema accepts stored state in place of the input", (t) => {
  const validate = ajv.compile(responsesRequestSchema);
  for (const body of [
    { prompt: { id: "p" } },
    { conversation: "c" },
    { previous_response_id: "r", input: null },
    { prompt: null },
    { prompt: "p" },
    { metadata: {} },
  ]) {
    const whole = { model: "a/b", ...body };
    t.is(
      validate(whole),
      isTaken(() => readResponsesRequest(Buffer.from(JSON.stringify(whole)), bodyLimits)),
      JSON.stringify(whole),
    );
  }
});

function isTaken(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

for (const lineEnd of ["\n", "\r\n"]) {
  test(`a malformed event is read once, whatever follows it after ${JSON.stringify(lineEnd)}`, (t) => {
    for (const next of ["data: x", "event: a\ndata: x", ": ping"]) {
      let count = 0;
      const form = {
        eventNames: new Set(["a"]),
        read: () => {
          count++;
          throw new Error("not JSON");
        },
        usage: null,
      };
      const events = `event: a\ndata: {\n\n${next}\n\n`.replaceAll("\n", lineEnd);
      const { ending } = new NamedEventReader(form, { read: () => {} }).read(Buffer.from(events));
      t.true(ending instanceof GatewayError);
      t.is(count, 1, next);
    }
  });
}
