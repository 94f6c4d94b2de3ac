import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { keyOf, spendCent, startPriced } from "../helpers/priced-gateway.ts";

const dayMs = 86_400_000;

test("keys that expire, spend their budget or were never used are found, own ones only", async (t) => {
  const now = Date.now();
  const gateway = await startPriced(t, {});
  const { id, console: member } = await addPerson(gateway, "grace@example.com");
  const { value } = await keyOf(gateway, id);
  const create = async (name: string, inDays: number | null, more = {}) => {
    const expiresAt = inDays === null ? null : new Date(now + inDays * dayMs).toISOString();
    return (await gateway.admin.keys.create.mutate({ name, models: [], expiresAt, ...more })).key;
  };
  await create("In a month", 30);
  const soon = await create("In a week", 6.9);
  const sooner = await create("Tomorrow", 1);
  const off = await create("Switched off", 1);
  await gateway.admin.keys.deactivate.mutate({ id: off.id });
  t.is((await spendCent(gateway, value)).status, 200);
  const spent = (await member.keys.list.query({})).items[0]?.id ?? "";
  await gateway.admin.keys.setLimits.mutate({ id: spent, limits: { budgetsUsd: { day: 0.01 } } });
  await gateway.services.recorder.flush();

  const all = await gateway.admin.overview.keys.query();
  t.deepEqual(
    all.expiring.keys.map((key) => key.id),
    [sooner.id, soon.id],
  );
  t.is(all.expiring.count, 2);
  t.deepEqual(
    all.budgets.keys.map((key) => [key.id, key.spentPercent]),
    [[spent, 100]],
  );
  t.true(all.unused.keys.some(({ name }) => name === "In a month"));
  t.false(all.unused.keys.some((key) => key.id === off.id));
  for (const attention of ["expiring", "unused"] as const) {
    const { items } = await gateway.admin.keys.list.query({ attention, status: "active" });
    t.is(items.length, all[attention].count, attention);
    t.is((await gateway.admin.keys.counts.query({ attention })).active, all[attention].count);
  }

  const own = await member.overview.keys.query();
  t.is(own.expiring.count, 0);
  t.is(own.budgets.count, 1);
  t.is(own.unused.keys.filter(({ name }) => name === "Tomorrow").length, 0);
});
