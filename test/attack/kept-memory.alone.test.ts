import test from "ava";
import { startProcess } from "../bench/measured-process.ts";
import { figures } from "../helpers/scale.ts";
import type { KeptMemory } from "./kept-memory.ts";

test.serial("small kept responses take the memory that they count", async (t) => {
  const keeper = startProcess<KeptMemory>("../attack/kept-memory.ts");
  t.teardown(() => keeper.stop());
  // The first responses also load code.
  await keeper.ask("keep", 2_000);
  const count = 24_000;
  const { countedBytes, residentBytes } = await keeper.ask("keep", count);
  const each = { counted: (countedBytes / count).toFixed(), resident: (residentBytes / count).toFixed() };
  t.log(figures("bytes of a small response", each));
  t.true(residentBytes < 1.25 * countedBytes, JSON.stringify(each));
});
