import type { DataSource, QueryRunner } from "typeorm";

/**
 * The months that need a partition. Each partition ends before its `beforeId`. If `dropBeforeId` is null, no partition
 * is dropped.
 */
export type PartitionPlan = { months: { name: string; beforeId: string }[]; dropBeforeId: string | null };

/**
 * Creates missing monthly partitions on MySQL and drops those older than `dropBeforeId`. Only one process
 * does so at a time. Returns the dropped names. Throws if the table stays locked.
 */
export async function keepUsagePartitions(dataSource: DataSource, plan: PartitionPlan): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  // Locks apply to the whole server, so the name contains the database.
  const lock = "CONCAT('gateway_partitions_', LEFT(DATABASE(), 40))";
  try {
    const [row] = await runner.query(`SELECT GET_LOCK(${lock}, 0) AS locked`);
    if (Number(row?.locked) !== 1) return [];
    // A waiting ALTER TABLE blocks all later statements on the table, so it must not wait for a long query.
    await runner.query(`SET SESSION lock_wait_timeout = ${tableWaitSeconds}`);
    try {
      await addMonths(runner, plan.months);
      return await dropMonths(runner, plan.dropBeforeId);
    } finally {
      await runner.query("SET SESSION lock_wait_timeout = DEFAULT");
      await runner.query(`SELECT RELEASE_LOCK(${lock})`);
    }
  } finally {
    await runner.release();
  }
}

const tableWaitSeconds = 3;

/** Splits the months off the last partition, which is usually empty. */
async function addMonths(runner: QueryRunner, months: PartitionPlan["months"]): Promise<void> {
  const newest = (await readPartitions(runner)).at(-1)?.beforeId ?? "";
  const missing = months.filter(({ beforeId }) => beforeId > newest);
  if (missing.length === 0) return;
  const parts = missing.map(({ name, beforeId }) => `PARTITION ${name} VALUES LESS THAN ('${beforeId}')`);
  await runner.query(
    `ALTER TABLE usage_records REORGANIZE PARTITION rest INTO (${parts.join(", ")}, PARTITION rest VALUES LESS THAN (MAXVALUE))`,
  );
}

async function dropMonths(runner: QueryRunner, dropBeforeId: string | null): Promise<string[]> {
  if (dropBeforeId === null) return [];
  const old = (await readPartitions(runner)).filter(({ beforeId }) => beforeId <= dropBeforeId);
  const names = old.map(({ name }) => name);
  if (names.length > 0) await runner.query(`ALTER TABLE usage_records DROP PARTITION ${names.join(", ")}`);
  return names;
}

/** Lists the oldest partitions first. Omits `rest`, which has no end. */
async function readPartitions(runner: QueryRunner): Promise<{ name: string; beforeId: string }[]> {
  const rows: { name: string; beforeId: string }[] = await runner.query(
    `SELECT partition_name AS name, partition_description AS beforeId FROM information_schema.partitions
      WHERE table_schema = DATABASE() AND table_name = 'usage_records' ORDER BY partition_ordinal_position`,
  );
  return rows
    .filter(({ name }) => name !== "rest")
    .map(({ name, beforeId }) => ({ name, beforeId: beforeId.replaceAll("'", "") }));
}
