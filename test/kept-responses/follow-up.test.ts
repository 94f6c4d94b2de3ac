import test from "ava";
import fc from "fast-check";
import { readFollowUp } from "../../gateway/kept-responses/follow-up.ts";
import type { KeptResponse } from "../../gateway/kept-responses/response-store.ts";
import { formatItems, itemAt } from "../../gateway/wire/json-items.ts";
import type { GatewayError } from "../../gateway/errors.ts";
import { bodyLimits } from "../helpers/body-limits.ts";

const suffix = "01kahs6zxm8qv2c9d4r7tn5wbe";
const id = `resp_${suffix}`;
const limits = { ...bodyLimits, requestTranslatedBytesMax: 100_000 };
const say = (role: string, content: string, more: object = {}) => ({ role, content, ...more });

const answer = { ...say("assistant", "Hello"), type: "message", id: `msg_${suffix}_0` };
const kept = keptOf([say("user", "Hi")], [answer]);

function keptOf(input: object[], output: object[]): KeptResponse {
  const response = Buffer.from(JSON.stringify({ id }));
  return { response, input: formatItems(input), output: formatItems(output), tokens: 0 };
}

async function read(body: object, response = kept, lookups: string[] = []) {
  const bytes = Buffer.from(JSON.stringify(body));
  const followUp = await readFollowUp(bytes, limits, (asked) => {
    lookups.push(asked);
    return asked === id ? response : null;
  });
  if (followUp === null) return null;
  const joined = followUp.join();
  return { ...followUp, joined, body: JSON.parse(joined.toString()) as unknown, same: joined === bytes };
}

test("an earlier response precedes the input, without its instructions", async (t) => {
  const more = { model: "a/b", instructions: "Be brief." };
  const followUp = await read({ ...more, previous_response_id: id, input: "And now?" });
  t.deepEqual(followUp?.body, { ...more, input: [say("user", "Hi"), answer, say("user", "And now?")] });
  t.like(followUp, { previousResponseId: id, missing: null });
  const without = await read({ ...more, previous_response_id: id });
  t.deepEqual(without?.body, { ...more, input: [say("user", "Hi"), answer] });
});

test("references of the input become the items that they name", async (t) => {
  const input = [`msg_${suffix}_0`, `msg_${suffix}_in0`].map((each) => ({
    type: "item_reference",
    id: each,
  }));
  const followUp = await read({ model: "a/b", input: [...input, say("user", "Go on")] });
  t.deepEqual(followUp?.body, { model: "a/b", input: [answer, say("user", "Hi"), say("user", "Go on")] });
  t.is(followUp?.previousResponseId, null);
});

test("what is not kept stays in the body, byte for byte where nothing is", async (t) => {
  for (const [unknown, code] of [
    [{ previous_response_id: "resp_68ab", input: "x" }, "previous_response_not_found"],
    [{ previous_response_id: `resp_${"0".repeat(26)}`, input: "x" }, "previous_response_not_found"],
    [{ input: [{ type: "item_reference", id: "msg_68ab" }] }, "item_not_found"],
  ] as const) {
    const followUp = await read({ model: "a/b", ...unknown });
    t.is((followUp?.missing as GatewayError | null)?.code, code, JSON.stringify(unknown));
    t.true(followUp?.same);
  }
  for (const wrong of [`msg_${suffix}_7`, `fc_${suffix}_0`]) {
    const body = { input: [{ type: "item_reference", id: wrong }] };
    const followUp = await read(body);
    t.deepEqual([followUp?.missing?.code, followUp?.body], ["item_not_found", body]);
  }
  const mixed = [
    { type: "item_reference", id: "msg_68ab" },
    { type: "item_reference", id: answer.id },
  ];
  const followUp = await read({ previous_response_id: "resp_68ab", input: mixed });
  t.deepEqual(followUp?.body, { previous_response_id: "resp_68ab", input: [mixed[0], answer] });
  t.is(followUp?.missing?.code, "previous_response_not_found");
});

test("bodies without references, and invalid ones, are left to the dialect", async (t) => {
  for (const body of [
    { input: "previous_response_id" },
    { previous_response_id: 7, input: "x" },
    { previous_response_id: null, input: [{ type: "item_reference" }, null, 3] },
    { input: [{ type: "item_reference", id: {} }] },
  ]) {
    t.is(await read(body), null, JSON.stringify(body));
  }
  const broken = Buffer.from(`{"previous_response_id":"${id}","input":`);
  t.is(await readFollowUp(broken, limits, () => kept), null);
});

test("a small body cannot refer to a large item without bound", async (t) => {
  const large = keptOf([], [{ ...answer, content: "x".repeat(30_000) }]);
  const references = (count: number) =>
    Array(count).fill({ type: "item_reference", id: answer.id }) as object[];
  t.truthy(await read({ input: references(3) }, large));
  await t.throwsAsync(read({ input: references(4) }, large), { code: "request_too_large" });
  const larger = keptOf([], [{ ...answer, content: "x".repeat(100_000) }]);
  await t.throwsAsync(read({ previous_response_id: id }, larger), { code: "request_too_large" });
});

test("a body with many invented references looks up a bounded number", async (t) => {
  const input = Array.from({ length: 3_000 }, (_, index) => {
    const invented = String(index).padStart(26, "0");
    return { type: "item_reference", id: `msg_${invented}_0` };
  });
  const lookups: string[] = [];
  await read({ input: [...input, ...input] }, kept, lookups);
  t.is(lookups.length, 1_000);
});

const json = fc.json({ maxDepth: 3 });
const spaces = fc.stringMatching(/^[ \n\t]{0,2}$/);

test("the joined body has the size that the limits count, and its items' positions", async (t) => {
  const item = fc.json({ maxDepth: 2 }).map((content) => `{"role":"user","content":${content}}`);
  const list = fc.tuple(fc.array(item, { maxLength: 4 }), spaces);
  await fc.assert(
    fc.asyncProperty(list, list, json, spaces, async ([earlier], [items, space], other, gap) => {
      const response = { ...kept, input: formatItems(earlier.map((each) => JSON.parse(each) as unknown)) };
      const input = `[${space}${items.join(`${space},${space}`)}${space}]`;
      const text = `{${gap}"other"${gap}:${other}${gap},"previous_response_id":"${id}","input"${gap}:${input}${gap}}`;
      const followUp = await readFollowUp(
        Buffer.from(text),
        { ...limits, requestJsonValuesMax: 1e6 },
        () => response,
      );
      if (!followUp) return t.fail(text);
      const joined = followUp.join();
      t.is(joined.length, followUp.bytesLength);
      const expected = [...earlier.map((each) => JSON.parse(each) as unknown), answer];
      for (const each of items) expected.push(JSON.parse(each));
      t.deepEqual(JSON.parse(joined.toString()), { other: JSON.parse(other) as unknown, input: expected });
      const list = followUp.joinInput();
      const read = Array.from(list.starts, (_, index) => JSON.parse(String(itemAt(list, index))) as unknown);
      t.deepEqual(read, expected);
    }),
  );
});
