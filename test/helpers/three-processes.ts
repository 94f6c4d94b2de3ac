import { randomBytes } from "node:crypto";
import type { ExecutionContext } from "ava";
import { eventually } from "./eventually.ts";
import { startGatewayProcess } from "./gateway-process.ts";
import { chatBody, postChat } from "./post-chat.ts";
import { createMigratedDatabase, serverKind } from "./test-database.ts";
import { patience, signIn } from "./test-gateway.ts";
import { createTestFolder } from "./test-folder.ts";

/** Starts three gateway processes on one database, and waits until each process accepts the new key. */
export async function startThreeProcesses(
  t: ExecutionContext,
  { limits, environment }: { limits: { requestsPerMinute: number }; environment?: Record<string, string> },
) {
  const admin = { email: "ada@example.com", password: randomBytes(12).toString("hex") };
  const databaseUrl = await createMigratedDatabase(t, serverKind);
  const start = async () => {
    const gateway = startGatewayProcess(t, {
      PORT: "0",
      DATA_DIR: await createTestFolder(t),
      DATABASE_URL: databaseUrl,
      JWT_SECRET: admin.password.repeat(2),
      MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      ...patience,
      ...environment,
    });
    return { url: await gateway.listening(), log: gateway.stderr };
  };
  // The first process creates the administrator.
  const first = await start();
  const gateways = [first, ...(await Promise.all([start(), start()]))];
  const { keys } = await signIn(first.url, admin);
  const { value } = await keys.create.mutate({ name: "Shared", models: ["demo/echo"], limits });
  for (const gateway of gateways) {
    const headers = { authorization: `Bearer ${value}` };
    await eventually(async () => (await fetch(`${gateway.url}/v1/models`, { headers })).status === 200);
  }
  const ask = (gateway: { url: string }) => postChat(gateway, value, chatBody("demo/echo", "x"));
  return {
    gateways,
    /** Sends at least `timesEach` requests to every process, from `together` concurrent clients per process. */
    async ask(timesEach: number, together: number): Promise<{ status: number; at: number }[]> {
      const answers: { status: number; at: number }[] = [];
      const clientOf = async (gateway: { url: string }) => {
        for (let asked = 0; asked < timesEach / together; asked++) {
          const { status } = await ask(gateway);
          answers.push({ status, at: performance.now() });
        }
      };
      await Promise.all(
        gateways.flatMap((gateway) => Array.from({ length: together }, () => clientOf(gateway))),
      );
      return answers;
    },
  };
}
