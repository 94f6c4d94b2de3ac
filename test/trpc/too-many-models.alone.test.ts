import test from "ava";
import { describeModels } from "../../gateway/models/discovered-models.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";

test("an upstream with too many models does not block others", async (t) => {
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
  const cpuMsOf = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `some/model-${index}`);
    const before = process.cpuUsage();
    t.is((await describeModels(names, provider, [], Date.now())).length, Math.min(count, 5_000));
    return cpuMsSince(before);
  };
  // The first call loads the price list.
  await cpuMsOf(500);
  const few = await cpuMsOf(5_000);
  const many = await cpuMsOf(30_000);
  t.true(many < 2 * few, `${few} ms of CPU for 5,000 models, ${many} for 30,000`);
});
