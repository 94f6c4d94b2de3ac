import test from "ava";
import type { Answer, Asked, Part } from "../helpers/native-upstreams/native-upstream.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";
import { messagesClient } from "./messages-client.ts";
import { openAiClient } from "./openai-client.ts";
import { responsesClient } from "./responses-client.ts";
import type { ScenarioRequest } from "./scenario-client.ts";
import { shareVendor } from "./share-vendor.ts";
import { plainAnswer, user } from "./step.ts";
import { asCall, bern, weather, zurich } from "./tool-steps.ts";
import { isNative, vendorsFor } from "./vendors.ts";

// When a user switches models, the next vendor cannot read the first vendor's sealed thoughts, and may reject
// them. The conversation must continue without these thoughts.

const gateway = shareGateway();

const request: ScenarioRequest = {
  messages: [user("How is the weather in Zürich?")],
  tools: { weather },
  effort: "low",
  nextQuestion: "And in Bern?",
};

const firstAnswers: Partial<Answer>[] = [
  { thoughts: ["I have to look."], text: ["A moment."], calls: [zurich], finish: "tool_calls" },
  { text: ["Sunny."] },
];

const nextAnswers: Partial<Answer>[] = [
  { thoughts: ["I look again."], calls: [bern], finish: "tool_calls" },
  { text: ["Rain."] },
];

const saidAndDone: Asked["turns"] = [
  { role: "user", parts: [{ text: "How is the weather in Zürich?" }] },
  { role: "assistant", parts: [{ text: "A moment." }, asCall(zurich)] },
  { role: "user", parts: [{ result: "18 °C, sunny ☀️", ofCall: 0 }] },
  { role: "assistant", parts: [{ text: "Sunny." }] },
  { role: "user", parts: [{ text: "And in Bern?" }] },
  { role: "assistant", parts: [asCall(bern)] },
  { role: "user", parts: [{ result: '{"celsius":17,"rain":true}', ofCall: 1 }] },
];

const clients = [openAiClient, messagesClient, responsesClient];

for (const [place, client] of clients.entries()) {
  // The request has no thinking budget, which a native vendor with `thinksByBudget` needs.
  const vendors = vendorsFor(client).filter((vendor) => !vendor.thinksByBudget || !isNative(client, vendor));
  const connected = vendors.map((vendor) => ({ vendor, prepare: shareVendor(gateway, vendor) }));
  for (const [row, first] of connected.entries()) {
    for (const [column, next] of connected.entries()) {
      if (first === next) continue;
      for (const stream of formsOf(row, column, place)) {
        const how = `${client.name}${stream ? ", streamed" : ""}`;
        test.serial(
          `${how}: a conversation moves from ${first.vendor.name} to ${next.vendor.name}`,
          async (t) => {
            const before = await first.prepare((asked) => answerOf(firstAnswers, asked, 1));
            const after = await next.prepare((asked) => answerOf(nextAnswers, asked, 5));
            const { model } = before.options;
            const nextModel = after.options.model;
            const { value: apiKey } = await createKey(gateway(), [model, nextModel]);
            const thinksByBudget = false;

            const attempt = client.converse(request, {
              ...before.options,
              apiKey,
              nextModel,
              stream,
              thinksByBudget,
            });
            const outcome = await attempt.catch((error: unknown) => String(error));

            t.deepEqual([...before.upstream.refusals, ...after.upstream.refusals], []);
            t.like(outcome, {
              text: ["A moment.", "Sunny.", "Rain."],
              calls: [zurich, bern],
              finish: "stop",
            });
            t.is(before.upstream.asked.length, 2);
            t.is(after.upstream.asked.length, 2);
            t.deepEqual(withoutThoughts(after.upstream.asked.at(-1)), saidAndDone);
          },
        );
      }
    }
  }
}

/**
 * Returns whether to stream, for each conversation. Below full scale, one of the three clients tries every second pair
 * of vendors, which includes each pair of kinds.
 */
function formsOf(row: number, column: number, place: number): boolean[] {
  if (isFull) return [false, true];
  const pair = (row + column + Number(row > column)) / 2;
  return Number.isInteger(pair) && pair % clients.length === place ? [pair % 2 === 0] : [];
}

function answerOf(answers: Partial<Answer>[], { turns }: Asked, begunAt: number): Answer {
  const answer = answers[(turns.length - begunAt) / 2];
  if (answer === undefined) throw new Error(`The model is asked at the wrong time: ${turns.length} turns.`);
  return { ...plainAnswer, ...answer };
}

function withoutThoughts(asked: Asked | undefined): Asked["turns"] {
  const isThought = (part: Part) => "thought" in part;
  return (asked?.turns ?? []).map(({ role, parts }) => ({
    role,
    parts: parts.filter((part) => !isThought(part)),
  }));
}
