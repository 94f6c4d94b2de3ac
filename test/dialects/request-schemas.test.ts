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
import {
  readResponsesRequest,
  responsesRequestSchema,
} from "../../gateway/dialects/responses/read-responses-request.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { bodyLimits } from "../helpers/body-limits.ts";

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
