import test from "ava";
import { makeEntity } from "../helpers/make-entity.ts";
import { auditEntries } from "../helpers/audit-entries.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { lockingKinds } from "../helpers/test-database.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";

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
