import test from "ava";
import { describeModels } from "../../gateway/models/discovered-models.ts";
import { cpuMsSince } from "../helpers/cpu-ms-since.ts";

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
