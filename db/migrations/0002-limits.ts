import type { MigrationInterface, QueryRunner, TableOptions } from "typeorm";
import { columnKit, nullable } from "./columns.ts";
import { stepKit } from "./steps.ts";

/** The limits of people and of the gateway, which only environment variables could set before. */
export class Limits implements MigrationInterface {
  readonly name = "Limits1795824000000";

  async up(runner: QueryRunner): Promise<void> {
    const { createTable } = await stepKit(runner);
    await createTable(limits(runner.connection.options.type));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable("limits");
  }
}

function limits(databaseType: string): TableOptions {
  const { id, integer, bigInteger, json } = columnKit(databaseType);
  return {
    name: "limits",
    columns: [
      id("holder"),
      integer("requests_per_minute", nullable),
      integer("tokens_per_minute", nullable),
      integer("concurrent_requests", nullable),
      bigInteger("day_budget", nullable),
      bigInteger("week_budget", nullable),
      bigInteger("month_budget", nullable),
      bigInteger("total_budget", nullable),
      json("address_ranges", nullable),
      integer("revision"),
    ],
  };
}
