import test from "ava";
import fc from "fast-check";
import type { UsageDimension } from "../../db/entities/usage-record.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { isFull } from "../helpers/scale.ts";
import { admin } from "../helpers/usage-fixture.ts";

/** Which person owns each key, and which team pays for it. */
const drawn: { owner: number | null; team: number | null }[] = [
  { owner: 0, team: null },
  { owner: 1, team: null },
  { owner: 0, team: 0 },
  { owner: 1, team: 0 },
  { owner: 0, team: 1 },
  { owner: null, team: 1 },
];

const key = fc.nat(drawn.length - 1);
const one = fc.nat(1);
const holder = fc.oneof(
  key.map((index) => `key ${index}`),
  one.map((index) => `person ${index}`),
  one.map((index) => `team ${index}`),
  fc.constantFrom("people", "gateway"),
);
const cents = fc.option(fc.nat(8));
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ask: key }) },
  { weight: 2, arbitrary: fc.record({ budgetOf: holder, cents }) },
  { weight: 1, arbitrary: fc.record({ pausing: one, isPaused: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ handing: key, to: fc.option(one) }) },
);

test("requests pass exactly while all holders have room, and sums equal the records", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      const gateway = await startPriced(t, {});
      const { admin: api, services } = gateway;
      const people = [
        await addPerson(gateway, "one@example.com"),
        await addPerson(gateway, "two@example.com"),
      ];
      const teams: string[] = [];
      for (const name of ["One", "Two"]) teams.push((await api.teams.create.mutate({ name })).id);
      const keys: { id: string; value: string; owner: number | null; team: number | null }[] = [];
      for (const { owner, team } of drawn) {
        const holders = {
          ownerId: owner === null ? null : people[owner]?.id,
          ...(team !== null && { teamId: teams[team] }),
        };
        const { key: made, value } = await api.keys.create.mutate({
          name: "A key",
          models: ["demo/echo"],
          ...holders,
        });
        keys.push({ id: made.id, value, owner, team });
      }
      const budgets = new Map<string, number | null>();
      const spent = new Map<string, number>();
      const paused = new Set<number>();
      const asked: { key: number; owner: number | null }[] = [];
      const holdersOf = (index: number) => {
        const { owner = null, team = null } = keys[index] ?? {};
        const payer = team === null ? owner !== null && `person ${owner}` : `team ${team}`;
        return [`key ${index}`, ...(payer ? [payer] : []), "gateway"];
      };
      const budgetOf = (name: string) =>
        budgets.get(name) ?? (name.startsWith("person") ? budgets.get("people") : null);
      const isSpent = (name: string) => (spent.get(name) ?? 0) >= (budgetOf(name) ?? Infinity);

      for (const each of steps) {
        if ("ask" in each) {
          const { value = "", owner = null, team = null } = keys[each.ask] ?? {};
          const holders = holdersOf(each.ask);
          const stopped = team !== null && paused.has(team);
          const expected = stopped ? 401 : holders.some(isSpent) ? 402 : 200;
          t.is((await spendCent(gateway, value)).status, expected, JSON.stringify([each, ...holders]));
          if (expected !== 200) continue;
          for (const name of holders) spent.set(name, (spent.get(name) ?? 0) + 1);
          asked.push({ key: each.ask, owner });
        } else if ("budgetOf" in each) {
          const [kind, index] = each.budgetOf.split(" ");
          const limits = { budgetsUsd: { total: each.cents === null ? null : each.cents / 100 } };
          budgets.set(each.budgetOf, each.cents);
          if (kind === "key") await api.keys.setLimits.mutate({ id: keys[Number(index)]?.id ?? "", limits });
          else if (kind === "team")
            await api.teams.setLimits.mutate({ id: teams[Number(index)] ?? "", limits });
          else {
            const id = kind === "person" ? (people[Number(index)]?.id ?? "") : each.budgetOf;
            await api.limits.set.mutate({ holder: id, limits });
          }
        } else if ("pausing" in each) {
          const id = teams[each.pausing] ?? "";
          await api.teams.setStatus.mutate({ id, status: each.isPaused ? "paused" : "active" });
          if (each.isPaused) paused.add(each.pausing);
          else paused.delete(each.pausing);
        } else {
          const handed = keys[each.handing];
          if (!handed || (handed.team === null && each.to === null)) continue;
          const ownerId = each.to === null ? null : (people[each.to]?.id ?? "");
          await api.keys.setOwner.mutate({ id: handed.id, ownerId });
          handed.owner = each.to;
        }
      }

      await services.recorder.flush();
      const sums: [UsageDimension, (each: (typeof asked)[number]) => string | undefined][] = [
        ["apiKeyId", (each) => keys[each.key]?.id],
        ["ownerId", ({ owner }) => (owner === null ? "" : people[owner]?.id)],
        ["teamId", (each) => teams[keys[each.key]?.team ?? -1] ?? ""],
        ["model", () => "demo/echo"],
      ];
      for (const [dimension, idOf] of sums) {
        const criteria = { statuses: ["SUCCEEDED" as const] };
        const found = await services.usageHistory.summarize(admin, criteria, {
          groupBy: [dimension],
          interval: null,
        });
        const counts = Object.fromEntries(found.map((row) => [row[dimension], Number(row.cost) / 1e7]));
        const expected = Object.fromEntries(
          [...Map.groupBy(asked, idOf)].map(([id, list]) => [id, list.length]),
        );
        t.deepEqual(counts, expected, dimension);
      }
      await gateway.close();
    }),
    { numRuns: isFull ? 30 : 3 },
  );
});
