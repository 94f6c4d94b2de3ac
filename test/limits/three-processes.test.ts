import test from "ava";
import { databaseKinds } from "../helpers/test-database.ts";
import { startThreeProcesses } from "../helpers/three-processes.ts";
import { startValkey, valkeyProgram } from "../helpers/valkey-server.ts";

const requestsPerMinute = 600;
const count = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

if (databaseKinds.includes("mysql") && valkeyProgram) {
  test.serial("with Valkey three processes let through 600 of 600 a minute, and not one more", async (t) => {
    t.timeout(120_000);
    const { url } = await startValkey(t);
    const three = await startThreeProcesses(t, {
      limits: { requestsPerMinute },
      environment: { VALKEY_URL: url },
    });
    const startedAt = performance.now();
    const statuses = await three.ask(400, 16);
    const seconds = (performance.now() - startedAt) / 1000;
    t.log(`${count(statuses, 200)} of ${statuses.length} let through in ${seconds.toFixed(1)} s`);
    t.true(seconds < 58, "it has to be one minute");
    t.is(count(statuses, 200), requestsPerMinute);
    t.is(count(statuses, 429), statuses.length - requestsPerMinute);
    for (const { log } of three.gateways) t.notRegex(log(), /Valkey is away/);
  });
}
