import test from "ava";
import { addPerson } from "../helpers/call-procedure.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { allDatabaseKinds } from "../helpers/test-database.ts";

for (const kind of allDatabaseKinds) {
  const shared = shareGateway({ kind });

  const addOwner = async (email: string, ...names: string[]) => {
    const { console } = await addPerson(shared(), email);
    for (const name of names) await console.keys.create.mutate({ name });
    return console;
  };

  test(`${kind}: two hundred keys are paged newest first, each once`, async (t) => {
    const names = Array.from({ length: 200 }, (_, index) => `Key ${index}`);
    const { keys } = await addOwner("pages@example.com", ...names);

    const seen: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await keys.list.query({ cursor, limit: 45 });
      sizes.push(page.items.length);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
      // A key created while paging neither repeats nor hides another.
      if (sizes.length === 2) await keys.create.mutate({ name: "A latecomer" });
    } while (cursor !== null);

    t.deepEqual(sizes, [45, 45, 45, 45, 20]);
    t.is(new Set(seen).size, 200);
    t.deepEqual(seen, seen.toSorted().toReversed());
    const whole = await keys.list.query({ limit: 200 });
    t.deepEqual(
      whole.items.slice(1).map(({ id }) => id),
      seen.slice(0, 199),
    );
    t.is((await keys.list.query()).items.length, 50, "a page is 50 unless it is said");
  });

  test(`${kind}: keys are found by part of their name, case-insensitively`, async (t) => {
    const names = [
      "Production API",
      "production worker",
      "Staging",
      "Ärger",
      "100 %",
      "100_0",
      "a\\b",
      "it's",
    ];
    const { keys } = await addOwner("search@example.com", ...names);
    const find = async (search: string) =>
      (await keys.list.query({ search })).items.map(({ name }) => name).toSorted();

    t.deepEqual(await find("PRODuction"), ["Production API", "production worker"]);
    t.deepEqual(await find("worker"), ["production worker"]);
    t.deepEqual(await find("%"), ["100 %"], "no wildcard");
    t.deepEqual(await find("0_"), ["100_0"], "no wildcard");
    t.deepEqual(await find("a\\b"), ["a\\b"]);
    t.deepEqual(await find("it's"), ["it's"]);
    t.deepEqual(await find("nothing like it"), []);
    t.is((await find("")).length, names.length);
  });

  test(`${kind}: a key is found by a name of any letters`, async (t) => {
    const { keys } = await addOwner("letters@example.com", "Ärger", "ÉCOLE", "Москва", "ΑΘΗΝΑ");
    for (const search of ["Ärger", "ÉCOLE", "Москва", "ΑΘΗΝΑ", "ärger", "москва"]) {
      const { items } = await keys.list.query({ search });
      t.is(items.length, 1, search);
    }
  });

  test(`${kind}: keys are filtered by status`, async (t) => {
    const { keys } = await addOwner("status@example.com", "One", "Two", "Three");
    const { items } = await keys.list.query({ search: "two" });
    await keys.deactivate.mutate({ id: items[0]?.id ?? "" });
    const names = async (status: "active" | "disabled") =>
      (await keys.list.query({ status })).items.map(({ name }) => name);

    t.deepEqual(await names("disabled"), ["Two"]);
    t.deepEqual((await names("active")).toSorted(), ["One", "Three"]);
  });
}
