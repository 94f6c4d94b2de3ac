import { withSchemas } from "./schema-shapes.ts";
import { members, type Shape, times } from "./shape.ts";

const user = { role: "user", content: "Hello" };
const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };

function request(messages: object[], more: object = {}): object {
  return { model: "test/model", messages, ...more };
}

function call(id: string, args = '{"city":"Paris"}', name = "weather"): object {
  return { id, type: "function", function: { name, arguments: args } };
}

function result(id: string): object {
  return { role: "tool", tool_call_id: id, content: '{"degrees":20}' };
}

function calling(calls: object[], more: object = {}): object {
  return { role: "assistant", content: null, tool_calls: calls, ...more };
}

function parts(count: number, part: (index: number) => object): object {
  return request([{ role: "user", content: times(count, part) }]);
}

function tool(name: string, parameters: object = { type: "object", properties: {} }): object {
  return { type: "function", function: { name, parameters, strict: true } };
}

function thought(index: number, id: number): object {
  const format = ["anthropic-claude-v1", "google-gemini-v1", "bedrock-claude-v1"][id % 3];
  const type = id % 3 === 0 ? "reasoning.text" : "reasoning.encrypted";
  return { type, format, index, id: `call_${id}`, text: "Hm", signature: "c2ln", data: "ZGF0YQ==" };
}

const bodies: Record<string, Shape["body"]> = {
  "messages of one role": (count) => request(times(count, () => user)),
  "alternating roles": (count) =>
    request(times(count, (index) => ({ ...user, role: index % 2 ? "assistant" : "user" }))),
  "system messages": (count) => request([...times(count, () => ({ ...user, role: "system" })), user]),
  "developer messages between others": (count) =>
    request(times(count, (index) => ({ ...user, role: index % 2 ? "developer" : "user" }))),
  "parts of one message": (count) => parts(count, (index) => ({ type: "text", text: `${index}` })),
  "blank parts": (count) =>
    request([{ role: "user", content: times(count, () => ({ type: "text", text: " " })) }, user]),
  images: (count) => parts(count, () => image),
  "images on the web": (count) =>
    parts(count, (index) => ({
      type: "image_url",
      image_url: { url: `https://a.example/${index}.png?a#b` },
    })),
  "files of one name": (count) => parts(count, () => file("a b.pdf")),
  "files with numbers as names": (count) =>
    parts(count, (index) => file(index % 2 ? `a ${Math.floor(index / 2)}.pdf` : "a.pdf")),
  "images from tools": (count) =>
    request(
      times(count, (index) => [
        calling([call(`call_${index}`)]),
        { ...result(`call_${index}`), content: [{ type: "text", text: "a" }, image] },
      ]).flat(),
    ),
  "calls and results in order": (count) =>
    request([
      user,
      ...times(count, (index) => [calling([call(`call_${index}`)]), result(`call_${index}`)]).flat(),
    ]),
  "results in reverse": (count) =>
    request([
      user,
      calling(times(count, (index) => call(`call_${index}`))),
      ...times(count, (index) => result(`call_${count - 1 - index}`)),
    ]),
  "calls of one id": (count) =>
    request([user, calling(times(count, () => call("call_1"))), ...times(count, () => result("call_1"))]),
  "results of a call with a long name": (count) =>
    request([
      user,
      calling([call("call_1", "{}", "n".repeat(Math.floor(count) * 50))]),
      ...times(count, () => result("call_1")),
    ]),
  "calls of past tools": (count) =>
    request([
      user,
      calling(times(count, (index) => call(`call_${index}`, "{}", `tool_${index}`))),
      ...times(count, (index) => result(`call_${index}`)),
    ]),
  "names in the arguments of a call": (count) =>
    request([
      user,
      calling([call("call_1", JSON.stringify(members(count, (index) => index)))]),
      result("call_1"),
    ]),
  "thoughts of one place": (count) =>
    request([user, calling([call("call_1")], { reasoning_details: times(count, (id) => thought(0, id)) })]),
  "thoughts of many places": (count) =>
    request([
      user,
      calling(
        times(count, (index) => call(`call_${index}`)),
        { reasoning_details: times(count, (id) => thought(count - id, id)) },
      ),
    ]),
  "thoughts of places beyond the end": (count) =>
    request([
      user,
      calling([call("call_1")], { reasoning_details: times(count, (id) => thought(id + 1, id)) }),
    ]),
  "cache marks": (count) =>
    parts(count, () => ({ type: "text", text: "a", cache_control: { type: "ephemeral" } })),
  tools: (count) => request([user], { tools: times(count, (index) => tool(`tool_${index}`)) }),
  "tools of one name": (count) => request([user], { tools: times(count, () => tool("tool")) }),
  "allowed tools": (count) =>
    request([user], {
      tools: times(count, (index) => tool(`tool_${index}`)),
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: times(count, (index) => tool(`tool_${count - index}`)) },
      },
    }),
  "stop sequences": (count) => request([user], { stop: times(count, (index) => `stop ${index}`) }),
  metadata: (count) => request([user], { metadata: members(count, (index) => `${index}`) }),
  "logit biases": (count) =>
    request([user], { logit_bias: Object.fromEntries(times(count, (index) => [index, 1])) }),
  "unknown members": (count) => ({ ...request([user]), ...members(count, (index) => index) }),
  "members of one name": (count) =>
    `{${times(count, (index) => `"temperature":0.${index}`).join()},"model":"test/model","messages":[{"role":"user","content":"a"}]}`,
  "escaped members of one name": (count) =>
    `{${times(count, () => '"\\u0074ools":[]').join()},"model":"test/model","messages":[{"role":"user","content":"a"}]}`,
};

function file(filename: string): object {
  return { type: "file", file: { filename, file_data: "data:application/pdf;base64,JVBERi0=" } };
}

export const chatShapes = withSchemas(["chat"], bodies, {
  tool: (schema) => request([user], { tools: [tool("a", schema)] }),
  answer(schema) {
    const json_schema = { name: "a", strict: true, schema };
    return request([user], { response_format: { type: "json_schema", json_schema } });
  },
});
