import { readFileSync } from "node:fs";
import test from "ava";
import { actionsOf, can, requirePermission } from "../../gateway/auth/permissions.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { sourcePaths } from "../helpers/source-tree.ts";
import { administrator, createConsoleClient, startTestGateway } from "../helpers/test-gateway.ts";
import { addPerson } from "../helpers/call-procedure.ts";

const [admin, member] = [{ role: "admin" }, { role: "member" }] as const;
const all = actionsOf(admin);

test("every procedure for signed-in people has a rule, and every rule is of use", (t) => {
  const guarded = procedures.map(({ path }) => path).filter((path) => !isPublic(path));
  const others = ["keys.ofOthers", "keys.overrule", "budgets.ofGateway", "credentials.ofRequests"];
  t.deepEqual(all.toSorted(), [...guarded, ...others].toSorted());
});

test("the rules and the access table agree", (t) => {
  for (const action of all) {
    const { access = "administrators" } = procedureTable[action] ?? {};
    t.is(can(member, action), access === "members", action);
  }
});

test("an action without a rule is a fault, whoever acts", (t) => {
  for (const path of ["keys.absent", "auth.state", "toString", "__proto__"]) {
    t.throws(() => requirePermission(admin, path), { message: /has no rule/ });
  }
  t.throws(() => requirePermission(member, "users.list"), { code: "forbidden" });
});

test("the console learns what the user may do, and loses it with the role", async (t) => {
  const gateway = await startTestGateway(t);
  const { email, password } = administrator;
  const { user } = await createConsoleClient(gateway.url).auth.signIn.mutate({ email, password });
  t.deepEqual(user.actions, all);
  const person = await addPerson(gateway, "second@example.com", "admin");
  t.deepEqual((await person.console.auth.me.query()).actions, all);
  await gateway.admin.users.setRole.mutate({ id: person.id, role: "member" });
  t.deepEqual((await person.console.auth.me.query()).actions, actionsOf(member));
});

test("no file but the rules compares roles", (t) => {
  const comparing = ["gateway", "console/src"]
    .flatMap((folder) => sourcePaths(".", folder))
    .filter((file) => /\brole [!=]== "(admin|member)"/.test(readFileSync(file, "utf8")));
  t.deepEqual(comparing, []);
});

function isPublic(path: string): boolean {
  return procedureTable[path]?.access === "everybody";
}
