import test from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { postTo } from "../helpers/post-chat.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createConsoleClient, startTestGateway } from "../helpers/test-gateway.ts";

const rows = procedures.map((procedure) => ({ ...procedure, ...procedureTable[procedure.path] }));

test("the access table and the router list the same procedures", (t) => {
  t.deepEqual(Object.keys(procedureTable).toSorted(), rows.map(({ path }) => path).toSorted());
  for (const { path, takesInput, input } of rows) t.is(takesInput, input !== undefined, path);
});

for (const [place, kind] of databaseKinds.entries()) {
  const shared = shareGateway({ kind });

  let member: Awaited<ReturnType<typeof addPerson>>;
  /** A disabled person whose access token has not expired. */
  let disabled: Awaited<ReturnType<typeof addPerson>>;
  test.serial.before(async () => {
    member = await addPerson(shared(), "member@example.com");
    disabled = await addPerson(shared(), "disabled@example.com");
    await shared().admin.users.disable.mutate({ id: disabled.id });
  });

  /** Creates a person with the password in `procedureTable` and a unique email address. */
  const addGuard = async () => {
    const guard = await addPerson(shared(), "guards@example.com");
    const email = `${guard.id}@example.com`;
    await shared().services.database.write(({ users }) => users.update(guard.id, { email }));
    return guard;
  };

  for (const { path, type, access, input } of rows) {
    // Below full scale, this runs on one database, because no database decides whether a call needs a sign-in.
    if (isFull || place === 0) {
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
    }

    if (access === "everybody") continue;
    const isForAdministrators = access === "administrators";

    test.serial(
      `${kind}: ${path} ${isForAdministrators ? "refuses members" : "accepts members"}`,
      async (t) => {
        // Some `auth` procedures need the password in `procedureTable` or end sessions, so each test adds a person.
        const { accessToken } = path.startsWith("auth.") ? await addGuard() : member;
        // A member receives the same error whether or not the entity exists.
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

const gateway = shareGateway();
const textOf = (bytes: number) => JSON.stringify({ name: "x".repeat(bytes) });

const cases: [title: string, path: string, isSignedIn: boolean, bytes: number, isTooLarge: boolean][] = [
  ["16 KB of a stranger", "auth.signIn", false, 17_000, true],
  ["less of a stranger", "auth.signIn", false, 15_000, false],
  ["16 KB to auth from a signed-in person", "auth.rename", true, 17_000, true],
  ["16 KB in a batch with auth", "keys.create,auth.rename?batch=1", true, 17_000, true],
  ["100 KB from a signed-in person", "keys.create", true, 100_000, false],
  ["1 MB from a signed-in person", "keys.create", true, 1_050_000, true],
];

for (const [title, path, isSignedIn, bytes, isTooLarge] of cases) {
  test(`${title} ${isTooLarge ? "is too large" : "is read"}`, async (t) => {
    const headers: Record<string, string> = isSignedIn
      ? { authorization: `Bearer ${gateway().accessToken}` }
      : {};
    const answer = await postTo(gateway(), `/trpc/${path}`, headers, textOf(bytes));
    t.is(answer.status === 413, isTooLarge, answer.text);
    t.is(answer.text.includes("PAYLOAD_TOO_LARGE"), isTooLarge);
  });
}

test("a forged token counts as missing", async (t) => {
  const headers = { authorization: `Bearer ${gateway().accessToken.slice(0, -4)}AAAA` };
  const answer = await postTo(gateway(), "/trpc/keys.create", headers, textOf(17_000));
  t.is(answer.status, 413);
});

/** These procedures clear a cookie, reject a missing cookie, or compare a computed token. */
const withoutDatabase = ["auth.refresh", "auth.signOut", "auth.setUpToken"];

test("without a database every procedure reports it, with a retry time", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "4000" } });
  const { accessToken, services } = gateway;
  const thaw = Promise.withResolvers<void>();
  services.database.read(() => thaw.promise).catch(() => {});

  const answers = await Promise.all(
    procedures
      .filter(({ path }) => !withoutDatabase.includes(path))
      .map(async ({ path, type }) => {
        const token = services.accounts.setUpToken;
        const usual = procedureTable[path]?.input;
        const input = path === "auth.setUp" ? { ...usual, token } : usual;
        return { path, answer: await callProcedure(gateway, path, { type, input, accessToken }) };
      }),
  );
  thaw.resolve();

  for (const { path, answer } of answers) {
    t.is(answer.status, 503, `${path}: ${answer.text}`);
    t.like(answer.error?.data, { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 }, path);
    t.regex(answer.error?.data.requestId ?? "", /^req_[0-9a-z]{26}$/, path);
    t.is(answer.error?.data.requestId, answer.headers["x-request-id"] as string, path);
    t.is(answer.error?.message, "The gateway cannot reach its database. Retry in a moment.");
  }
  t.true((await gateway.admin.keys.list.query()).items.length > 0, "after it");
});
