import test from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createConsoleClient } from "../helpers/test-gateway.ts";

const rows = procedures.map((procedure) => ({ ...procedure, ...procedureTable[procedure.path] }));

test("the access table and the router list the same procedures", (t) => {
  t.deepEqual(Object.keys(procedureTable).toSorted(), rows.map(({ path }) => path).toSorted());
  for (const { path, takesInput, input } of rows) t.is(takesInput, input !== undefined, path);
});

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  let member: Awaited<ReturnType<typeof addPerson>>;
  /** A disabled person whose access token is still valid for minutes. */
  let disabled: Awaited<ReturnType<typeof addPerson>>;
  test.serial.before(async () => {
    member = await addPerson(shared(), "member@example.com");
    disabled = await addPerson(shared(), "disabled@example.com");
    await shared().admin.users.disable.mutate({ id: disabled.id });
  });

  /** Creates a person with the table's password under a new address. */
  const addGuard = async () => {
    const guard = await addPerson(shared(), "guards@example.com");
    const email = `${guard.id}@example.com`;
    await shared().services.database.write(({ users }) => users.update(guard.id, { email }));
    return guard;
  };

  for (const { path, type, access, input } of rows) {
    test.serial(
      `${kind}: ${path} ${access === "everybody" ? "is public" : "requires a sign-in"}`,
      async (t) => {
        const codes = new Set<string | undefined>();
        const forged = `${Buffer.from('{"alg":"none"}').toString("base64url")}.e30.`;
        for (const accessToken of [undefined, "nonsense", forged, disabled.accessToken]) {
          for (const each of [input, undefined, { nonsense: true }]) {
            const answer = await callProcedure(shared(), path, { type, input: each, accessToken });
            codes.add(answer.code);
            if (access === "everybody") t.not(answer.error?.message, "Sign in first.");
          }
        }
        if (access !== "everybody") t.deepEqual([...codes], ["UNAUTHORIZED"]);
      },
    );

    if (access === "everybody") continue;
    const isForAdministrators = access === "administrators";

    test.serial(
      `${kind}: ${path} ${isForAdministrators ? "refuses members" : "accepts members"}`,
      async (t) => {
        // Procedures of `auth` need the table's password or end the person's sessions.
        const { accessToken } = path.startsWith("auth.") ? await addGuard() : member;
        // The response is the same whether the entity exists or not.
        const entity = input && "id" in input ? await makeEntity(shared().admin, path) : {};
        const isAboutKey = path.startsWith("keys.") && input && "id" in input;
        const own = isAboutKey ? await makeEntity(member.console, path) : {};
        const inputs = isForAdministrators ? [input, { ...input, ...entity }] : [{ ...input, ...own }];
        for (const each of inputs) {
          const answer = await callProcedure(shared(), path, { type, input: input && each, accessToken });
          t.is(answer.code, isForAdministrators ? "FORBIDDEN" : undefined, answer.text);
        }
      },
    );

    if (!input || !("id" in input)) continue;

    test.serial(
      `${kind}: ${path} finds any owner's entity for an administrator, unknown ids fail`,
      async (t) => {
        const makers = path.startsWith("keys.") ? [shared().admin, member.console] : [shared().admin];
        const call = async (ids: object) => {
          const accessToken = shared().accessToken;
          return callProcedure(shared(), path, { type, input: { ...input, ...ids }, accessToken });
        };
        for (const maker of makers) {
          const answer = await call(await makeEntity(maker, path));
          t.is(answer.code, undefined, answer.text);
        }
        const absent = await call({ id: "xyz_00000000000000000000000000" });
        t.like(absent.error?.data, { code: "NOT_FOUND", param: "id" }, absent.text);
      },
    );

    if (!path.startsWith("keys.") || access === "administrators") continue;

    test.serial(`${kind}: ${path} reveals nothing about other people's keys to a member`, async (t) => {
      const foreign = await makeEntity(shared().admin, path);
      const before = await shared().admin.keys.get.query({ id: foreign.id });
      const call = async (id: string) => {
        const options = { type, input: { ...input, id }, accessToken: member.accessToken };
        const { status, error } = await callProcedure(shared(), path, options);
        return { status, ...error, data: { ...error?.data, requestId: null } };
      };

      const answers = [await call(foreign.id), await call("key_00000000000000000000000000")];

      t.like(answers[0], { status: 404, data: { code: "NOT_FOUND", param: "id" } });
      t.deepEqual(answers[0], answers[1]);
      t.deepEqual(await shared().admin.keys.get.query({ id: foreign.id }), before, "nothing has changed");
    });
  }

  test.serial(`${kind}: a role change applies from the next request`, async (t) => {
    const person = await addPerson(shared(), "changing@example.com", "admin");
    const { id, accessToken } = person;
    const console = createConsoleClient(shared().url, accessToken);
    t.true((await console.users.list.query()).items.length > 1);
    await shared().admin.users.setRole.mutate({ id, role: "member" });
    t.like(await t.throwsAsync(console.users.list.query()), { data: { code: "FORBIDDEN" } });
    t.deepEqual((await console.keys.list.query()).items, []);
    await shared().admin.users.setRole.mutate({ id, role: "admin" });
    await t.notThrowsAsync(console.users.list.query());
  });
}
