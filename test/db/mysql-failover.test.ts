import { setTimeout as wait } from "node:timers/promises";
import mysql from "mysql2/promise";
import test, { type ExecutionContext } from "ava";
import { Database, type DatabaseLimits } from "../../db/database.ts";
import { DatabaseUnavailableError } from "../../db/database-errors.ts";
import { eventually, hangMs, succeeds } from "../helpers/eventually.ts";
import { openDatabaseAt, userRow } from "../helpers/open-test-database.ts";
import { type OwnServer, ownServers, startOwnServer } from "../helpers/own-server.ts";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { sharedByFile } from "../helpers/shared-by-file.ts";
import { startTcpProxy } from "../helpers/tcp-proxy.ts";
import { createKey, startTestGateway, usageOf } from "../helpers/test-gateway.ts";
import { skipUnless } from "../helpers/skip-unless.ts";

/** Creates an empty database behind a proxy, for a user with rights only on this database. */
async function setUp(t: ExecutionContext, server: OwnServer) {
  const root = await mysql.createConnection({ uri: server.url, connectTimeout: hangMs });
  t.teardown(() => root.end().catch(() => {}));
  await root.query("DROP DATABASE IF EXISTS gateway");
  await root.query("CREATE DATABASE gateway");
  await root.query("CREATE USER IF NOT EXISTS gateway@'%' IDENTIFIED BY 'password'");
  await root.query("GRANT ALL ON gateway.* TO gateway@'%'");
  const proxy = await startTcpProxy(t, server.port);
  return { root, proxy, url: `mysql://gateway:password@127.0.0.1:${proxy.port}/gateway` };
}

function open(t: ExecutionContext, url: string, limits: Partial<DatabaseLimits>): Promise<Database> {
  const own = { connectionsMax: 1, connectTimeoutMs: 15_000, operationTimeoutMs: 15_000 };
  return openDatabaseAt(t, url, { ...own, ...limits });
}

skipUnless(ownServers, "a database server");
for (const own of ownServers) {
  const owner = sharedByFile();
  let server: OwnServer;
  test.before(async () => {
    server = await startOwnServer(owner, own);
  });

  test.serial(`${own.kind}: a connection to a server that became read-only is closed`, async (t) => {
    const { root, proxy, url } = await setUp(t, server);
    const database = await open(t, url, {});
    const write = (id: string) => database.write(({ users }) => users.insert(userRow(id)));
    await write("usr_1");
    const accepted = proxy.acceptedCount();

    await root.query("SET GLOBAL read_only = ON");
    for (const attempt of [1, 2]) {
      await t.throwsAsync(write("usr_2"), {
        instanceOf: DatabaseUnavailableError,
        message: /ER_OPTION_PREVENTS_STATEMENT/,
      });
      t.is(proxy.acceptedCount(), accepted + attempt - 1, "each asks with the connection after the last");
    }
    await root.query("SET GLOBAL read_only = OFF");
    await write("usr_2");
    t.is(proxy.acceptedCount(), accepted + 2);
    await write("usr_3");
    t.is(proxy.acceptedCount(), accepted + 2, "one that works is kept");
  });

  test.serial(`${own.kind}: connections to a vanished machine are closed and replaced`, async (t) => {
    const { proxy, url } = await setUp(t, server);
    const database = await open(t, url, { connectionsMax: 3, operationTimeoutMs: 8_000 });
    const count = () => database.read(({ users }) => users.count());
    await Promise.all([count(), count(), count()]);

    proxy.swallow();
    const results = await Promise.allSettled([count(), count(), database.pendingMigrations()]);
    t.deepEqual(
      results.map(
        (result) => result.status === "rejected" && result.reason instanceof DatabaseUnavailableError,
      ),
      [true, true, true],
    );
    t.is(
      await eventually(() =>
        count().then(
          (found) => ({ found }),
          () => null,
        ),
      ).then(({ found }) => found),
      0,
    );
    t.is(await count(), 0);

    // A failed transaction must release its connection, too.
    const reached = Promise.withResolvers<void>();
    const swallowed = Promise.withResolvers<void>();
    const writing = database.write(async ({ users }) => {
      await users.insert(userRow("usr_1"));
      reached.resolve();
      await swallowed.promise;
      await users.insert(userRow("usr_2"));
    });
    await reached.promise;
    proxy.swallow();
    swallowed.resolve();
    await t.throwsAsync(writing, { instanceOf: DatabaseUnavailableError });
    await eventually(() => succeeds(count()));
    t.is(await count(), 0);
  });

  test.serial(`${own.kind}: a migration may take longer than a query`, async (t) => {
    const { root, url } = await setUp(t, server);
    const database = await Database.open(url, {
      connectionsMax: 1,
      connectTimeoutMs: 15_000,
      operationTimeoutMs: 8_000,
    });
    t.teardown(() => database.close());
    // This lock stands for another process that migrates for longer than the timeout.
    await root.query("SELECT GET_LOCK('gateway_migrate_gateway', 0)");
    const migrating = database.migrate();
    await eventually(async () => {
      const [rows] = await root.query<mysql.RowDataPacket[]>(
        "SELECT 1 FROM information_schema.processlist WHERE info LIKE 'SELECT GET_LOCK%' AND time >= 9 AND id <> CONNECTION_ID()",
      );
      return rows.length > 0;
    });
    await root.query("SELECT RELEASE_LOCK('gateway_migrate_gateway')");
    t.true((await migrating).length > 0);
    t.deepEqual(await database.pendingMigrations(), []);
  });

  test.serial(
    `${own.kind}: an outage under load fails no request, loses no record, needs no restart`,
    async (t) => {
      const { url } = await setUp(t, server);
      const gateway = await startTestGateway(t, { environment: { DATABASE_URL: url } });
      const key = await createKey(gateway);
      const statuses: number[] = [];
      let isLoaded = true;
      const client = async () => {
        while (isLoaded) {
          statuses.push((await postChat(gateway, key.value, chatBody("demo/echo"))).status);
          // Faster clients would only use up the processor until the server is back.
          await wait(20);
        }
      };
      const clients = [client(), client(), client(), client()];
      const more = (count: number) => {
        const wanted = statuses.length + count;
        return eventually(() => statuses.length >= wanted);
      };

      await more(20);
      await server.stop();
      await more(20);
      const refused = await t.throwsAsync(gateway.admin.keys.list.query({}));
      t.like(refused, { data: { httpStatus: 503 } });
      t.is((await fetch(`${gateway.url}/readyz`)).status, 200, "known keys are served");
      await server.start();
      await eventually(() => succeeds(gateway.admin.keys.list.query({})));
      await more(20);
      isLoaded = false;
      await Promise.all(clients);

      t.deepEqual(new Set(statuses), new Set([200]));
      await eventually(async () => (await usageOf(gateway, key.id)).length >= Math.min(100, statuses.length));
      const counted = await gateway.services.database.read(({ usageRecords }) =>
        usageRecords.listByKey(key.id, statuses.length + 1),
      );
      t.is(counted.length, statuses.length);
      t.log(`${statuses.length} requests`);
    },
  );
}
