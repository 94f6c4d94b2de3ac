import test from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey } from "../helpers/test-gateway.ts";

const rows = procedures.map((procedure) => ({ ...procedure, ...procedureTable[procedure.path] }));

test("every procedure has been decided upon: the table and the router have the same ones", (t) => {
  t.deepEqual(Object.keys(procedureTable).toSorted(), rows.map(({ path }) => path).toSorted());
  for (const { path, takesInput, input } of rows) t.is(takesInput, input !== undefined, path);
});

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  for (const { path, type, access, input } of rows) {
    test(`${kind}: ${path} ${access === "everybody" ? "is for everybody" : "refuses whoever is not signed in"}`, async (t) => {
      const codes = new Set<string | undefined>();
      const forged = `${Buffer.from('{"alg":"none"}').toString("base64url")}.e30.`;
      for (const accessToken of [undefined, "nonsense", forged]) {
        for (const each of [input, undefined, { nonsense: true }]) {
          const answer = await callProcedure(shared(), path, { type, input: each, accessToken });
          codes.add(answer.code);
          if (access === "everybody") t.not(answer.error?.message, "Sign in first.");
        }
      }
      if (access !== "everybody") t.deepEqual([...codes], ["UNAUTHORIZED"]);
    });
  }

  test(`${kind}: a member may do what is for members, and nothing that is for administrators`, async (t) => {
    const member = await addPerson(shared(), "guards@example.com");
    for (const { path, type, access, input } of rows) {
      if (access === "everybody") continue;
      // A key for each, as some procedures end it.
      const { key } = await member.console.keys.create.mutate({ name: "Own" });
      const own = input && "id" in input && path.startsWith("keys.") ? { ...input, id: key.id } : input;
      const answer = await callProcedure(shared(), path, {
        type,
        input: own,
        accessToken: member.accessToken,
      });
      t.is(answer.code, access === "administrators" ? "FORBIDDEN" : undefined, `${path}: ${answer.text}`);
    }
    const models = await shared().admin.models.list.query();
    t.deepEqual(
      models.map(({ slug }) => slug),
      ["demo/echo"],
    );
  });

  for (const { path, type, input } of rows) {
    if (!path.startsWith("keys.") || !input || !("id" in input)) continue;
    test(`${kind}: ${path} gives a member no sign of other people's keys`, async (t) => {
      const member = await addPerson(shared(), `${path.toLowerCase()}@example.com`);
      const foreign = await createKey(shared());
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
}
