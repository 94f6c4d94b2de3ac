import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { openStream } from "../helpers/open-chat.ts";
import { keyOf, spendCent } from "../helpers/priced-gateway.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

async function statusesOf(gateway: TestGateway, keys: Record<string, { value: string }>) {
  const statuses: Record<string, number> = {};
  for (const [name, { value }] of Object.entries(keys))
    statuses[name] = (await spendCent(gateway, value)).status;
  return statuses;
}

/** A person in a team, with keys of each kind. */
async function createLeaver(gateway: TestGateway) {
  const { admin } = gateway;
  const leaver = await addPerson(gateway, "leaver@example.com");
  const { id: teamId } = await admin.teams.create.mutate({ name: "Search" });
  await admin.teams.addMember.mutate({ id: teamId, userId: leaver.id });
  const made = { name: "A team's", models: ["demo/echo"], teamId, ownerId: leaver.id };
  const { key, value } = await admin.keys.create.mutate(made);
  const keys = {
    personal: await keyOf(gateway, leaver.id),
    stopped: await keyOf(gateway, leaver.id),
    team: { id: key.id, value },
  };
  await admin.keys.deactivate.mutate({ id: keys.stopped.id });
  return { leaver, keys };
}

for (const kind of databaseKinds) {
  for (const teamKeys of ["hand-over", "stop"] as const) {
    test(`${kind}: a leaver's personal keys stop, team keys: ${teamKeys}`, async (t) => {
      const gateway = await startTestGateway(t, { kind });
      const { admin } = gateway;
      const { leaver, keys } = await createLeaver(gateway);
      t.deepEqual(await statusesOf(gateway, keys), { personal: 200, stopped: 401, team: 200 });
      const stream = await openStream(gateway, keys.personal.value, `/slow 100 ${"word ".repeat(300)}`);

      const { user, ...counts } = await admin.users.disable.mutate({ id: leaver.id, teamKeys });
      t.is(user.status, "disabled");
      const isHandedOver = teamKeys === "hand-over";
      t.deepEqual(counts, { stoppedKeys: isHandedOver ? 1 : 2, handedOverKeys: isHandedOver ? 1 : 0 });
      await stream.ended;
      t.notRegex(stream.text(), /\[DONE\]/);
      const team = isHandedOver ? 200 : 401;
      t.deepEqual(await statusesOf(gateway, keys), { personal: 401, stopped: 401, team });
      const ofTeam = await admin.keys.get.query({ id: keys.team.id });
      t.like(ofTeam, { status: "active", stoppedBy: isHandedOver ? null : "owner" });
      t.is(ofTeam.owner?.id, isHandedOver ? undefined : leaver.id);
      t.like(await admin.keys.get.query({ id: keys.personal.id }), { status: "active", stoppedBy: "owner" });

      await admin.users.enable.mutate({ id: leaver.id });
      t.deepEqual(await statusesOf(gateway, keys), { personal: 200, stopped: 401, team: 200 });
    });
  }
}

test("who was disabled before keys stopped keeps them until an administrator stops them", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin, services } = gateway;
  const { leaver, keys } = await createLeaver(gateway);
  await services.database.write(({ users }) =>
    users.update(leaver.id, { status: "disabled", keepKeys: true }),
  );
  t.deepEqual(await statusesOf(gateway, keys), { personal: 200, stopped: 401, team: 200 });
  t.true((await admin.users.get.query({ id: leaver.id })).keepKeys);
  const { stoppedKeys } = await admin.users.disable.mutate({ id: leaver.id, teamKeys: "stop" });
  t.is(stoppedKeys, 2);
  t.deepEqual(await statusesOf(gateway, keys), { personal: 401, stopped: 401, team: 401 });
  await admin.users.enable.mutate({ id: leaver.id });
  const { user } = await admin.users.disable.mutate({ id: leaver.id });
  t.false(user.keepKeys, "only an upgrade keeps keys");
});

test("a re-hired person frees nothing that an administrator blocked", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const { leaver, keys } = await createLeaver(gateway);
  await admin.users.disable.mutate({ id: leaver.id });
  await admin.keys.deactivate.mutate({ id: keys.personal.id });
  await admin.users.enable.mutate({ id: leaver.id });
  t.deepEqual(await statusesOf(gateway, keys), { personal: 401, stopped: 401, team: 200 });
  t.is((await admin.keys.get.query({ id: keys.personal.id })).disabledBy, "admin");
});

test("nobody gets keys of a disabled person", async (t) => {
  const gateway = await startTestGateway(t);
  const { leaver } = await createLeaver(gateway);
  await gateway.admin.users.disable.mutate({ id: leaver.id });
  const creating = gateway.admin.keys.create.mutate({ name: "A key", ownerId: leaver.id });
  t.like(await t.throwsAsync(creating), { data: { code: "BAD_REQUEST", param: "ownerId" } });
});
