import type { MigrationInterface, QueryRunner, TableOptions } from "typeorm";
import { columnKit, nullable, references } from "./columns.ts";
import { stepKit } from "./steps.ts";

export class InitialSchema implements MigrationInterface {
  readonly name = "InitialSchema1795737600000";

  async up(runner: QueryRunner): Promise<void> {
    const databaseType = runner.connection.options.type;
    const { createTable } = await stepKit(runner);
    for (const table of tables(databaseType)) await createTable(table);
    await runner.query("REPLACE INTO counters (name, value) VALUES ('changes', 0)");
    if (databaseType !== "better-sqlite3") {
      // Partitions make the deletion of old records fast. `keepUsagePartitions` splits the months off `rest`. A
      // repeated migration can run this statement again.
      await runner.query(
        "ALTER TABLE usage_records PARTITION BY RANGE COLUMNS (id) (PARTITION rest VALUES LESS THAN (MAXVALUE))",
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of tables(runner.connection.options.type).reverse()) await runner.dropTable(name);
  }
}

function tables(databaseType: string): TableOptions[] {
  const { id, text, longText, moment, integer, bigInteger, flag, json } = columnKit(databaseType);
  const isSqlite = databaseType === "better-sqlite3";
  /** The buckets of a distribution. */
  const buckets = Array.from({ length: 10 }, (_, index) => index);
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
        moment("last_sign_in_at", nullable),
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
      name: "invitations",
      columns: [
        id("token_hash", 64),
        text("user_id", 40),
        text("kind", 16),
        moment("expires_at"),
        moment("created_at"),
      ],
      indices: [{ name: "invitations_user", columnNames: ["user_id"], isUnique: true }],
      foreignKeys: [references("user_id", "users", "CASCADE")],
    },
    {
      name: "providers",
      columns: [
        id(),
        text("name", 63),
        text("kind", 32),
        text("preset", 32, nullable),
        text("base_url", 2048, nullable),
        json("timeouts"),
        text("cost_source", 16, nullable),
        integer("charge_factor", nullable),
        integer("revision", { default: 1 }),
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
        integer("weight", { default: 1 }),
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
        json("price_details", nullable),
        integer("revision", { default: 1 }),
        moment("created_at"),
      ],
      indices: [
        { name: "models_slug", columnNames: ["slug"], isUnique: true },
        { name: "models_provider", columnNames: ["provider_id"] },
      ],
      foreignKeys: [references("provider_id", "providers", "RESTRICT")],
    },
    {
      name: "model_fallbacks",
      columns: [id("model_id"), integer("position", { isPrimary: true }), text("fallback_model_id", 40)],
      indices: [{ name: "model_fallbacks_model", columnNames: ["fallback_model_id"] }],
      foreignKeys: [
        references("model_id", "models", "CASCADE"),
        references("fallback_model_id", "models", "CASCADE"),
      ],
    },
    {
      name: "api_keys",
      columns: [
        id(),
        text("name", 255),
        text("status", 16),
        text("disabled_by", 16, nullable),
        text("owner_id", 40, nullable),
        moment("expires_at", nullable),
        moment("last_used_at", nullable),
        integer("revision", { default: 1 }),
        moment("created_at"),
        integer("requests_per_minute", nullable),
        integer("tokens_per_minute", nullable),
        integer("concurrent_requests", nullable),
        bigInteger("day_budget", nullable),
        bigInteger("week_budget", nullable),
        bigInteger("month_budget", nullable),
        bigInteger("total_budget", nullable),
        json("address_ranges", nullable),
        integer("charge_factor", nullable),
      ],
      indices: [
        { name: "api_keys_owner", columnNames: ["owner_id"] },
        { name: "api_keys_expiry", columnNames: ["expires_at"] },
        { name: "api_keys_last_use", columnNames: ["last_used_at"] },
      ],
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
      name: "api_key_withheld_models",
      columns: [id("api_key_id"), id("model_slug", 255)],
      foreignKeys: [references("api_key_id", "api_keys", "CASCADE")],
    },
    {
      name: "usage_records",
      withoutRowid: isSqlite,
      columns: [
        id(),
        moment("created_at"),
        text("api_key_id", 40),
        text("api_key_name", 255),
        text("owner_id", 40, nullable),
        text("model", 255),
        text("provider", 63),
        text("upstream_model", 255, nullable),
        text("credential_id", 40, nullable),
        integer("attempts", { default: 1 }),
        text("endpoint", 64),
        text("client_tool", 32, nullable),
        flag("stream"),
        text("status", 16),
        integer("http_status"),
        text("error_code", 64, nullable),
        text("limited_by", 16, nullable),
        text("error_reason", 32, nullable),
        text("dropped", 255, nullable),
        integer("input_tokens", nullable),
        integer("output_tokens", nullable),
        integer("cached_input_tokens", nullable),
        integer("cache_write_input_tokens", nullable),
        integer("reasoning_tokens", nullable),
        flag("estimated"),
        bigInteger("cost", nullable),
        bigInteger("input_price", nullable),
        bigInteger("cached_input_price", nullable),
        bigInteger("cache_write_price", nullable),
        bigInteger("output_price", nullable),
        integer("latency_ms"),
        integer("time_to_first_token_ms", nullable),
        json("timing", nullable),
        json("cost_details", nullable),
        bigInteger("provider_cost", nullable),
        bigInteger("markup", { default: 0 }),
      ],
      indices: [
        { name: "usage_records_key", columnNames: ["api_key_id", "id"] },
        { name: "usage_records_owner", columnNames: ["owner_id", "id"] },
        { name: "usage_records_model", columnNames: ["model", "id"] },
        { name: "usage_records_provider", columnNames: ["provider", "id"] },
        { name: "usage_records_status", columnNames: ["status", "id"] },
        { name: "usage_records_tool", columnNames: ["client_tool", "id"] },
        { name: "usage_records_reason", columnNames: ["error_reason", "id"] },
      ],
    },
    {
      name: "usage_roll_ups",
      withoutRowid: isSqlite,
      columns: [
        id("resolution", 8),
        moment("starts_at", { isPrimary: true }),
        id("api_key_id"),
        id("owner_id"),
        id("model", 255),
        id("provider", 63),
        id("status", 16),
        id("client_tool", 32),
        id("error_reason", 64),
        text("api_key_name", 255),
        integer("requests"),
        bigInteger("input_tokens"),
        bigInteger("output_tokens"),
        bigInteger("cached_input_tokens"),
        bigInteger("cache_write_input_tokens"),
        bigInteger("reasoning_tokens"),
        bigInteger("cost"),
        integer("unknown_costs"),
        bigInteger("latency_ms"),
        ...buckets.map((index) => integer(`latency${index}`)),
        ...buckets.map((index) => integer(`first_token${index}`, { default: 0 })),
        bigInteger("markup", { default: 0 }),
        bigInteger("least_cost", { default: 0 }),
      ],
      indices: [
        { name: "usage_roll_ups_key", columnNames: ["api_key_id", "resolution", "starts_at"] },
        { name: "usage_roll_ups_owner", columnNames: ["owner_id", "resolution", "starts_at"] },
      ],
    },
    {
      name: "provider_half_hours",
      withoutRowid: isSqlite,
      columns: [
        moment("starts_at", { isPrimary: true }),
        id("provider", 63),
        ...["requests", "failures", "successes"].map((name) => integer(name)),
        bigInteger("latency_ms"),
        ...buckets.map((index) => integer(`latency${index}`)),
      ],
    },
    {
      name: "limit_uses",
      withoutRowid: isSqlite,
      columns: [
        id("process_id"),
        id("subject_id"),
        bigInteger("second", { isPrimary: true }),
        integer("requests"),
        bigInteger("tokens"),
      ],
      indices: [{ name: "limit_uses_second", columnNames: ["second"] }],
    },
    {
      name: "limit_events",
      columns: [
        id("id", 64),
        text("api_key_id", 40),
        text("api_key_name", 255),
        text("owner_id", 40, nullable),
        text("period", 8),
        moment("period_starts_at"),
        integer("percent"),
        bigInteger("budget"),
        bigInteger("spent"),
        moment("created_at"),
        integer("attempts"),
        moment("send_at", nullable),
      ],
      indices: [
        { name: "limit_events_key", columnNames: ["api_key_id", "created_at"] },
        { name: "limit_events_send", columnNames: ["send_at"] },
      ],
    },
    {
      name: "audit_entries",
      columns: [
        id(),
        moment("created_at"),
        text("actor_id", 40, nullable),
        text("actor_name", 255, nullable),
        text("action", 48),
        text("entity_id", 40),
        text("entity_name", 255),
        json("details"),
        text("address", 64),
      ],
      indices: [
        { name: "audit_entries_actor", columnNames: ["actor_id", "id"] },
        { name: "audit_entries_action", columnNames: ["action", "id"] },
        { name: "audit_entries_entity", columnNames: ["entity_id", "id"] },
      ],
    },
    {
      name: "data_keys",
      columns: [id(), integer("number"), longText("wrapped"), text("kms_key_id", 2048), moment("created_at")],
      indices: [{ name: "data_keys_number", columnNames: ["number"], isUnique: true }],
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
