import test from "ava";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareLimits } from "../helpers/share-limits.ts";

const shared = shareLimits();

test("a key at ten times its limit receives its limit and delays no other key", async (t) => {
  const { gateway, upstream, model, keyWith } = shared();
  for (const prompt of ["greedy", "modest"]) {
    upstream.scripts.set(prompt, (response) => sendCompletion(response));
  }
  const greedy = await keyWith({ requestsPerMinute: 20 });
  const modest = await Promise.all(Array.from({ length: 4 }, () => keyWith({ requestsPerMinute: 20 })));
  const ask = async (key: { value: string }, prompt: string) =>
    (await postChat(gateway, key.value, chatBody(model.slug, prompt))).status;

  const greedyAsked = Array.from({ length: 200 }, () => ask(greedy, "greedy"));
  const modestAsked = modest.flatMap((key) => Array.from({ length: 20 }, () => ask(key, "modest")));
  const greedyStatuses = await Promise.all(greedyAsked);
  t.is(greedyStatuses.filter((status) => status === 200).length, 20);
  t.is(greedyStatuses.filter((status) => status === 429).length, 180);
  t.true((await Promise.all(modestAsked)).every((status) => status === 200));
  t.is(upstream.seen("greedy").length, 20, "what was refused cost nothing upstream");
});
