import test from "ava";
import mysql from "mysql2/promise";
import { assertRollUpsMatch } from "../helpers/assert-roll-ups-match.ts";
import { eventually } from "../helpers/eventually.ts";
import { openDatabaseAt, usageRow } from "../helpers/open-test-database.ts";
import { createServerDatabase, serverKinds } from "../helpers/test-database.ts";

for (const kind of serverKinds) {
  test(`${kind}: a batch rolled back after a deadlock leaves no uncounted records`, async (t) => {
    const url = await createServerDatabase(t, kind);
    const database = await openDatabaseAt(t, url);
    // The batch is large enough for several statements.
    const batch = Array.from({ length: 1_000 }, (_, index) => usageRow(idOf(index)));
    const other = await mysql.createConnection(url);
    t.teardown(() => other.end());
    await database.write(({ usageRecords }) => usageRecords.insertAll([usageRow("req_a")]));

    // This transaction does more work than the batch, so that InnoDB rolls back the batch.
    await other.query("BEGIN");
    await other.query(
      copiesOf(
        "req_a",
        Array.from({ length: 2_000 }, (_, index) => `req_b_${index}`),
      ),
    );
    await other.query(copiesOf("req_a", [idOf(100)]));
    const writing = database.write(({ usageRecords }) => usageRecords.insertAll(batch));
    await eventually(() => isInserted(url, idOf(50)));
    await other.query(copiesOf("req_a", [idOf(50)]));
    await other.query("ROLLBACK");
    await writing;

    t.is(await assertRollUpsMatch(url), 1_001);
  });
}

function idOf(index: number): string {
  return `req_${String(index).padStart(6, "0")}`;
}

/** Returns a statement that inserts copies of a record under other IDs. */
function copiesOf(id: string, copies: string[]): string {
  const rest =
    "created_at, api_key_id, api_key_name, model, provider, attempts, endpoint, stream, status, http_status, estimated, latency_ms";
  const ids = copies.map((copy) => `SELECT '${copy}' AS copy`).join(" UNION ALL ");
  return `INSERT INTO usage_records (id, ${rest}) SELECT copy, ${rest} FROM usage_records, (${ids}) AS copies WHERE id = '${id}'`;
}

/**
 * Returns whether a record was inserted, even uncommitted. InnoDB's transaction list is cached for 100 ms, so it cannot
 * be polled.
 */
async function isInserted(url: string, id: string): Promise<boolean> {
  const connection = await mysql.createConnection(url);
  try {
    await connection.query("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    const [rows] = await connection.query<mysql.RowDataPacket[]>("SELECT 1 FROM usage_records WHERE id = ?", [
      id,
    ]);
    return rows.length > 0;
  } finally {
    await connection.end();
  }
}
