import test from "ava";
import { describeModels } from "../../gateway/models/discovered-models.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

test("an upstream with too many models does not block others", async (t) => {
  const names = Array.from({ length: 30_000 }, (_, index) => `some/model-${index}`);
  const provider = {
    id: "prv_1",
    name: "many",
    kind: "openai-compatible",
    preset: "openrouter",
    baseUrl: null,
    timeouts: {},
    costSource: null,
    chargeFactor: null,
    revision: 1,
    createdAt: new Date(0),
  };
  const before = process.cpuUsage();
  const models = await describeModels(names, provider, [], Date.now());
  t.is(models.length, 5_000);
  const cpuMs = cpuMsSince(before);
  t.true(cpuMs < 5_000, `${cpuMs} ms of CPU`);
});

for (const kind of databaseKinds) {
  test(`${kind}: models added by several people at once are added once, without errors`, async (t) => {
    const { providers } = (await startTestGateway(t, { kind })).admin;
    const { id } = await providers.create.mutate({ name: "other", kind: "demo" });
    const models = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const added = await Promise.all([1, 2, 3, 4].map(() => providers.addModels.mutate({ id, models })));
    for (const each of added) t.deepEqual(each, added[0]);
  });
}
