import test from "ava";
import { OpenExchanges } from "../../gateway/completions/exchange.ts";
import { GatewayError } from "../../gateway/errors.ts";
import type { KnownKey } from "../../gateway/keys/authenticate-key.ts";
import { seededRandom } from "../helpers/seeded-random.ts";

test("random additions and removals keep the totals and the counts per key exact", (t) => {
  const random = seededRandom(7);
  const open = new OpenExchanges();
  const expected = new Set<FakeExchange>();
  for (let step = 0; step < 2_000; step++) {
    const under = [...expected];
    if (random.chance(step < 1_000 ? 0.6 : 0.4) || under.length === 0) {
      const exchange = new FakeExchange(open, keyOf(random.upTo(3)), random.chance(0.5));
      open.add(exchange);
      expected.add(exchange);
    } else {
      const leaving = under[random.upTo(under.length - 1)];
      if (leaving) open.remove(leaving);
      if (leaving) expected.delete(leaving);
    }
    const streams = [...expected].filter(({ stream }) => stream).length;
    t.deepEqual(open.count(), { requests: expected.size, streams });
    t.deepEqual(open.keyIds().toSorted(), [...new Set([...expected].map(({ key }) => key.id))].toSorted());
  }
});

test("stopping a key ends all its exchanges while each removes itself", (t) => {
  const open = new OpenExchanges();
  const exchanges = Array.from({ length: 9 }, (_, index) => new FakeExchange(open, keyOf(index % 3), false));
  for (const exchange of exchanges) open.add(exchange);
  open.update("key_1", "hash_1", null, new GatewayError("invalid_api_key", "It has been stopped."));
  t.deepEqual(
    exchanges.map(({ hasFailed }) => hasFailed),
    exchanges.map(({ key }) => key.id === "key_1"),
  );
  t.is(open.count().requests, 6);
  t.deepEqual(open.hashesOf("key_1"), new Set());
  t.deepEqual(open.hashesOf("key_2"), new Set(["hash_2"]));
});

class FakeExchange {
  index = -1;
  readonly route = null;
  hasFailed = false;
  readonly #open: OpenExchanges;
  key: KnownKey;
  readonly stream: boolean;

  constructor(open: OpenExchanges, key: KnownKey, stream: boolean) {
    this.#open = open;
    this.key = key;
    this.stream = stream;
  }

  moveTo(index: number): void {
    this.index = index;
  }

  keyChanged(key: KnownKey): void {
    this.key = key;
  }

  fail(): void {
    this.hasFailed = true;
    this.#open.remove(this);
  }
}

function keyOf(number: number): KnownKey {
  const [id, hash] = [`key_${number}`, `hash_${number}`];
  const names = { id, hash, name: id, ownerId: null, chargeFactor: null };
  return { ...names, isActive: true, validUntil: null, modelIds: new Set(), limits: null };
}
