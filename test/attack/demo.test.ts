import test from "ava";
import { assertError, clientError } from "../helpers/assert-error.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { hostileSchemas } from "./shapes/hostile-schemas.ts";

const gateway = shareGateway({
  environment: { UPSTREAM_IDLE_TIMEOUT_MS: "1000", UPSTREAM_TOTAL_TIMEOUT_MS: "3000" },
});
let key: string;
test.before(async () => {
  key = (await createKey(gateway())).value;
});

for (const [name, schema] of Object.entries(hostileSchemas)) {
  test(`a schema with ${name} gets a small sample`, async (t) => {
    const format = { type: "json_schema", json_schema: { name: "deep", schema } };
    const answer = await postChat(gateway(), key, chatBody("demo/echo", "Hi", { response_format: format }));
    t.is(answer.status, 200, answer.text);
    t.true(answer.text.length < 400_000, `${answer.text.length} characters`);
    const values = answer.text.match(/\\"demo\\"|null/g)?.length ?? 0;
    t.true(values <= 1_100, `${values} values`);
  });
}

test("a prompt beyond the demo's limit gets 400", async (t) => {
  const answer = await postChat(gateway(), key, chatBody("demo/echo", "word ".repeat(60_000)));
  assertError(t, answer, clientError(400, "prompt_too_long", "messages"));
});

test("the demo obeys its provider's idle timeout", async (t) => {
  const answer = await postChat(gateway(), key, chatBody("demo/echo", "/slow 1500 one two"));
  t.is(answer.status, 504, answer.text);
});

test("the demo obeys its provider's total timeout", async (t) => {
  const body = chatBody("demo/echo", `/slow 700 ${"word ".repeat(20)}`, { stream: true });
  const answer = await postChat(gateway(), key, body);
  t.regex(answer.text, /upstream_timeout/);
  t.notRegex(answer.text, /\[DONE\]/);
});
