import type { MigrationInterface, QueryRunner, TableOptions } from "typeorm";
import { columnKit, nullable, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class InitialSchema implements MigrationInterface {
  readonly name = "InitialSchema1763683200000";

  async up(runner: QueryRunner): Promise<void> {
    const databaseType = runner.connection.options.type;
    if (databaseType !== "better-sqlite3") {
      // By default MySQL treats "AB" and "ab" as equal, which is wrong for IDs, slugs and hashes.
      await runner.query("ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
    }
    const { createTable } = await stepKit(runner);
    for (const table of tables(databaseType)) await createTable(table);
    await runner.query("REPLACE INTO counters (name, value) VALUES ('changes', 0)");
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of tables(runner.connection.options.type).reverse()) await runner.dropTable(name);
  }
}

function tables(databaseType: string): TableOptions[] {
  const { id, text, longText, moment, integer, bigInteger, flag, json } = columnKit(databaseType);
  return [
    {
      name: "users",
      columns: [
        id(),
        text("email", 254),
        text("name", 255),
        text("password_hash", 255),
        text("role", 16),
        text("status", 16),
        moment("created_at"),
      ],
      indices: [{ name: "users_email", columnNames: ["email"], isUnique: true }],
    },
    {
      name: "sessions",
      columns: [
        id(),
        text("user_id", 40),
        text("token_hash", 64),
        text("previous_token_hash", 64, nullable),
        moment("rotated_at"),
        moment("expires_at"),
        moment("created_at"),
      ],
      indices: [
        { name: "sessions_user", columnNames: ["user_id"] },
        { name: "sessions_expiry", columnNames: ["expires_at"] },
      ],
      foreignKeys: [references("user_id", "users", "CASCADE")],
    },
    {
      name: "providers",
      columns: [
        id(),
        text("name", 63),
        text("kind", 32),
        text("base_url", 2048, nullable),
        json("timeouts"),
        moment("created_at"),
      ],
      indices: [{ name: "providers_name", columnNames: ["name"], isUnique: true }],
    },
    {
      name: "credentials",
      columns: [
        id(),
        text("provider_id", 40),
        longText("sealed"),
        text("last_four", 4),
        moment("created_at"),
      ],
      indices: [{ name: "credentials_provider", columnNames: ["provider_id"] }],
      foreignKeys: [references("provider_id", "providers", "CASCADE")],
    },
    {
      name: "models",
      columns: [
        id(),
        text("slug", 255),
        text("provider_id", 40),
        text("upstream_model", 255),
        integer("context_window_tokens", nullable),
        integer("output_tokens_max", nullable),
        bigInteger("input_price", nullable),
        bigInteger("cached_input_price", nullable),
        bigInteger("cache_write_price", nullable),
        bigInteger("output_price", nullable),
        moment("created_at"),
      ],
      indices: [
        { name: "models_slug", columnNames: ["slug"], isUnique: true },
        { name: "models_provider", columnNames: ["provider_id"] },
      ],
      foreignKeys: [references("provider_id", "providers", "RESTRICT")],
    },
    {
      name: "api_keys",
      columns: [
        id(),
        text("name", 255),
        text("status", 16),
        text("owner_id", 40, nullable),
        moment("expires_at", nullable),
        moment("last_used_at", nullable),
        moment("created_at"),
      ],
      indices: [{ name: "api_keys_owner", columnNames: ["owner_id"] }],
      foreignKeys: [references("owner_id", "users", "SET NULL")],
    },
    {
      name: "api_key_values",
      columns: [
        id("hash", 64),
        text("api_key_id", 40),
        text("last_four", 4),
        moment("valid_until", nullable),
        moment("created_at"),
      ],
      indices: [{ name: "api_key_values_key", columnNames: ["api_key_id"] }],
      foreignKeys: [references("api_key_id", "api_keys", "CASCADE")],
    },
    {
      name: "api_key_models",
      columns: [id("api_key_id"), id("model_id")],
      indices: [{ name: "api_key_models_model", columnNames: ["model_id"] }],
      foreignKeys: [
        references("api_key_id", "api_keys", "CASCADE"),
        references("model_id", "models", "CASCADE"),
      ],
    },
    {
      name: "usage_records",
      withoutRowid: databaseType === "better-sqlite3",
      columns: [
        id(),
        moment("created_at"),
        text("api_key_id", 40),
        text("api_key_name", 255),
        text("model", 255),
        text("provider", 63),
        text("upstream_model", 255, nullable),
        text("endpoint", 64),
        flag("stream"),
        text("status", 16),
        integer("http_status"),
        text("error_code", 64, nullable),
        integer("input_tokens", nullable),
        integer("output_tokens", nullable),
        integer("cached_input_tokens", nullable),
        integer("reasoning_tokens", nullable),
        flag("estimated"),
        bigInteger("cost", nullable),
        integer("latency_ms"),
        integer("time_to_first_token_ms", nullable),
      ],
      indices: [{ name: "usage_records_key", columnNames: ["api_key_id", "id"] }],
    },
    {
      name: "changes",
      columns: [
        bigInteger("number", { isPrimary: true }),
        text("kind", 16),
        text("entity_id", 40),
        moment("created_at"),
      ],
      indices: [{ name: "changes_time", columnNames: ["created_at"] }],
    },
    { name: "counters", columns: [id("name", 32), bigInteger("value")] },
  ];
}
