import test from "ava";
import { databaseKinds } from "../helpers/test-database.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createKey } from "../helpers/test-gateway.ts";

// Databases accept, reject or convert these values differently.
for (const kind of databaseKinds) {
  const shared = shareGateway({ kind });
  test(`${kind}: an id with a trailing space is unknown and changes nothing`, async (t) => {
    const gateway = shared();
    const { keys, users, auth } = gateway.admin;
    const { id } = await createKey(gateway);
    const { id: ownerId } = await auth.me.query();
    const padded = `${id} `;
    for (const call of [
      () => keys.deactivate.mutate({ id: padded }),
      () => keys.delete.mutate({ id: padded }),
      () => keys.rotate.mutate({ id: padded }),
      () => keys.setModels.mutate({ id: padded, models: [] }),
      () => keys.create.mutate({ name: "K", ownerId: `${ownerId} ` }),
      () => users.get.query({ id: `${ownerId} ` }),
    ])
      await t.throwsAsync(call, { message: /The ID is empty or contains spaces/ });
    t.like(await keys.get.query({ id }), { status: "active", revision: 1 });
  });

  test(`${kind}: a key cannot expire after the last supported year`, async (t) => {
    const { keys } = shared().admin;
    const create = (expiresAt: string) => keys.create.mutate({ name: "K", expiresAt });
    t.is((await create("9999-12-31T23:59:59Z")).key.expiresAt, "9999-12-31T23:59:59.000Z");
    await t.throwsAsync(create("9999-12-31T23:59:59-05:00"), { message: /after the year 9999/ });
  });

  test(`${kind}: a name with a lone surrogate is rejected`, async (t) => {
    const gateway = shared();
    const { auth, keys, models, providers } = gateway.admin;
    const { id } = await createKey(gateway);
    const { id: providerId } = await providers.create.mutate({ name: "other", kind: "demo" });
    const name = "half \ud83d";
    for (const call of [
      () => auth.rename.mutate({ name }),
      () => keys.rename.mutate({ id, name }),
      () => models.create.mutate({ slug: "other/x", providerId, upstreamModel: name }),
    ])
      await t.throwsAsync(call, { message: /a lone surrogate/ });
    t.is((await keys.rename.mutate({ id, name: "whole 👋" })).name, "whole 👋");
  });
}
