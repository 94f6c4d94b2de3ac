import type { Shape } from "./shape.ts";

const unit = 1_000;
const texts: Record<string, string> = {
  quotes: '\\"',
  "escaped control characters": "\\u0000",
  "lines of code": 'if (a) { b("c"); }\\n'.replaceAll('"', '\\"'),
  emoji: "😀",
  spaces: " ",
  base64: "iVBORw0K",
};

const encodings: Record<string, { dialect: Shape["dialects"][number]; body(text: string): string }> = {
  "a prompt": {
    dialect: "chat",
    body: (text) => `{"model":"test/model","messages":[{"role":"user","content":"${text}"}]}`,
  },
  "the input of a call": {
    dialect: "messages",
    body: (text) =>
      `{"model":"test/model","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"c":"${text}"}}]}]}`,
  },
  "an image": {
    dialect: "responses",
    body: (text) =>
      `{"model":"test/model","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,${text}"}]}]}`,
  },
  "the result of a tool": {
    dialect: "chat",
    body: (text) =>
      `{"model":"test/model","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"b","type":"function","function":{"name":"c","arguments":"{}"}}]},{"role":"tool","tool_call_id":"b","content":"[${text}"}]}`,
  },
  "the id of a call": {
    dialect: "chat",
    body: (text) =>
      `{"model":"test/model","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"${text}","type":"function","function":{"name":"c","arguments":"{}"}}]}]}`,
  },
  "the name of a file": {
    dialect: "messages",
    body: (text) =>
      `{"model":"test/model","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","title":"${text}","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}}]}]}`,
  },
  "a name that is not read": {
    dialect: "chat",
    body: (text) => `{"model":"test/model","messages":[{"role":"user","content":"a"}],"${text}":1}`,
  },
};

export const longTextShapes: Shape[] = Object.entries(encodings).flatMap(([place, { dialect, body }]) =>
  Object.entries(texts).map(([kind, text]) => ({
    name: `${kind} in ${place}`,
    dialects: [dialect],
    body: (count) => body(text.repeat(Math.ceil((unit * count) / text.length))),
  })),
);
