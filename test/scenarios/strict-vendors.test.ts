import test from "ava";
import {
  anthropicForm,
  claudeHaiku,
  claudeOpus,
  claudeOpus55,
} from "../helpers/native-upstreams/anthropic-upstream.ts";
import { azureDatedForm } from "../helpers/native-upstreams/azure-upstream.ts";
import { bedrockForm, bedrockOpus55Form } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { signSigV4 } from "../helpers/native-upstreams/sigv4-signature.ts";
import type { SeenRequest } from "../helpers/scripted-upstream.ts";
import {
  boundClaudeBody,
  claudeBody,
  converseBody,
  geminiBody,
  openAiBody,
  post,
  responsesBody,
  seal,
  signed,
} from "./vendor-requests.ts";

type Case = {
  name: string;
  form: VendorForm;
  request: SeenRequest;
  /** Changes to the request's JSON, each with a pattern for the vendor's error message. */
  wrong: [from: string, to: string, says: RegExp][];
};

const claudeHeaders = {
  "x-api-key": anthropicForm(claudeHaiku).credential,
  "anthropic-version": "2023-06-01",
};
const gemini3 = geminiForm({ name: "gemini-3-flash-preview", generation: 3 });

const cases: Case[] = [
  {
    name: "OpenAI",
    form: openAiForm,
    request: post("/v1/chat/completions", { authorization: `Bearer ${openAiForm.credential}` }, openAiBody),
    wrong: [
      ["/v1/chat", "/chat", /Invalid URL/],
      ["Bearer sk", "Bearer ks", /Incorrect API key/],
      ["application/json", "text/plain", /JSON body/],
      [openAiForm.model, "gpt-0", /does not exist/],
      ['"tool_call_id":"call_1"', '"tool_call_id":"call_2"', /must be a response to a preceding message/],
      ['"role":"tool","tool_call_id":"call_1"', '"role":"user"', /must be followed by tool messages/],
    ],
  },
  {
    name: "OpenAI's responses",
    form: responsesForm,
    request: post("/v1/responses", { authorization: `Bearer ${responsesForm.credential}` }, responsesBody),
    wrong: [
      ['"tools":', '"functions":', /Unknown parameter: 'functions'/],
      [`,"encrypted_content":"${seal}"`, "", /not persisted when `store` is set to false/],
      [seal, "x", /could not be verified/],
      [
        '"output":"12:30"',
        '"output":[{"type":"output_text","text":"12:30"}]',
        /Invalid value: 'output_text'/,
      ],
      ['_output","call_id":"call_1"', '_output","call_id":"call_2"', /No tool call found/],
      ['"id":"fc_1"', '"id":"call_1"', /begins with 'fc'/],
    ],
  },
  {
    name: "Azure OpenAI",
    form: azureDatedForm,
    request: post(
      `/openai/deployments/${azureDatedForm.model}/chat/completions?api-version=2024-10-21`,
      { "api-key": azureDatedForm.credential },
      openAiBody,
    ),
    wrong: [
      ["api-key", "authorization", /invalid subscription key/],
      ["?api-version=2024-10-21", "", /Resource not found/],
      [azureDatedForm.model, "other", /Resource not found/],
    ],
  },
  {
    name: "Anthropic",
    form: anthropicForm(claudeHaiku),
    request: post("/v1/messages", claudeHeaders, claudeBody),
    wrong: [
      ['"anthropic-version"', '"x"', /anthropic-version: header is required/],
      ["sk-ant", "sk", /invalid x-api-key/],
      ['"max_tokens":4096', '"max_completion_tokens":4096', /Extra inputs are not permitted/],
      ['"max_tokens":4096,', "", /max_tokens: Field required/],
      ['"max_tokens":4096', '"max_tokens":64001', /maximum allowed number of output tokens/],
      ['"max_tokens":4096', '"max_tokens":1024', /must be greater than `thinking.budget_tokens`/],
      ['"max_tokens":4096', '"max_tokens":4096,"temperature":0', /may only be set to 1/],
      ['"budget_tokens":1024', '"budget_tokens":1000', /greater than or equal to 1024/],
      [`"signature":"${seal}"`, `"signature":"${seal.slice(1)}"`, /Invalid `signature`/],
      [`{"type":"thinking","thinking":"Hm.","signature":"${seal}"},`, "", /Expected `thinking`/],
      [
        '"tool_use_id":"toolu_1"',
        '"tool_use_id":"toolu_2"',
        /without `tool_result` blocks immediately after: toolu_1/,
      ],
      ['[{"type":"tool_result"', '[{"type":"text","text":"So:"},{"type":"tool_result"', /immediately after/],
      ['"And now?"', '""', /must be non-empty/],
      ['"role":"assistant"', '"role":"system"', /Input should be 'user' or 'assistant'/],
      ['"enabled","budget_tokens":1024', '"adaptive"', /adaptive thinking is not supported/],
    ],
  },
  {
    name: "Anthropic's API since 2026-10-21",
    form: anthropicForm(claudeHaiku),
    request: post("/v1/messages", { ...claudeHeaders, "anthropic-version": "2026-10-21" }, claudeBody),
    wrong: [['"max_tokens":4096', '"max_tokens":4096,"temperature":1', /temperature: Extra inputs are not/]],
  },
  {
    name: "Anthropic's newer models",
    form: anthropicForm(claudeOpus),
    request: post("/v1/messages", claudeHeaders, { ...claudeBody, thinking: { type: "adaptive" } }),
    wrong: [
      [
        '"adaptive"',
        '"enabled","budget_tokens":1024',
        /not supported for this model. Use "thinking.type.adaptive"/,
      ],
      ['"max_tokens":4096', '"max_tokens":4096,"temperature":0', /deprecated for this model/],
    ],
  },
  {
    name: "Claude Opus 5.5",
    form: anthropicForm(claudeOpus55),
    request: post(
      "/v1/messages",
      { ...claudeHeaders, "anthropic-beta": "thinking-binding-controls-2026-08-01" },
      {
        ...boundClaudeBody,
        thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
      },
    ),
    wrong: [
      ['"drop_block"', '"error"', /bound to a different conversation/],
      ["thinking-binding-controls", "other", /thinking.adaptive.block_binding: Extra inputs/],
      ['"type":"adaptive"', '"type":"disabled"', /"thinking.type.disabled" is not supported for this model/],
      ['"max_tokens":4096', '"max_tokens":4096,"tool_choice":{"type":"any"}', /tool_choice forces tool use/],
    ],
  },
  {
    name: "Gemini",
    form: gemini3,
    request: post(
      `/v1beta/models/${gemini3.model}:generateContent`,
      { "x-goog-api-key": gemini3.credential },
      geminiBody,
    ),
    wrong: [
      ["AIza", "B", /API key not valid/],
      ["v1beta/models/gemini-3", "v1beta/models/gemini-4", /not found/],
      [":generateContent", ":streamGenerateContent", /alt=sse/],
      [`,"thoughtSignature":"${seal}"`, "", /missing a thought_signature/],
      [`"thoughtSignature":"${seal}"`, '"thoughtSignature":"x"', /signature is not valid/],
      ['"role":"model"', '"role":"assistant"', /valid role: user, model/],
      ['"response":{"output":"12:30"}', '"response":"12:30"', /google.protobuf.Struct/],
      ['"functionResponse":{"name":"now",', '"functionResponse":{', /Name cannot be empty/],
      ['"functionResponse":{"name":"now"', '"functionResponse":{"name":"then"', /No function call/],
      [
        '{"functionResponse":{"name":"now","response":{"output":"12:30"}}}',
        '{"text":"12:30"}',
        /number of function response parts/,
      ],
      ['"parametersJsonSchema":{"type":"object"}', '"parameters":{"type":"OBJECT"}', /should be non-empty/],
      [
        '"parametersJsonSchema":{"type":"object"}',
        '"parameters":{"additionalProperties":false}',
        /Unknown name "additionalProperties"/,
      ],
      ['"thinkingLevel":"low"', '"thinkingLevel":"low","thinkingBudget":1', /only set one/],
      ['"generationConfig":{', '"generationConfig":{"max_tokens":1,', /Unknown name "max_tokens"/],
    ],
  },
  {
    name: "Bedrock",
    form: bedrockForm,
    request: post(`/model/${encodeURIComponent(bedrockForm.model)}/converse`, {}, converseBody),
    wrong: [
      ["%3A0/converse", ":0/converse", /model identifier is invalid/],
      ["/converse", "/invoke", /UnknownOperation/],
      ['"messages":[', '"messages":[{"role":"user","content":[{"text":"Well."}]},', /must alternate/],
      ['{"role":"user","content":[{"text":"And now?"}]},', "", /must start with a user message/],
      ['"text":"And now?"', '"text":" "', /is blank/],
      ['"toolResult":{"toolUseId":"t1"', '"toolResult":{"toolUseId":"t2"', /Expected toolResult blocks/],
      ['"toolConfig"', '"requestMetadata"', /toolConfig field must be defined/],
      [
        `{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"${seal}"}}},`,
        "",
        /Expected `thinking`/,
      ],
      ['"text":"Hm."', '"text":"Oh."', /Invalid `signature`/],
      ['"maxTokens"', '"max_tokens"', /extraneous key \[max_tokens\]/],
      ['"json":{"type":"object"}', '"json":{}', /type must be one of the following: object/],
    ],
  },
  {
    name: "Claude Opus 5.5 on Bedrock",
    form: bedrockOpus55Form,
    request: post(
      `/model/${encodeURIComponent(bedrockOpus55Form.model)}/converse`,
      {},
      { ...converseBody, additionalModelRequestFields: { thinking: { type: "adaptive" } } },
    ),
    wrong: [
      ['"type":"adaptive"', '"type":"disabled"', /"thinking.type.disabled" is not supported for this model/],
      ['"type":"adaptive"', '"type":"enabled","budget_tokens":1024', /"thinking.type.enabled" is not/],
      ['"maxTokens"', '"temperature":0.5,"maxTokens"', /`temperature` is deprecated/],
      [
        '"additionalModelRequestFields":{',
        '"additionalModelRequestFields":{"top_k":5,',
        /top_k: Extra inputs/,
      ],
      [
        '"additionalModelRequestFields":{',
        '"additionalModelRequestFields":{"tool_choice":{"type":"any"},',
        /tool_choice forces tool use/,
      ],
    ],
  },
];

for (const { name, form, request, wrong } of cases) {
  test(`${name} accepts its documented requests`, (t) => {
    t.deepEqual(form.read(signed(request)).turns.at(-1)?.parts, [{ result: "12:30", ofCall: 0 }]);
  });

  for (const [from, to, says] of wrong) {
    test(`${name} rejects ${to === "" ? `a request without ${from}` : to}`, (t) => {
      const text = JSON.stringify({ ...request, body: JSON.parse(request.body) as object });
      t.true(text.includes(from), "nothing is changed");
      const changed = JSON.parse(text.replace(from, to)) as SeenRequest & { body: object };
      t.throws(() => form.read(signed({ ...changed, body: JSON.stringify(changed.body) })), {
        message: says,
      });
    });
  }
}

test("Bedrock rejects wrong, late and partial signatures", (t) => {
  const request = signed(post(`/model/${encodeURIComponent(bedrockForm.model)}/converse`, {}, converseBody));
  const { headers } = request;
  const wrong: [change: Partial<SeenRequest>, says: RegExp][] = [
    [{ headers: { ...headers, authorization: undefined } }, /Missing Authentication Token/],
    [{ body: `${request.body} ` }, /does not match/],
    [{ url: request.url.replace("converse", "converse-stream") }, /does not match/],
    [{ headers: { ...headers, "x-amz-date": "20150830T123600Z" } }, /Signature expired/],
    [{ headers: { ...headers, "x-amz-target": "other" } }, /not signed: x-amz-target/],
  ];
  for (const [change, says] of wrong)
    t.throws(() => bedrockForm.read({ ...request, ...change }), { message: says });
});

/** The requests are get-vanilla and post-vanilla from AWS's own test suite for signatures. */
test("signatures equal AWS's own", (t) => {
  const headers = {
    host: "example.amazonaws.com",
    "x-amz-date": "20150830T123600Z",
    authorization: "SignedHeaders=host;x-amz-date",
  };
  const identity = { accessKeyId: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
  const sign = (method: string) =>
    signSigV4(
      { method, url: "/", headers, body: "" },
      { ...identity, region: "us-east-1", service: "service" },
    );
  t.regex(sign("GET"), /Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31$/);
  t.regex(sign("POST"), /Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b$/);
});
