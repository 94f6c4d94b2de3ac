import serialTest from "ava";
import { Browser } from "../helpers/browser.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { linkToken } from "../helpers/link-token.ts";
import { lockingKinds } from "../helpers/test-database.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey, type TestGateway } from "../helpers/test-gateway.ts";

for (const kind of lockingKinds) {
  const shared = shareGateway({ kind });
  // Tests are serial, because some tests replace `database.write` of the shared gateway.
  const test = serialTest.serial;
  for (const what of ["a new password by a link", "being disabled"]) {
    test(`${kind}: ${what} ends a session started concurrently with the old password`, async (t) => {
      const { gateway, person, token } = await createLink(shared());
      const [thief, victim] = [new Browser(gateway), new Browser(gateway)];
      const { database } = gateway.services;
      const write = database.write.bind(database);
      let signingIn: Promise<unknown> = Promise.resolve();
      database.write = (work) =>
        write(async (repositories) => {
          const { sessions } = repositories;
          const deleteOf = sessions.deleteOf.bind(sessions);
          sessions.deleteOf = async (id) => {
            const count = await deleteOf(id);
            signingIn = thief.signIn(person.email, person.password);
            // The sign-in may wait until this transaction ends, so the hook waits at most 200 ms for the sign-in.
            await Promise.race([signingIn, new Promise((resolve) => setTimeout(resolve, 200))]);
            return count;
          };
          return work(repositories);
        });
      if (what === "being disabled") {
        await gateway.admin.users.disable.mutate({ id: person.id });
        await signingIn;
        await gateway.admin.users.enable.mutate({ id: person.id });
      } else {
        const input = { token, name: "P", password: "a new password" };
        t.is((await victim.call("auth.join", { input })).status, 200);
        await signingIn;
      }
      database.write = write;
      t.is(await thief.messageOf(), "UNAUTHORIZED");
    });
  }

  // In SQLite, the write of `auth.join` would wait for the outer write to end.
  const testThere = kind === "sqlite" ? () => {} : test;
  testThere(`${kind}: a link used during a password change takes precedence`, async (t) => {
    const { gateway, person, token } = await createLink(shared());
    const [thief, victim] = [new Browser(gateway), new Browser(gateway)];
    await thief.signIn(person.email, person.password);
    const { database } = gateway.services;
    const write = database.write.bind(database);
    database.write = (work) =>
      write((repositories) => {
        const { users } = repositories;
        const replacePassword = users.replacePassword.bind(users);
        users.replacePassword = async (...change) => {
          const input = { token, name: "P", password: "a new password" };
          t.is((await victim.call("auth.join", { input })).status, 200);
          return replacePassword(...change);
        };
        return work(repositories);
      });
    const input = { currentPassword: person.password, newPassword: "the thief's password" };
    t.is((await thief.call("auth.changePassword", { input })).code, "FORBIDDEN");
    database.write = write;
    t.is(await victim.messageOf(), "OK");
  });

  test(`${kind}: changing the password invalidates an earlier link`, async (t) => {
    const { gateway, person, token } = await createLink(shared());
    const { password: currentPassword } = person;
    await person.console.auth.changePassword.mutate({ currentPassword, newPassword: "a new password" });
    const input = { token, name: "P", password: "the thief's password" };
    t.is((await callProcedure(gateway, "auth.join", { input })).code, "NOT_FOUND");
  });

  test(`${kind}: of links created at once for a person, the last one is valid`, async (t) => {
    const { gateway, person } = await createLink(shared());
    const { users } = gateway.admin;
    for (let round = 0; round < 10; round++) {
      const made = await Promise.all([1, 2, 3].map(() => users.resetPassword.mutate({ id: person.id })));
      t.is(new Set(made.map(({ link }) => link)).size, 3);
    }
  });

  test(`${kind}: of two simultaneous deletions of a key, one reports it missing`, async (t) => {
    const gateway = shared();
    for (let round = 0; round < 5; round++) {
      const { id } = await createKey(gateway);
      const outcomes = await Promise.allSettled([1, 2].map(() => gateway.admin.keys.delete.mutate({ id })));
      t.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      const { items } = await gateway.admin.audit.list.query({ entityId: id, action: "key.delete" });
      t.is(items.length, 1);
    }
  });

  test(`${kind}: a model deleted while a key is created with it is unknown`, async (t) => {
    const gateway = shared();
    const { admin } = gateway;
    const { id: providerId } = await admin.providers.create.mutate({ name: "other", kind: "demo" });
    const codes = new Set<string>();
    for (let round = 0; round < 10; round++) {
      const slug = `other/${round}`;
      await admin.models.create.mutate({ slug, providerId });
      const making = [1, 2, 3].map(() => admin.keys.create.mutate({ name: "K", models: [slug] }));
      for (const outcome of await Promise.allSettled([admin.models.delete.mutate({ slug }), ...making]))
        if (outcome.status === "rejected")
          codes.add((outcome.reason as { data: { code: string } }).data.code);
    }
    t.true(
      [...codes].every((code) => code === "BAD_REQUEST"),
      [...codes].join(),
    );
  });
}

async function createLink(gateway: TestGateway) {
  const person = await addPerson(gateway, `p${(personCount += 1)}@example.com`);
  const { link } = await gateway.admin.users.resetPassword.mutate({ id: person.id });
  return { gateway, person, token: linkToken(link) };
}
let personCount = 0;
