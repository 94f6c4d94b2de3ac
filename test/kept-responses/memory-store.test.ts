import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { MemoryStore, type MemoryStoreOptions } from "../../gateway/kept-responses/memory-store.ts";
import { countBytes, type KeptResponse } from "../../gateway/kept-responses/response-store.ts";
import { noItems } from "../../gateway/wire/json-items.ts";

const hourMs = 3_600_000;

function open(t: ExecutionContext, options: Partial<MemoryStoreOptions> = {}) {
  const clock = { now: 0 };
  const limits = { bytesMax: 100_000, keyBytesMax: 50_000, keptMs: hourMs };
  const store = new MemoryStore({ now: () => clock.now, ...limits, ...options });
  t.teardown(() => store.close());
  return { store, clock };
}

function sized(bytes: number): KeptResponse {
  const empty = { response: Buffer.alloc(0), input: noItems, output: noItems, tokens: 0 };
  return { ...empty, response: Buffer.alloc(bytes - countBytes(empty)) };
}

test("a response is gone an hour after its last use", (t) => {
  const { store, clock } = open(t);
  store.keep("key_1", "one", sized(4_000));
  store.keep("key_1", "two", sized(4_000));
  clock.now = hourMs - 1;
  t.truthy(store.find("key_1", "one"));
  clock.now = hourMs;
  t.is(store.find("key_1", "two"), null);
  t.truthy(store.find("key_1", "one"), "its use renewed it");
  clock.now = 2 * hourMs;
  t.is(store.find("key_1", "one"), null);
  t.false(store.delete("key_1", "one"));
  t.is(store.bytes, 0);
});

test("another key neither finds, deletes nor forgets a response", (t) => {
  const { store } = open(t);
  store.keep("key_1", "one", sized(4_000));
  t.is(store.find("key_2", "one"), null);
  t.false(store.delete("key_2", "one"));
  store.forget("key_2");
  t.truthy(store.find("key_1", "one"));
  store.forget("key_1");
  t.is(store.find("key_1", "one"), null);
  t.is(store.bytes, 0);
});

test("a key's least recently used responses make room for its new ones", (t) => {
  const { store } = open(t);
  store.keep("key_2", "other", sized(4_000));
  for (const id of ["one", "two", "three"]) t.true(store.keep("key_1", id, sized(16_000)));
  store.find("key_1", "one");
  store.keep("key_1", "four", sized(16_000));
  t.is(store.find("key_1", "two"), null);
  for (const id of ["one", "three", "four"]) t.truthy(store.find("key_1", id), id);
  t.truthy(store.find("key_2", "other"), "another key's stay");
  t.false(store.keep("key_1", "large", sized(50_001)));
  t.truthy(store.find("key_1", "four"), "one that does not fit drops nothing");
});

test("when the process is full, the key with the most bytes makes room", (t) => {
  const { store } = open(t);
  store.keep("key_1", "small", sized(4_000));
  for (let index = 0; index < 20; index++) {
    store.keep("key_2", `second_${index}`, sized(10_000));
    store.keep("key_3", `third_${index}`, sized(10_000));
  }
  t.truthy(store.find("key_1", "small"));
  t.true(store.bytes <= 100_000);
});

test("the bytes of a process and of a key never exceed their limits", (t) => {
  const step = fc.record({
    key: fc.integer({ min: 1, max: 4 }),
    id: fc.integer({ min: 1, max: 30 }),
    bytes: fc.integer({ min: 2_200, max: 12_000 }),
    does: fc.constantFrom("keep", "find", "delete", "forget", "wait"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { store, clock } = open(t, { bytesMax: 30_000, keyBytesMax: 15_000 });
      const kept = new Map<string, number>();
      for (const { key, id, bytes, does } of steps) {
        const keyId = `key_${key}`;
        const name = `${key}_${id}`;
        if (does === "keep" && store.find(keyId, name) === null) {
          store.keep(keyId, name, sized(bytes));
          kept.set(name, bytes);
        } else if (does === "find") store.find(keyId, name);
        else if (does === "delete") store.delete(keyId, name);
        else if (does === "forget") store.forget(keyId);
        else if (does === "wait") clock.now += hourMs / 4;
        t.true(store.bytes <= 30_000);
      }
      let sum = 0;
      for (let key = 1; key <= 4; key++) {
        let ofKey = 0;
        for (let id = 1; id <= 30; id++) {
          if (store.find(`key_${key}`, `${key}_${id}`)) ofKey += kept.get(`${key}_${id}`) ?? 0;
        }
        t.true(ofKey <= 15_000);
        sum += ofKey;
      }
      t.is(sum, store.bytes, "every counted byte is found");
      store.close();
    }),
    { numRuns: 100 },
  );
});
