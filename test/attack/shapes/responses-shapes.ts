import { withSchemas } from "./schema-shapes.ts";
import { members, type Shape, times } from "./shape.ts";

const user = { type: "message", role: "user", content: "Hello" };
const png = "data:image/png;base64,iVBORw0KGgo=";

function request(input: object[], more: object = {}): object {
  return { model: "test/model", input, ...more };
}

function call(index: number): object {
  return { type: "function_call", call_id: `call_${index}`, name: "weather", arguments: '{"city":"Paris"}' };
}

function result(index: number): object {
  return { type: "function_call_output", call_id: `call_${index}`, output: "20 degrees" };
}

function tool(name: string, parameters: object = { type: "object", properties: {} }): object {
  return { type: "function", name, parameters, strict: true };
}

function thought(indexes: number[]): object {
  const details = indexes.map((index) => ({
    type: "reasoning.text",
    format: "anthropic-claude-v1",
    index,
    text: "Hm",
    signature: "c2ln",
  }));
  const sealed = Buffer.from(JSON.stringify(details)).toString("base64");
  return { type: "reasoning", summary: [], encrypted_content: `gateway-reasoning-v1:${sealed}` };
}

function parts(count: number, part: (index: number) => object): object {
  return request([{ type: "message", role: "user", content: times(count, part) }]);
}

const bodies: Record<string, Shape["body"]> = {
  "messages of one role": (count) => request(times(count, () => user)),
  "alternating roles": (count) =>
    request(times(count, (index) => ({ ...user, role: index % 2 ? "assistant" : "user" }))),
  "system messages": (count) => request([...times(count, () => ({ ...user, role: "system" })), user]),
  "parts of one message": (count) => parts(count, (index) => ({ type: "input_text", text: `${index}` })),
  "parts of an answer": (count) =>
    request([
      user,
      {
        type: "message",
        role: "assistant",
        content: times(count, (index) => ({ type: "output_text", text: `${index}` })),
      },
    ]),
  images: (count) => parts(count, () => ({ type: "input_image", image_url: png })),
  "files of one name": (count) =>
    parts(count, () => ({
      type: "input_file",
      filename: "a.pdf",
      file_data: "data:application/pdf;base64,JVBERi0=",
    })),
  "calls and results in order": (count) =>
    request([user, ...times(count, (index) => [call(index), result(index)]).flat()]),
  "results in reverse": (count) =>
    request([user, ...times(count, call), ...times(count, (index) => result(count - 1 - index))]),
  "calls of one id": (count) =>
    request([user, ...times(count, () => call(1)), ...times(count, () => result(1))]),
  "parts of a result": (count) =>
    request([
      user,
      call(1),
      { ...result(1), output: times(count, (index) => ({ type: "input_text", text: `${index}` })) },
    ]),
  "thoughts of many places": (count) =>
    request([user, ...times(count, (index) => thought([index])), call(1), result(1)]),
  "thoughts of one place": (count) =>
    request([user, ...times(count, () => thought([0])), call(1), result(1)]),
  "thoughts of one item": (count) =>
    request([user, thought(times(count, (index) => count - index)), call(1), result(1)]),
  "parts of a summary": (count) =>
    request([
      user,
      {
        type: "reasoning",
        summary: times(count, (index) => ({ type: "summary_text", text: `${index}` })),
      },
      call(1),
      result(1),
    ]),
  "calls of the shell": (count) =>
    request([
      user,
      ...times(count, (index) => [
        { type: "local_shell_call", call_id: `call_${index}`, action: { type: "exec", command: ["ls"] } },
        { type: "local_shell_call_output", call_id: `call_${index}`, output: "a" },
      ]).flat(),
    ]),
  "calls of custom tools": (count) =>
    request([
      user,
      ...times(count, (index) => [
        { type: "custom_tool_call", call_id: `call_${index}`, name: "patch", input: "a" },
        { type: "custom_tool_call_output", call_id: `call_${index}`, output: "b" },
      ]).flat(),
    ]),
  "found tools": (count) =>
    request([
      user,
      { type: "tool_search_call", call_id: "call_1", arguments: {} },
      {
        type: "tool_search_output",
        call_id: "call_1",
        tools: times(count, (index) => tool(`tool_${index}`)),
      },
    ]),
  tools: (count) => request([user], { tools: times(count, (index) => tool(`tool_${index}`)) }),
  "tools of one name": (count) => request([user], { tools: times(count, () => tool("tool")) }),
  "tools with long names": (count) =>
    request([user], { tools: times(count, (index) => tool(`tool_${"x".repeat(80)}_${index}`)) }),
  "custom tools": (count) =>
    request([user], { tools: times(count, (index) => ({ type: "custom", name: `tool_${index}` })) }),
  "namespaces of tools": (count) =>
    request([user], {
      tools: times(count, (index) => ({
        type: "namespace",
        name: `space_${index}`,
        description: "a",
        tools: [tool("a")],
      })),
    }),
  "tools of a namespace with a long name": (count) =>
    request([user], {
      tools: [
        {
          type: "namespace",
          name: "n".repeat(Math.floor(count) * 50),
          tools: times(count, (index) => tool(`tool_${index}`)),
        },
      ],
    }),
  "tools of colliding names": (count) =>
    request([user], {
      tools: times(count, (index) => ({
        type: "namespace",
        name: "a.b"
          .repeat(6)
          .split("")
          .map((letter, at) => (letter === "." ? ".:/!"[(index >> (at / 3)) & 1] : letter))
          .join(""),
        description: `${index}`,
        tools: [tool(`a_${index >> 6}`), tool(`a_${index >> 6}_${index}`)],
      })),
    }),
  "allowed tools": (count) =>
    request([user], {
      tools: times(count, (index) => tool(`tool_${index}`)),
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: times(count, (index) => ({ type: "function", name: `tool_${count - 1 - index}` })),
      },
    }),
  includes: (count) => request([user], { include: times(count, (index) => `include ${index}`) }),
  metadata: (count) => request([user], { metadata: members(count, (index) => `${index}`) }),
};

export const responsesShapes = withSchemas(["responses"], bodies, {
  tool: (schema) => request([user], { tools: [tool("a", schema)] }),
  answer: (schema) =>
    request([user], { text: { format: { type: "json_schema", name: "a", strict: true, schema } } }),
});
