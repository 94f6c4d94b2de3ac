/** RDS represents booleans as 1 and 0. */
export const databaseParameters = [
  // Some engine versions accept clients without TLS by default.
  { name: "require_secure_transport", value: "1" },
  { name: "tls_version", value: "TLSv1.2,TLSv1.3", applyMethod: "pending-reboot" },
  { name: "character_set_server", value: "utf8mb4" },
  // IDs, slugs and names are compared exactly. The first migration also sets this collation for the database.
  { name: "collation_server", value: "utf8mb4_bin" },
  { name: "time_zone", value: "UTC" },
  {
    name: "sql_mode",
    value:
      "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
  },
  { name: "slow_query_log", value: "1" },
  { name: "long_query_time", value: "1" },
  { name: "log_output", value: "FILE" },
  // With this setting, a lock wait timeout rolls back the whole transaction, not only its last statement.
  { name: "innodb_rollback_on_timeout", value: "1", applyMethod: "pending-reboot" },
];
