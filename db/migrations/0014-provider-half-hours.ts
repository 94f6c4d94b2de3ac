import type { MigrationInterface, QueryRunner } from "typeorm";
import { columnKit } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class ProviderHalfHours implements MigrationInterface {
  readonly name = "ProviderHalfHours1764892800000";

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, createIndex } = await stepKit(runner);
    const { type } = runner.connection.options;
    const { id, moment, integer, bigInteger } = columnKit(type);
    await createTable({
      name: "provider_half_hours",
      withoutRowid: type === "better-sqlite3",
      columns: [
        moment("starts_at", { isPrimary: true }),
        id("provider", 63),
        ...["requests", "failures", "successes"].map((name) => integer(name)),
        bigInteger("latency_ms"),
        ...Array.from({ length: 10 }, (_, index) => integer(`latency${index}`)),
      ],
    });
    await createIndex("api_keys_expiry", "api_keys", "expires_at");
    await createIndex("api_keys_last_use", "api_keys", "last_used_at");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable("provider_half_hours");
    const on = runner.connection.options.type === "better-sqlite3" ? "" : " ON api_keys";
    for (const index of ["api_keys_expiry", "api_keys_last_use"])
      await runner.query(`DROP INDEX ${index}${on}`);
  }
}
