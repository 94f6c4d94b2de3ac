import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class TrueCosts implements MigrationInterface {
  readonly name = "TrueCosts1764720000000";

  async up(runner: QueryRunner): Promise<void> {
    const { addColumn } = await stepKit(runner);
    const integer = columnKit(runner.connection.options.type).integer("").type;
    await addColumn("models", "price_details", "json NULL");
    await addColumn("providers", "cost_source", "varchar(16) NULL");
    await addColumn("providers", "charge_factor", `${integer} NULL`);
    await addColumn("api_keys", "charge_factor", `${integer} NULL`);
    await addColumn("usage_records", "cost_details", "json NULL");
    await addColumn("usage_records", "provider_cost", "bigint NULL");
    // `markup` needs a default, because the previous release inserts rows without it during a rolling restart.
    await addColumn("usage_records", "markup", "bigint NOT NULL DEFAULT 0");
    await addColumn("usage_roll_ups", "markup", "bigint NOT NULL DEFAULT 0");
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, column] of columns) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
  }
}

const columns = [
  ["usage_roll_ups", "markup"],
  ["usage_records", "markup"],
  ["usage_records", "provider_cost"],
  ["usage_records", "cost_details"],
  ["api_keys", "charge_factor"],
  ["providers", "charge_factor"],
  ["providers", "cost_source"],
  ["models", "price_details"],
];
