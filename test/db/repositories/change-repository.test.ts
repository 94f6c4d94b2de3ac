import test from "ava";
import { openTestDatabase, userRow } from "../../helpers/open-test-database.ts";
import { allDatabaseKinds } from "../../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  test(`${kind}: a reader of a change has seen all earlier ones under concurrent writes`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const writers = 40;
    let writing = writers;
    const write = async (index: number) => {
      await database
        .write(async ({ changes, users }) => {
          // Writers reach the counter at different times. Every fifth one rolls back.
          for (let step = 0; step < index % 4; step++) await users.count();
          await changes.append("api_key", `key_${index}`, new Date());
          await users.insert(userRow(`usr_${index}`));
          if (index % 5 === 0) throw new Error("changed my mind");
        })
        .catch(() => {});
      writing--;
    };
    const written = Promise.all(Array.from({ length: writers }, (_, index) => write(index)));

    const seen: string[] = [];
    let last = 0;
    for (let isLastRound = false; !isLastRound;) {
      isLastRound = writing === 0;
      for (const { number, entityId } of await database.read(({ changes }) => changes.after(last, 7))) {
        t.is(number, last + 1, "a number was skipped: it became visible after its successor");
        last = number;
        seen.push(entityId);
        isLastRound = false;
      }
    }
    await written;

    const expected = Array.from({ length: writers }, (_, index) => `key_${index}`);
    t.deepEqual(seen.toSorted(), expected.filter((_, index) => index % 5 !== 0).toSorted());
    t.is(await database.read(({ changes }) => changes.latestNumber()), 32);
  });

  test(`${kind}: expired changes are deleted, and the numbering continues`, async (t) => {
    const database = await openTestDatabase(t, kind);
    const append = (id: string, time: string) =>
      database.write(({ changes }) => changes.append("catalogue", id, new Date(time)));
    await append("mdl_1", "2026-01-01T00:00:00.000Z");
    await append("mdl_2", "2026-01-01T01:00:00.000Z");

    await database.write(({ changes }) => changes.deleteBefore(new Date("2026-01-01T01:00:00.000Z")));
    await append("mdl_3", "2026-01-01T02:00:00.000Z");

    const rows = await database.read(({ changes }) => changes.after(0, 10));
    t.deepEqual(
      rows.map(({ number, entityId }) => [number, entityId]),
      [
        [2, "mdl_2"],
        [3, "mdl_3"],
      ],
    );
  });
}
