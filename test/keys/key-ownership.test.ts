import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { createKey } from "../helpers/test-gateway.ts";

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });

  test(`${kind}: a member sees only their own keys in lists, searches and pages`, async (t) => {
    const [bob, eve] = [
      await addPerson(shared(), "bob@example.com"),
      await addPerson(shared(), "eve@example.com"),
    ];
    const bobs = await bob.console.keys.create.mutate({ name: "Bob's" });
    const eves = await eve.console.keys.create.mutate({ name: "Eve's" });
    await createKey(shared());

    for (const query of [{}, { search: "'s" }, { status: "active" as const }, { cursor: "key_z" }]) {
      const { items } = await bob.console.keys.list.query(query);
      t.deepEqual(
        items.map(({ id }) => id),
        [bobs.key.id],
      );
    }
    t.deepEqual(bobs.key.owner, { id: bob.id, name: "bob@example.com" });
    t.is((await bob.console.keys.list.query({ cursor: eves.key.id, search: "Eve" })).items.length, 0);
  });

  test(`${kind}: an administrator sees and manages all keys`, async (t) => {
    const { admin } = shared();
    const member = await addPerson(shared(), "carl@example.com");
    const { key } = await member.console.keys.create.mutate({ name: "Carl's" });

    t.deepEqual((await admin.keys.list.query({ search: "carl's" })).items[0]?.owner, {
      id: member.id,
      name: "carl@example.com",
    });
    const stopped = await admin.keys.deactivate.mutate({ id: key.id });
    t.is(stopped.owner?.id, member.id, "a key stays its owner's");
    t.is((await member.console.keys.get.query({ id: key.id })).status, "disabled");
  });

  test(`${kind}: a member manages their own key from creation to deletion`, async (t) => {
    const { console } = await addPerson(shared(), "dora@example.com");
    const { keys } = console;
    const { key } = await keys.create.mutate({ name: "Dora's", models: ["demo/echo"] });
    const { id } = key;

    t.is((await keys.rename.mutate({ id, name: "Dora's own" })).name, "Dora's own");
    t.deepEqual((await keys.setModels.mutate({ id, models: [] })).models, []);
    t.is((await keys.deactivate.mutate({ id })).status, "disabled");
    t.is((await keys.activate.mutate({ id })).status, "active");
    t.is((await keys.rotate.mutate({ id })).key.id, id);
    await keys.delete.mutate({ id });
    t.deepEqual((await keys.list.query()).items, []);
  });
}
