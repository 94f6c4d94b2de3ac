import test from "ava";
import { toPlainChat } from "../../../gateway/providers/chat-completions/to-plain-chat.ts";
import type { ChatQuirks, ChatRequestBody } from "../../../gateway/wire/chat-completion.ts";

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
