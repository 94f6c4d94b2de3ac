import test from "ava";
import { idsIn, openRecorder } from "../helpers/open-recorder.ts";
import { openTestDatabase, usageRow } from "../helpers/open-test-database.ts";

test("a flush ships every record, even with concurrent readers", async (t) => {
  const database = await openTestDatabase(t, "sqlite");
  const { recorder } = await openRecorder(t, database);
  await new Promise<void>((proceed) => recorder.record(usageRow("req_1"), null, proceed));
  const flushed = recorder.flush();
  const read = recorder.readUndisturbed(async () => {});
  await flushed;
  t.deepEqual(await idsIn(database), ["req_1"]);
  await read;
});
