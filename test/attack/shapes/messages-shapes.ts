import { withSchemas } from "./schema-shapes.ts";
import { members, type Shape, times } from "./shape.ts";

const user = { role: "user", content: "Hello" };
const schema = { type: "object", properties: {} };

function request(messages: object[], more: object = {}): object {
  return { model: "test/model", max_tokens: 100, messages, ...more };
}

function said(role: string, blocks: object[]): object {
  return { role, content: blocks };
}

function many(role: string, count: number, block: (index: number) => object): object {
  return said(role, times(count, block));
}

function text(index: number): object {
  return { type: "text", text: `Text ${index}` };
}

function use(index: number): object {
  return { type: "tool_use", id: `toolu_${index}`, name: "weather", input: { city: "Paris" } };
}

function result(index: number): object {
  return { type: "tool_result", tool_use_id: `toolu_${index}`, content: "20 degrees" };
}

function tool(name: string): object {
  return { name, description: "A tool.", input_schema: schema };
}

function change(type: string, name: string, isDefined: boolean): object {
  const added = isDefined
    ? { type: "tool_definition", definition: tool(name) }
    : { type: "tool_reference", name };
  return { type, tool: added };
}

function seal(index: number): string {
  const detail = { type: "reasoning.encrypted", format: "google-gemini-v1", index, data: "ZGF0YQ==" };
  return `gateway-thought-v1.${Buffer.from(JSON.stringify(detail)).toString("base64url")}`;
}

function thinking(count: number, thought: (index: number) => object): object {
  return request([user, said("assistant", [...times(count, thought), use(1)])]);
}

const bodies: Record<string, Shape["body"]> = {
  "messages of one role": (count) => request(times(count, () => user)),
  "alternating roles": (count) =>
    request(times(count, (index) => said(index % 2 ? "assistant" : "user", [text(index)]))),
  "system messages at the beginning": (count) =>
    request([...times(count, (index) => said("system", [text(index)])), user]),
  "system messages between others": (count) =>
    request(times(count, (index) => said(index % 2 ? "system" : "user", [text(index)]))),
  "system messages for one turn": (count) =>
    request([
      user,
      ...times(count, () => ({ role: "system", content: "a", clear_at: "next_user_message" })),
      user,
    ]),
  "parts of one message": (count) => request([many("user", count, text)]),
  "system blocks": (count) => request([user], { system: times(count, text) }),
  "calls and results in order": (count) =>
    request([
      user,
      ...times(count, (index) => [said("assistant", [use(index)]), said("user", [result(index)])]).flat(),
    ]),
  "results in reverse": (count) =>
    request([user, many("assistant", count, use), many("user", count, (index) => result(count - 1 - index))]),
  "calls of one id": (count) =>
    request([user, many("assistant", count, () => use(1)), many("user", count, () => result(1))]),
  "names in the input of a call": (count) =>
    request([
      user,
      said("assistant", [{ ...use(1), input: members(count, (index) => index) }]),
      said("user", [result(1)]),
    ]),
  "parts of a result": (count) =>
    request([
      user,
      said("assistant", [use(1)]),
      said("user", [{ ...result(1), content: times(count, text) }]),
    ]),
  thoughts: (count) =>
    thinking(count, (index) => ({ type: "thinking", thinking: `Hm ${index}`, signature: "c2ln" })),
  "sealed thoughts": (count) =>
    thinking(count, (index) => ({ type: "redacted_thinking", data: seal(index) })),
  "sealed thoughts in reverse": (count) =>
    thinking(count, (index) => ({ type: "thinking", thinking: "Hm", signature: seal(count - index) })),
  documents: (count) =>
    request([
      many("user", count, (index) => ({
        type: "document",
        title: index % 2 ? "a.pdf" : `a ${index}.pdf`,
        source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
      })),
    ]),
  images: (count) =>
    request([
      many("user", count, () => ({
        type: "image",
        source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
      })),
    ]),
  "results of a search": (count) =>
    request([
      said("user", [
        { type: "search_result", title: "a", source: "https://a.example", content: times(count, text) },
      ]),
    ]),
  "blocks of Anthropic's servers": (count) =>
    request([
      user,
      many("assistant", count, (index) => ({
        type: "server_tool_use",
        id: `srvtoolu_${index}`,
        name: "a",
        input: {},
      })),
      user,
    ]),
  "cache marks": (count) =>
    request([many("user", count, () => ({ type: "text", text: "a", cache_control: { type: "ephemeral" } }))]),
  tools: (count) => request([user], { tools: times(count, (index) => tool(`tool_${index}`)) }),
  "tools of one name": (count) => request([user], { tools: times(count, () => tool("tool")) }),
  "tools with long names": (count) =>
    request([user], { tools: times(count, (index) => tool(`tool_${"x".repeat(80)}_${index}`)) }),
  "typed tools": (count) =>
    request([user], {
      tools: times(count, (index) => ({ type: "bash_20250124", name: `bash_${index}` })),
    }),
  "added tools": (count) =>
    request([user, many("system", count, (index) => change("tool_addition", `tool_${index}`, true))]),
  "added tools of one name": (count) =>
    request([user, many("system", count, () => change("tool_addition", "tool_1", true))], {
      tools: times(count, (index) => tool(`tool_${index}`)),
    }),
  "removed tools": (count) =>
    request([user, many("system", count, (index) => change("tool_removal", `tool_${index}`, false))], {
      tools: times(count, (index) => tool(`tool_${index}`)),
    }),
  "stop sequences": (count) => request([user], { stop_sequences: times(count, (index) => `${index}`) }),
  metadata: (count) => request([user], { metadata: members(count, (index) => `${index}`) }),
};

export const messagesShapes = withSchemas(["messages", "count_tokens"], bodies, {
  tool: (large) => request([user], { tools: [{ name: "a", input_schema: large }] }),
  answer: (large) => request([user], { output_config: { format: { type: "json_schema", schema: large } } }),
});
