import test from "ava";
import { responses } from "../../gateway/dialects/responses/responses.ts";
import { invalidValue, unsupportedValue } from "../../gateway/wire/parameter-errors.ts";
import { requestFrom } from "../dialects/responses/read-events.ts";

const shown: [value: unknown, text: string][] = [
  [3, ": 3"],
  [-0.5, ": -0.5"],
  [true, ": true"],
  ["robot", ': "robot"'],
  ["", ': ""'],
];

for (const [value, text] of shown) {
  test(`an error quotes the value ${JSON.stringify(value)}`, (t) => {
    t.is(invalidValue("a", "must be b", value).message, `Invalid value for 'a'${text}. It must be b.`);
    t.is(
      unsupportedValue("a", "C has no such value. Use b.", value).message,
      `Unsupported value for 'a'${text}, because C has no such value. Use b.`,
    );
  });
}

const hidden = [
  undefined,
  null,
  { a: 1 },
  ["robot"],
  "two words",
  "robot\n",
  "é",
  "a".repeat(41),
  "a".repeat(1e7),
];

for (const value of hidden) {
  test(`an error leaves out ${JSON.stringify(value)?.slice(0, 20)} (${String(value).length} characters)`, (t) => {
    t.is(invalidValue("a", "must be b", value).message, "Invalid value for 'a'. It must be b.");
    t.is(
      unsupportedValue("a", "C has no such value. Use b.", value).message,
      "Unsupported value for 'a', because C has no such value. Use b.",
    );
  });
}

test("the name of an unknown tool is not quoted", (t) => {
  const tools = [{ type: "function", name: "run", parameters: {} }];
  const body = { model: "m", input: "x", tools, tool_choice: { type: "function", name: "secret_plan" } };
  const error = t.throws(() => responses.toChatRequest(requestFrom(body)));
  t.true(error.message.includes("tool_choice.name"));
  t.false(error.message.includes("secret_plan"), error.message);
});
