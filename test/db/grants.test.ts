import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "ava";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { skipUnless } from "../helpers/skip-unless.ts";
import { createServerDatabase, serverKinds } from "../helpers/test-database.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const operations = readFileSync(new URL("../../infra/README.md", import.meta.url), "utf8");
const [, statements = ""] = /^```sql\n(.+?)^```/ms.exec(operations) ?? [];

skipUnless(serverKinds, "a database server");
for (const kind of serverKinds) {
  test(`${kind}: a gateway migrates and serves with the documented statements`, async (t) => {
    const server = new URL(await createServerDatabase(t, kind));
    const name = `gateway_${randomBytes(6).toString("hex")}`;
    t.teardown(async () => {
      await queryDatabase(server.href, `DROP USER ${name}@'%'`);
      await queryDatabase(server.href, `DROP DATABASE ${name}`);
    });
    for (const statement of statements.split(";\n").filter((each) => each !== ""))
      await queryDatabase(server.href, statement.replaceAll("gateway", name));
    const url = Object.assign(new URL(server), {
      username: name,
      password: "choose a password",
      pathname: name,
    });

    const gateway = await startTestGateway(t, { kind, environment: { DATABASE_URL: url.href } });
    const { value } = await createKey(gateway);
    t.is((await postChat(gateway, value, chatBody("demo/echo"))).status, 200);
    await gateway.services.recorder.flush();
    const month = { name: "p202601", beforeId: "req_01" };
    const { database } = gateway.services;
    await database.keepUsagePartitions({ months: [month], dropBeforeId: null });
    const plan = { months: [], dropBeforeId: month.beforeId };
    t.deepEqual(await database.keepUsagePartitions(plan), [month.name]);
  });
}
