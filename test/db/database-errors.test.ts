import { once } from "node:events";
import { createServer } from "node:net";
import test from "ava";
import { Database } from "../../db/database.ts";
import { DatabaseUnavailableError, DuplicateError, StillReferencedError } from "../../db/database-errors.ts";
import { freePort } from "../helpers/free-port.ts";
import { modelRow, openTestDatabase, providerRow, userRow } from "../helpers/open-test-database.ts";
import { allDatabaseKinds, serverKinds } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: a duplicate unique value throws a DuplicateError`, async (t) => {
    const database = await openTestDatabase(t, kind);
    await database.write(({ users }) => users.insert(userRow("usr_1", { email: "ada@example.com" })));

    const sameEmail = userRow("usr_2", { email: "ada@example.com" });
    await t.throwsAsync(
      database.write(({ users }) => users.insert(sameEmail)),
      { instanceOf: DuplicateError },
    );
    const sameId = userRow("usr_1");
    await t.throwsAsync(
      database.write(({ users }) => users.insert(sameId)),
      { instanceOf: DuplicateError },
    );
  });

  test(`${kind}: a dangling reference throws a StillReferencedError`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const model = modelRow("mdl_1", "prv_1");
    const orphan = database.write(({ models }) => models.insert(model));
    await t.throwsAsync(orphan, { instanceOf: StillReferencedError });

    await database.write(async ({ providers, models }) => {
      await providers.insert(providerRow("prv_1"));
      await models.insert(model);
    });
    const deletion = database.write(({ providers }) => providers.delete("prv_1"));
    await t.throwsAsync(deletion, { instanceOf: StillReferencedError });
    t.not(await database.read(({ providers }) => providers.find("prv_1")), null);
  });

  test(`${kind}: a timeout throws a DatabaseUnavailableError and spares later work`, async (t) => {
    const database = await openTestDatabase(t, kind, { operationTimeoutMs: 300 });
    const end = Promise.withResolvers<void>();

    const writing = database.write(() => end.promise);
    await t.throwsAsync(writing, { instanceOf: DatabaseUnavailableError, message: /within 300 ms/ });

    end.resolve();
    await database.write(({ users }) => users.insert(userRow("usr_1")));
    t.is(await database.read(({ users }) => users.count()), 1);
  });

  test(`${kind}: an error of the callback is rethrown unchanged`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const mistake = new TypeError("a mistake");
    const thrown = await t.throwsAsync(database.write(() => Promise.reject(mistake)));
    t.is(thrown, mistake);
  });
}

for (const kind of serverKinds) {
  test(`${kind}: two deadlocked transactions both commit, one of them by a retry`, async (t) => {
    const database = await openTestDatabase(t, kind);
    await database.write(async ({ users }) => {
      await users.insert(userRow("usr_1"));
      await users.insert(userRow("usr_2"));
    });
    const locked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;

    const change = (first: string, second: string, own: number, hash: string) =>
      database.write(async ({ users }) => {
        attempts++;
        await users.update(first, { passwordHash: hash });
        // Each transaction locks its first row before either requests its second.
        locked[own]?.resolve();
        await locked[1 - own]?.promise;
        await users.update(second, { passwordHash: hash });
      });
    await Promise.all([change("usr_1", "usr_2", 0, "a"), change("usr_2", "usr_1", 1, "b")]);

    t.is(attempts, 3);
    const [one, two] = await database.read(async ({ users }) => [
      await users.find("usr_1"),
      await users.find("usr_2"),
    ]);
    t.is(one?.passwordHash, two?.passwordHash);
  });
}

const limits = { connectionsMax: 2, connectTimeoutMs: 200, operationTimeoutMs: 200 };

test("a server that never answers throws a DatabaseUnavailableError", async (t) => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.teardown(() => silent.close());
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : undefined;

  const opening = Database.open(`mysql://root:hidden-word@127.0.0.1:${port}/gateway`, limits);

  const error = await t.throwsAsync(opening, { instanceOf: DatabaseUnavailableError });
  t.false(error?.message.includes("hidden-word"));
});

test("an unreachable server throws a DatabaseUnavailableError", async (t) => {
  const opening = Database.open(`mysql://root:hidden-word@127.0.0.1:${await freePort()}/gateway`, limits);

  await t.throwsAsync(opening, { instanceOf: DatabaseUnavailableError, message: /ECONNREFUSED/ });
});
