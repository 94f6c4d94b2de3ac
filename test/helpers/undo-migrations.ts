import type { openDataSource } from "../../db/data-source.ts";

/** Reverts the named migration and all newer ones, to restore the schema of an earlier release. */
export async function undoMigrations(
  dataSource: Awaited<ReturnType<typeof openDataSource>>,
  name: string,
): Promise<void> {
  let undone = "";
  while (undone !== name) {
    const rows: { name: string }[] = await dataSource.query(
      "SELECT name FROM migrations ORDER BY id DESC LIMIT 1",
    );
    if (!rows[0]) throw new Error(`No migration is called ${name}`);
    undone = rows[0].name;
    await dataSource.undoLastMigration({ transaction: "each" });
  }
}
