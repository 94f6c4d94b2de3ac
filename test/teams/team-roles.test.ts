import test from "ava";
import { addPerson, callProcedure, type Someone } from "../helpers/call-procedure.ts";
import { auditEntries } from "../helpers/audit-entries.ts";
import { spendCent } from "../helpers/priced-gateway.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const shared = shareGateway();

type Role = "lead" | "member" | "stranger";

/** Creates a team with a lead, a member, a stranger, and a key of each kind. */
async function createWorld({ admin, url }: TestGateway) {
  const number = ++count;
  const add = (role: Role) => addPerson({ admin, url }, `${role}${number}@example.com`);
  const people: Record<Role, Awaited<ReturnType<typeof add>>> = {
    lead: await add("lead"),
    member: await add("member"),
    stranger: await add("stranger"),
  };
  const { id: team } = await admin.teams.create.mutate({ name: `Team ${number}` });
  await admin.teams.addMember.mutate({ id: team, userId: people.lead.id, role: "lead" });
  await admin.teams.addMember.mutate({ id: team, userId: people.member.id });
  const keyOf = async (ownerId: string | null, teamId?: string) => {
    const criteria = { name: "A key", models: ["demo/echo"], ownerId, ...(teamId && { teamId }) };
    const { key, value } = await admin.keys.create.mutate(criteria);
    return { id: key.id, value };
  };
  const keys = {
    service: await keyOf(null, team),
    ofMember: await keyOf(people.member.id, team),
    ofLead: await keyOf(people.lead.id, team),
    personal: await keyOf(people.member.id),
  };
  return { team, people, keys };
}

let count = 0;

const typeOf = (path: string) => procedures.find((procedure) => procedure.path === path)?.type ?? "query";

async function codeOf(path: string, input: object, { accessToken }: Someone) {
  return (await callProcedure(shared(), path, { type: typeOf(path), input, accessToken })).code ?? "ok";
}

const aboutKeys = procedures
  .map(({ path }) => path)
  .filter((path) => path.startsWith("keys.") && "id" in (procedureTable[path]?.input ?? {}))
  .filter((path) => path !== "keys.setOwner");

for (const path of aboutKeys) {
  test(`${path}: a lead acts on the team's keys, others on their own`, async (t) => {
    const isForAdministrators = procedureTable[path]?.access === "administrators";
    const allowed: Record<keyof Awaited<ReturnType<typeof createWorld>>["keys"], Role[]> = {
      service: ["lead"],
      ofMember: ["lead", "member"],
      ofLead: ["lead"],
      personal: ["member"],
    };
    for (const [name, roles] of Object.entries(allowed)) {
      for (const role of ["stranger", "member", "lead"] as const) {
        const { keys, people } = await createWorld(shared());
        const { id } = keys[name as keyof typeof keys];
        const code = await codeOf(path, { ...procedureTable[path]?.input, id }, people[role]);
        const expected = isForAdministrators ? "FORBIDDEN" : roles.includes(role) ? "ok" : "NOT_FOUND";
        t.is(code, expected, `${role}, ${name}`);
      }
    }
  });
}

const rights: [path: string, lead: string, member: string, stranger: string][] = [
  ["teams.get", "ok", "ok", "NOT_FOUND"],
  ["teams.people", "ok", "FORBIDDEN", "NOT_FOUND"],
  ["teams.create", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"],
  ["teams.update", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"],
  ["teams.setStatus", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"],
  ["teams.setLimits", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"],
  ["teams.addMember", "ok", "FORBIDDEN", "NOT_FOUND"],
  ["teams.setRole", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"],
  ["teams.removeMember", "ok", "FORBIDDEN", "NOT_FOUND"],
];

for (const [path, ...codes] of rights) {
  test(`${path}: what a lead, a member and a stranger may do`, async (t) => {
    for (const [index, role] of (["lead", "member", "stranger"] as const).entries()) {
      const { team, people } = await createWorld(shared());
      const userId = path === "teams.addMember" ? people.stranger.id : people.member.id;
      const input = {
        ...procedureTable[path]?.input,
        ...("id" in (procedureTable[path]?.input ?? {}) && { id: team }),
        ...("userId" in (procedureTable[path]?.input ?? {}) && { userId }),
      };
      t.is(await codeOf(path, input, people[role]), codes[index] ?? "", role);
    }
  });
}

test("a lead cannot make or remove leads", async (t) => {
  const { team, people } = await createWorld(shared());
  const { console } = people.lead;
  const asLead = { id: team, userId: people.stranger.id, role: "lead" } as const;
  t.like(await t.throwsAsync(console.teams.addMember.mutate(asLead)), { data: { code: "FORBIDDEN" } });
  await shared().admin.teams.addMember.mutate(asLead);
  const removing = console.teams.removeMember.mutate({ id: team, userId: people.stranger.id });
  t.like(await t.throwsAsync(removing), { data: { code: "FORBIDDEN" } });
});

test("the last lead stays while the team has further members", async (t) => {
  const { team, people } = await createWorld(shared());
  const { admin } = shared();
  const last = { id: team, userId: people.lead.id };
  const message = /^lead\S+ is the only lead of the team\. Make another member a lead first\.$/;
  const demoting = admin.teams.setRole.mutate({ ...last, role: "member" });
  await t.throwsAsync(demoting, { message });
  await t.throwsAsync(admin.teams.removeMember.mutate(last), { message });
  await admin.teams.setRole.mutate({ id: team, userId: people.member.id, role: "lead" });
  await admin.teams.removeMember.mutate(last);
  await admin.teams.removeMember.mutate({ id: team, userId: people.member.id });
  t.deepEqual((await admin.teams.get.query({ id: team })).members, []);
});

test("the keys of a member who leaves become service keys and keep working", async (t) => {
  const { team, people, keys } = await createWorld(shared());
  await shared().admin.teams.removeMember.mutate({ id: team, userId: people.member.id });
  t.is((await spendCent(shared(), keys.ofMember.value)).status, 200);
  t.is((await shared().admin.keys.get.query({ id: keys.ofMember.id })).owner, null);
  t.is((await shared().admin.keys.get.query({ id: keys.personal.id })).owner?.id, people.member.id);
  const { items } = await people.member.console.keys.list.query();
  t.deepEqual(
    items.map(({ id }) => id),
    [keys.personal.id],
    "a former member sees personal keys only",
  );
  const entry = (await auditEntries(shared())).find(({ entityId }) => entityId === team);
  t.like(entry, { action: "team.removeMember", details: { handedOver: 1 } });
});

test("who may create keys that a team pays for", async (t) => {
  const { team, people } = await createWorld(shared());
  const { lead, member, stranger } = people;
  const cases: [title: string, by: Someone, ownerId: string | null | undefined, code: string][] = [
    ["a member for itself", member, undefined, "ok"],
    ["a member for another", member, lead.id, "FORBIDDEN"],
    ["a member for the team", member, null, "FORBIDDEN"],
    ["a lead for a member", lead, member.id, "ok"],
    ["a lead for the team", lead, null, "ok"],
    ["a lead for a stranger", lead, stranger.id, "BAD_REQUEST"],
    ["a stranger", stranger, undefined, "NOT_FOUND"],
  ];
  for (const [title, by, ownerId, code] of cases)
    t.is(await codeOf("keys.create", { name: "A key", teamId: team, ownerId }, by), code, title);
  t.is(await codeOf("keys.create", { name: "A key", ownerId: null }, member), "BAD_REQUEST", "nobody pays");
  await shared().admin.teams.setStatus.mutate({ id: team, status: "archived" });
  t.is(await codeOf("keys.create", { name: "A key", teamId: team }, member), "BAD_REQUEST", "archived");
});

test("the owner changes within the team by a lead, elsewhere by an administrator", async (t) => {
  const { people, keys } = await createWorld(shared());
  const { lead, member, stranger } = people;
  const cases: [title: string, key: keyof typeof keys, by: Someone, ownerId: string | null, code: string][] =
    [
      ["a member gives a key away", "ofMember", member, lead.id, "FORBIDDEN"],
      ["a member gives a personal key away", "personal", member, lead.id, "FORBIDDEN"],
      ["a lead hands a key to the team", "ofMember", lead, null, "ok"],
      ["a lead hands a key to a member", "ofMember", lead, member.id, "ok"],
      ["a lead hands a key to a stranger", "ofMember", lead, stranger.id, "BAD_REQUEST"],
      ["a lead takes a personal key", "personal", lead, lead.id, "NOT_FOUND"],
    ];
  for (const [title, key, by, ownerId, code] of cases)
    t.is(await codeOf("keys.setOwner", { id: keys[key].id, ownerId }, by), code, title);
  const { admin } = shared();
  const moved = await admin.keys.setOwner.mutate({ id: keys.personal.id, ownerId: stranger.id });
  t.is(moved.owner?.id, stranger.id);
  const orphaned = admin.keys.setOwner.mutate({ id: keys.personal.id, ownerId: null });
  t.like(await t.throwsAsync(orphaned), { data: { code: "BAD_REQUEST", param: "ownerId" } });
});

test("an owner cannot activate what a lead deactivated, nor a lead what an administrator did", async (t) => {
  const { people, keys } = await createWorld(shared());
  const { lead, member } = people;
  const { id } = keys.ofMember;
  await lead.console.keys.deactivate.mutate({ id });
  await member.console.keys.deactivate.mutate({ id });
  t.is((await lead.console.keys.get.query({ id })).disabledBy, "lead");
  t.is(await codeOf("keys.activate", { id }, member), "FORBIDDEN");
  t.is(await codeOf("keys.activate", { id }, lead), "ok");
  await shared().admin.keys.deactivate.mutate({ id });
  await lead.console.keys.deactivate.mutate({ id });
  for (const by of [member, lead]) t.is(await codeOf("keys.activate", { id }, by), "FORBIDDEN");
  t.is((await shared().admin.keys.activate.mutate({ id })).status, "active");
});

test("a member of another team is no member here", async (t) => {
  const [one, other] = [await createWorld(shared()), await createWorld(shared())];
  const { admin } = shared();
  const foreign = { id: one.team, userId: other.people.member.id };
  for (const change of [
    one.people.lead.console.teams.removeMember.mutate(foreign),
    admin.teams.removeMember.mutate(foreign),
    admin.teams.setRole.mutate({ ...foreign, role: "lead" }),
  ])
    t.like(await t.throwsAsync(change), { data: { code: "NOT_FOUND", param: "userId" } });
  const { id } = other.keys.ofMember;
  t.is(await codeOf("keys.setOwner", { id, ownerId: null }, one.people.lead), "NOT_FOUND");
  t.is((await admin.teams.get.query({ id: other.team })).memberCount, 2);
});

test("two teams cannot have one name", async (t) => {
  const { admin } = shared();
  const { id } = await admin.teams.create.mutate({ name: "Unique" });
  const again = await t.throwsAsync(admin.teams.create.mutate({ name: "Unique" }));
  t.like(again, { data: { code: "CONFLICT", param: "name" } });
  const { id: other } = await admin.teams.create.mutate({ name: "Other" });
  const renaming = admin.teams.update.mutate({ id: other, name: "Unique" });
  t.like(await t.throwsAsync(renaming), { data: { code: "CONFLICT", param: "name" } });
  t.is((await admin.teams.update.mutate({ id, name: "Renamed team" })).name, "Renamed team");
});

test("teams are listed for their members, searched and paged", async (t) => {
  const gateway = await startTestGateway(t);
  const { admin } = gateway;
  const grace = await addPerson(gateway, "grace@example.com");
  const ids: string[] = [];
  for (const name of ["Ads", "Search", "Maps"]) ids.push((await admin.teams.create.mutate({ name })).id);
  const [ads = "", search = ""] = ids;
  await admin.teams.addMember.mutate({ id: ads, userId: grace.id, role: "lead" });
  await admin.teams.addMember.mutate({ id: search, userId: grace.id });
  const names = async (list: Promise<{ items: { name: string }[] }>) =>
    (await list).items.map(({ name }) => name);

  t.deepEqual(await names(admin.teams.list.query()), ["Maps", "Search", "Ads"]);
  t.deepEqual(await names(grace.console.teams.list.query()), ["Search", "Ads"]);
  t.deepEqual(await names(admin.teams.list.query({ search: "sea" })), ["Search"]);
  const first = await grace.console.teams.list.query({ limit: 1 });
  t.deepEqual(
    first.items.map(({ role, memberCount }) => [role, memberCount]),
    [["member", 1]],
  );
  const next = await grace.console.teams.list.query({ limit: 1, cursor: first.nextCursor });
  t.deepEqual(
    next.items.map(({ name, role }) => [name, role]),
    [["Ads", "lead"]],
  );
  t.is(next.nextCursor, null);
  await admin.teams.setStatus.mutate({ id: ads, status: "archived" });
  t.deepEqual(await names(admin.teams.list.query({ status: "archived" })), ["Ads"]);
});
