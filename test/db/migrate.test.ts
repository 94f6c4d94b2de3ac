import test from "ava";
import { migrations } from "../../db/migrations/migrations.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { createTestDatabase, allDatabaseKinds } from "../helpers/test-database.ts";
import { createTestFolder } from "../helpers/test-folder.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: of processes that start together one migrates, and all start`, async (t) => {
    const environment = {
      DATA_DIR: await createTestFolder(t),
      DATABASE_URL: await createTestDatabase(t, kind),
    };
    const processes = Array.from({ length: 4 }, () => startGatewayProcess(t, environment, "migrate"));

    for (const each of processes) t.is(await each.exited, 0, each.stderr());

    const said = processes.map((each) => each.stdout());
    const ran = `Ran ${migrations.map((Migration) => new Migration().name).join(", ")}.\n`;
    t.is(said.filter((text) => text === ran).length, 1, said.join(""));
    t.is(said.filter((text) => text === "The database schema is up to date.\n").length, 3, said.join(""));
  });
}
