import test from "ava";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { makeEntity } from "../helpers/make-entity.ts";
import { postTo } from "../helpers/post-chat.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds, lockingKinds } from "../helpers/test-database.ts";
import { createConsoleClient, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";
import { auditEntries } from "../helpers/audit-entries.ts";

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
        const isAboutOne = (things: string) => path.startsWith(things) && input && "id" in input;
        const own = isAboutOne("keys.")
          ? await makeEntity(member.console, path)
          : isAboutOne("teams.")
            ? await makeEntity(shared().admin, path, member.id)
            : path === "limits.get" && { holder: member.id };
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
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "15000" } });
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

type Edit = (id: string, revision: number | undefined, round: number) => Promise<{ revision: number }>;

/** Mutations that accept a revision, each with the query of its entity. */
const edits: Record<
  string,
  (gateway: TestGateway) => { edit: Edit; get: (id: string) => Promise<object | undefined> }
> = {
  "keys.rename": ({ admin: { keys } }) => ({
    edit: (id, revision, round) => keys.rename.mutate({ id, revision, name: `Name ${round}` }),
    get: (id) => keys.get.query({ id }),
  }),
  "keys.setModels": ({ admin: { keys } }) => ({
    edit: (id, revision, round) =>
      keys.setModels.mutate({ id, revision, models: round % 2 === 0 ? ["demo/echo"] : [] }),
    get: (id) => keys.get.query({ id }),
  }),
  "keys.setLimits": ({ admin: { keys } }) => ({
    edit: (id, revision, round) =>
      keys.setLimits.mutate({ id, revision, limits: { requestsPerMinute: round + 1 } }),
    get: (id) => keys.get.query({ id }),
  }),
  "models.update": ({ admin: { models } }) => ({
    edit: (id, revision, round) => models.update.mutate({ id, revision, contextWindow: round + 1 }),
    get: (id) => models.get.query({ id }),
  }),
  "providers.update": ({ admin: { providers } }) => ({
    edit: (id, revision, round) =>
      providers.update.mutate({ id, revision, timeouts: { idleTimeoutMs: round + 1 } }),
    get: async (id) => (await providers.list.query()).find((provider) => provider.id === id),
  }),
};

for (const kind of lockingKinds) {
  const shared = shareGateway({ kind });

  for (const [path, prepare] of Object.entries(edits)) {
    test.serial(`${kind}: ${path} with an old revision is a conflict and changes nothing`, async (t) => {
      const { edit, get } = prepare(shared());
      const { id } = await makeEntity(shared().admin, path);
      t.like(await get(id), { revision: 1 });
      t.is((await edit(id, 1, 1)).revision, 2);
      const [before, entries] = [await get(id), await auditEntries(shared())];

      const error = await t.throwsAsync(edit(id, 1, 2), { message: /^Another user changed the/ });

      t.like(error, { data: { code: "CONFLICT", httpStatus: 409, param: "revision", currentRevision: 2 } });
      t.deepEqual(await get(id), before);
      t.deepEqual(await auditEntries(shared()), entries);
      t.is((await edit(id, 2, 3)).revision, 3);
      t.is((await edit(id, undefined, 4)).revision, 4, "who names none, wins");
    });

    test.serial(
      `${kind}: ${path}: of ten simultaneous edits of a revision exactly one succeeds`,
      async (t) => {
        const { edit, get } = prepare(shared());
        const { id } = await makeEntity(shared().admin, path);
        const results = await Promise.allSettled(
          Array.from({ length: 10 }, (_, round) => edit(id, 1, round)),
        );
        t.is(results.filter(({ status }) => status === "fulfilled").length, 1);
        for (const result of results) {
          if (result.status === "rejected") t.like(result.reason, { data: { currentRevision: 2 } });
        }
        t.like(await get(id), { revision: 2 });
      },
    );
  }

  test.serial(`${kind}: every change to a key increments its revision, its use does not`, async (t) => {
    const { keys } = shared().admin;
    const { id } = (await keys.create.mutate({ name: "Counted" })).key;
    t.is((await keys.deactivate.mutate({ id })).revision, 2);
    t.is((await keys.activate.mutate({ id })).revision, 3);
    t.is((await keys.rotate.mutate({ id })).key.revision, 4);
    shared().services.lastUsed.note(id, Date.now());
    await shared().services.lastUsed.flush();
    t.like(await keys.get.query({ id }), { revision: 4 });
    t.not((await keys.get.query({ id })).lastUsedAt, null);
  });

  test.serial(`${kind}: a change to a credential increments its provider's revision`, async (t) => {
    const { providers } = shared().admin;
    const { id } = await makeEntity(shared().admin, "providers.update");
    const two = await providers.addCredential.mutate({ id, apiKey: "another-secret" });
    t.is(two.revision, 2);
    const credentialId = two.credentials[1]?.id ?? "";
    t.is((await providers.updateCredential.mutate({ id, credentialId, weight: 2 })).revision, 3);
    t.is((await providers.removeCredential.mutate({ id, credentialId })).revision, 4);
  });
}
