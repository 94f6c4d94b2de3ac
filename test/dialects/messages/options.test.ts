import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import { requestFrom, toChat } from "./messages-dialect.ts";

for (const [title, body, effort] of [
  ["nothing said", {}, undefined],
  ["disabled", { thinking: { type: "disabled" }, output_config: { effort: "high" } }, undefined],
  ["adaptive", { thinking: { type: "adaptive" } }, "high"],
  [
    "adaptive with an effort",
    { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "max" } },
    "max",
  ],
  ["an effort alone", { output_config: { effort: "low" } }, "low"],
  ["between tools", { thinking: { type: "between_tools" } }, undefined],
  ["the smallest budget", { thinking: { type: "enabled", budget_tokens: 1_024 } }, "low"],
  ["think", { thinking: { type: "enabled", budget_tokens: 4_000 } }, "low"],
  ["think hard", { thinking: { type: "enabled", budget_tokens: 10_000 } }, "medium"],
  ["ultrathink", { thinking: { type: "enabled", budget_tokens: 31_999 } }, "high"],
  [
    "a budget and an effort",
    { thinking: { type: "enabled", budget_tokens: 1_024 }, output_config: { effort: "xhigh" } },
    "xhigh",
  ],
] as const) {
  test(`thinking: ${title}`, (t) => {
    const chat = toChat(body);
    t.is(chat["reasoning_effort"], effort);
    t.is(chat["thinking"], undefined);
  });
}

for (const [title, body, chosen] of [
  ["auto", { tool_choice: { type: "auto" } }, {}],
  ["any", { tool_choice: { type: "any" } }, { tool_choice: "required" }],
  ["none", { tool_choice: { type: "none" } }, { tool_choice: "none" }],
  [
    "one",
    { tool_choice: { type: "tool", name: "f", disable_parallel_tool_use: true } },
    { tool_choice: { type: "function", function: { name: "f" } }, parallel_tool_calls: false },
  ],
  ["one that is not there", { tool_choice: { type: "tool", name: "g" } }, {}],
] as const) {
  test(`tool choice: ${title}`, (t) => {
    const { tool_choice, parallel_tool_calls } = toChat({
      ...body,
      tools: [{ name: "f", input_schema: { type: "object" } }],
    });
    t.deepEqual(
      {
        ...(tool_choice !== undefined && { tool_choice }),
        ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
      },
      chosen,
    );
  });
}

test("without tools the tool choice is dropped", (t) => {
  const chat = toChat({ tools: [], tool_choice: { type: "any", disable_parallel_tool_use: true } });
  t.deepEqual(Object.keys(chat).toSorted(), ["max_completion_tokens", "messages", "model"]);
});

test("the user is forwarded to other providers only as an id", (t) => {
  t.is(
    toChat({ metadata: { user_id: "13803d75-b4b5-4c3e-b2a2-6f21399b021b" } })["user"],
    "13803d75-b4b5-4c3e-b2a2-6f21399b021b",
  );
  for (const user_id of ['{"device_id":"a"}', "a".repeat(65), "", null, 1])
    t.is(toChat({ metadata: { user_id } })["user"], undefined);
});

test("a schema is strict where OpenAI accepts it as strict", (t) => {
  const strict = (schema: object) => {
    const format = toChat({ output_config: { format: { type: "json_schema", schema } } })[
      "response_format"
    ] as { json_schema: { strict: boolean } };
    return format.json_schema.strict;
  };
  const a = { a: { type: "string" } };
  t.true(strict({ type: "object", properties: a, required: ["a"], additionalProperties: false }));
  t.false(strict({ type: "object", properties: a, required: [], additionalProperties: false }));
  t.false(strict({ type: "object", properties: a, required: ["a"] }));
  t.false(strict({ type: "array", items: { type: "object", properties: a } }));
  t.true(
    strict({
      type: "object",
      properties: { properties: { type: "string" } },
      required: ["properties"],
      additionalProperties: false,
    }),
  );
});

for (const [title, body, param] of [
  ["filling a cache", { max_tokens: 0 }, "max_tokens"],
  [
    "a file kept by Anthropic",
    {
      messages: [
        { role: "user", content: [{ type: "document", source: { type: "file", file_id: "file_1" } }] },
      ],
    },
    "messages[0].content[0].source",
  ],
  [
    "a block that nobody knows",
    { messages: [{ role: "user", content: [{ type: "container_upload", file_id: "file_1" }] }] },
    "messages[0].content[0]",
  ],
  [
    "a block without a type",
    { messages: [{ role: "user", content: [{ text: "Hi" }] }] },
    "messages[0].content[0].type",
  ],
  [
    "an image without a source",
    { messages: [{ role: "user", content: [{ type: "image" }] }] },
    "messages[0].content[0].source",
  ],
  [
    "a result of nothing",
    { messages: [{ role: "user", content: [{ type: "tool_result" }] }] },
    "messages[0].content[0].tool_use_id",
  ],
  [
    "a call with a text for input",
    { messages: [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: "x" }] }] },
    "messages[0].content[0].input",
  ],
  [
    "an invalid cache marker",
    { system: [{ type: "text", text: "a", cache_control: true }] },
    "system[0].cache_control",
  ],
  ["a tool without a schema", { tools: [{ name: "f" }] }, "tools[0].input_schema"],
  [
    "an unknown choice",
    { tools: [{ name: "f", input_schema: {} }], tool_choice: { type: "some" } },
    "tool_choice.type",
  ],
  ["an unknown effort", { output_config: { effort: "huge" } }, "output_config.effort"],
  ["an invalid budget", { thinking: { type: "enabled", budget_tokens: "1" } }, "thinking.budget_tokens"],
  ["an unknown format", { output_config: { format: { type: "grammar" } } }, "output_config.format.type"],
  ["an invalid stop sequence", { stop_sequences: ["a", 1] }, "stop_sequences[1]"],
] as const) {
  test(`the request is rejected: ${title}`, (t) => {
    const error = t.throws(() => messages.toChatRequest(requestFrom(body)), { instanceOf: GatewayError });
    t.is(error?.param, param);
  });
}
