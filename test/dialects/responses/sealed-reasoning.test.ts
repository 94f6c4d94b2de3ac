import test from "ava";
import { readResponsesRequest } from "../../../gateway/dialects/responses/read-responses-request.ts";
import {
  sealReasoning,
  withoutSealedReasoning,
} from "../../../gateway/dialects/responses/sealed-reasoning.ts";
import { bodyLimits } from "../../helpers/body-limits.ts";

const read = (input: unknown) =>
  readResponsesRequest(Buffer.from(JSON.stringify({ model: "openai/gpt", input })), bodyLimits);

test("OpenAI receives no thoughts sealed here, and everything else unchanged", (t) => {
  const own = { type: "reasoning", summary: [], encrypted_content: "gAAAAABo" };
  const ours = {
    type: "reasoning",
    summary: [],
    encrypted_content: sealReasoning([
      { type: "reasoning.text", format: "anthropic-claude-v1", text: "Hm." },
    ]),
  };
  const asked = { role: "user", content: "Go on." };
  const request = withoutSealedReasoning(read([own, ours, asked]));
  t.deepEqual(request.body["input"], [own, asked]);
  t.is(request.modelRange, null, "the client's bytes are not what is sent");

  const untouched = read([own, asked]);
  t.is(withoutSealedReasoning(untouched), untouched);
});
