import * as z from "zod";
import { trustedProxiesSetting } from "../http/trusted-proxies.ts";
import {
  amountUsd,
  attributePairs,
  corsOrigins,
  databaseUrl,
  encryptionContext,
  headerPairs,
  httpUrl,
  jwtSecret,
  masterKey,
  masterKeys,
  port,
  privateHosts,
  share,
  valkeyUrl,
  webhookSecret,
  wholeNumber,
  workersSetting,
} from "./config-values.ts";

/*
 * Every variable of the gateway: its schema with the default, its unit and its meaning, in the order of README.md. The
 * command `npm run config:tables` prints the tables there.
 */

const server = {
  HOST: member(z.string().default("127.0.0.1"), "address", "Address that the gateway listens on."),
  PORT: member(port.default(8080), "port", "Port that the gateway listens on. 0 selects a free port."),
  PUBLIC_URL: member(
    httpUrl.optional(),
    "URL",
    "Address that people and tools use, without `/v1`.",
    "from host and port",
  ),
  TRUSTED_PROXIES: member(
    trustedProxiesSetting.default(0),
    "count, list",
    "Proxies whose `X-Forwarded-For` the gateway trusts: their number, or their addresses, such as `10.0.0.0/8`.",
  ),
  CORS_ORIGINS: member(
    corsOrigins.default([]),
    "list",
    "Origins whose pages may call `/v1` in a browser, such as `https://app.example.com`, or `*` for all.",
  ),
  WORKERS: part(
    workersSetting.default(1),
    "processes",
    "Serving processes, or `auto` for one per core. More than 1 needs MySQL or MariaDB.",
  ),
  NODE_ENV: part(
    z.string().optional(),
    "",
    "With `production`, the first start creates no API key and `USAGE_SYNC` defaults to `on`.",
  ),
  LOG_LEVEL: member(
    z
      .enum(
        ["debug", "info", "warn", "error", "silent"],
        "is unknown. Use debug, info, warn, error or silent.",
      )
      .default("info"),
    "",
    "`debug`, `info`, `warn`, `error` or `silent`. Logs are JSON lines on standard error, and readable lines on a terminal.",
  ),
  STOP_DELAY_MS: limitFrom0(
    0,
    "ms",
    "After SIGTERM or Ctrl-C, the gateway accepts requests for this time while `/readyz` returns 503.",
  ),
  DRAIN_TIMEOUT_MS: limit(
    30_000,
    "ms",
    "Time that requests in flight have to finish after SIGTERM or Ctrl-C.",
  ),
};

const storage = {
  DATABASE_URL: part(
    databaseUrl.optional(),
    "URL",
    "SQLite file, or `mysql://user:password@host:3306/name?ssl=true` for MySQL and MariaDB. See [Operations](../../infra/README.md#mysql-and-mariadb).",
    "`sqlite:<DATA_DIR>/gateway.db`",
  ),
  DATA_DIR: part(
    z.string().default("data"),
    "path",
    "Folder for the database file, key files and the spool, with mode 0700. Keep it when you replace a container.",
  ),
  DATABASE_CONNECTIONS_MAX: limit(10, "connections", "Size of the connection pool."),
  DATABASE_CONNECT_TIMEOUT_MS: limit(5_000, "ms", "Timeout of a new database connection."),
  DATABASE_TIMEOUT_MS: limit(5_000, "ms", "Timeout of a query."),
  MASTER_KEY: member(
    masterKey.optional(),
    "base64",
    "32-byte key that encrypts provider keys. Back it up.",
    "a key file in `DATA_DIR`",
  ),
  MASTER_KEY_PREVIOUS: part(
    masterKeys.default([]),
    "base64 list",
    "Previous master keys, used only to decrypt.",
  ),
  KMS_KEY_ID: part(
    z.string().trim().max(2048, "is too long. Use the ARN, ID or alias of a KMS key.").optional(),
    "",
    "ARN, id or alias of an AWS KMS key. It wraps the encryption key and replaces `MASTER_KEY`.",
  ),
  KMS_ENCRYPTION_CONTEXT: part(
    encryptionContext.default({ app: "gateway" }),
    "list",
    "Encryption context for KMS, as `name=value`.",
  ),
  KMS_TIMEOUT_MS: limit(5_000, "ms", "Timeout of a call to KMS."),
  KMS_RETRY_INTERVAL_MS_MAX: limit(30_000, "ms", "Longest pause between two calls to KMS."),
  JWT_SECRET: part(
    jwtSecret.optional(),
    "list",
    "Secrets of at least 32 bytes that sign access tokens, newest first.",
    "a key file in `DATA_DIR`",
  ),
  ADMIN_EMAIL: part(
    z.email("is not an email address. Use an address such as ada@example.com.").optional(),
    "",
    "E-mail address of the first administrator. The start creates the account if the gateway has no administrator.",
  ),
  ADMIN_PASSWORD: part(
    z
      .string()
      .min(10, "has fewer than 10 characters. Use 10 to 256 characters.")
      .max(256, "has more than 256 characters. Use 10 to 256 characters.")
      .optional(),
    "",
    "Password of that administrator: 10 to 256 characters.",
  ),
  AUDIT_RETENTION_DAYS: limit(400, "days", "Retention of audit log entries."),
};

const requests = {
  REQUEST_BODY_BYTES_MAX: limit(32 * 1024 * 1024, "bytes", "Largest request body. Larger ones get 413."),
  REQUEST_BODIES_BYTES_MAX: limit(
    256 * 1024 * 1024,
    "bytes",
    "Total size of the bodies in flight in a process. One person may hold half of it, one key seven sixteenths, all strangers one sixteenth. Further requests get 503.",
  ),
  REQUEST_TEXT_BYTES_MAX: limit(
    10 * 1024 * 1024,
    "bytes",
    "Most text in a body. More gets 413. Base64 media do not count; an escape such as `\\n` counts as four bytes.",
  ),
  REQUEST_TRANSLATED_BYTES_MAX: limit(
    20 * 1024 * 1024,
    "bytes",
    "Largest body that the gateway translates to another API. Larger ones get 413.",
  ),
  REQUEST_JSON_DEPTH_MAX: limit(128, "levels", "Deepest nesting of a body. Deeper ones get 400."),
  REQUEST_JSON_VALUES_MAX: limit(
    60_000,
    "values",
    "Most names, strings, objects and arrays in a body. More get 413. Ten numbers count as one value.",
  ),
  REQUEST_HEADERS_TIMEOUT_MS: limit(10_000, "ms", "Time that a client has to send its headers."),
  REQUEST_RECEIVE_TIMEOUT_MS: limit(60_000, "ms", "Time that a client has to send its whole request."),
  CLIENT_STALL_TIMEOUT_MS: limit(60_000, "ms", "Time that a client may leave its stream unread."),
  KEEP_ALIVE_TIMEOUT_MS: limit(
    65_000,
    "ms",
    "Lifetime of an idle connection. It must exceed the idle timeout of a load balancer in front.",
  ),
  STREAM_PING_INTERVAL_MS: limit(15_000, "ms", "A silent stream gets a comment line after this time."),
  CONCURRENT_REQUESTS_MAX: limitFrom0(0, "requests", "Requests in flight in a process. 0 = unlimited."),
  QUEUED_REQUESTS_PER_KEY_MAX: limitFrom0(
    50,
    "requests",
    "Requests of one key that may wait when the process is at capacity.",
  ),
  QUEUE_WAIT_MS_MAX: limit(5_000, "ms", "Longest wait of a queued request."),
};

const keptResponses = {
  RESPONSES_STATE: part(
    z.enum(["memory", "valkey", "off"], "is unknown. Use memory, valkey or off.").optional(),
    "",
    "`memory`, `valkey` or `off`: where the gateway keeps responses for follow-ups. `memory` needs 1 worker, `valkey` needs `VALKEY_URL`.",
    "`memory` with 1 worker, else `off`",
  ),
  RESPONSES_KEPT_MS: limit(3_600_000, "ms", "Time that a response is kept after its last use."),
  RESPONSE_BYTES_MAX: limit(
    8 * 1024 * 1024,
    "bytes",
    "Largest response that is kept, with its input. Larger ones report `store: false`.",
  ),
  RESPONSES_PER_KEY_BYTES_MAX: limit(
    32 * 1024 * 1024,
    "bytes",
    "Total size of a key's kept responses. The least recently used make room.",
  ),
  RESPONSES_BYTES_MAX: limit(
    128 * 1024 * 1024,
    "bytes",
    "Total size of the kept responses in a process's memory, with those of WebSockets. In Valkey, its own `maxmemory` applies.",
  ),
  RESPONSES_SOCKETS_MAX: limit(
    1_000,
    "connections",
    "WebSockets that a process may have open. More get 429.",
  ),
  RESPONSES_SOCKETS_PER_KEY_MAX: limit(
    100,
    "connections",
    "WebSockets that a key may have open in a process. More get 429.",
  ),
  RESPONSES_SOCKETS_PER_PERSON_MAX: limit(
    200,
    "connections",
    "WebSockets that one person's keys may have open in a process. More get 429.",
  ),
  RESPONSES_SOCKET_TURNS_MAX: limit(
    16,
    "responses",
    "Responses in flight or waiting on one WebSocket. More get an error.",
  ),
  RESPONSES_SOCKET_MS_MAX: limit(
    3_600_000,
    "ms",
    "Lifetime of a WebSocket. It closes between two responses.",
  ),
};

const calls = {
  UPSTREAM_PRIVATE_HOSTS: member(
    privateHosts.default([]),
    "list",
    "Private addresses that the gateway may call, as `host:port`, or `*` for all. The log names the entry that a refused address needs.",
  ),
  UPSTREAM_CONNECT_TIMEOUT_MS: limit(5_000, "ms", "Timeout of a new connection."),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: limit(120_000, "ms", "Timeout of the first byte."),
  UPSTREAM_IDLE_TIMEOUT_MS: limit(60_000, "ms", "Longest gap between two chunks."),
  UPSTREAM_TOTAL_TIMEOUT_MS: limit(900_000, "ms", "Longest duration of a call."),
  UPSTREAM_ANSWER_BYTES_MAX: limit(
    64 * 1024 * 1024,
    "bytes",
    "Largest response, and most bytes of its chunk framing.",
  ),
  UPSTREAM_EVENT_BYTES_MAX: limit(8 * 1024 * 1024, "bytes", "Largest event of a stream."),
  UPSTREAM_HEAD_BYTES_MAX: limit(16 * 1024, "bytes", "Largest response head."),
  UPSTREAM_HEAD_FIELDS_MAX: limit(256, "fields", "Most fields in a response head."),
  UPSTREAM_CONNECTIONS_MAX: limit(2_000, "connections", "Connections to one provider."),
  UPSTREAM_QUEUED_CALLS_MAX: limit(10_000, "calls", "Calls that wait for a connection."),
  UPSTREAM_KEEP_ALIVE_TIMEOUT_MS: limit(20_000, "ms", "Lifetime of an idle connection."),
  UPSTREAM_ATTEMPTS_MAX: limit(3, "calls", "Calls for one request, retries and fallbacks included."),
  UPSTREAM_RETRY_PERCENT_MAX: limit(10, "percent", "Retries per 100 requests."),
  UPSTREAM_RETRY_WAIT_MS_MAX: limit(2_000, "ms", "Longest `retry-after` that the gateway waits for."),
  UPSTREAM_COOL_DOWN_MS: limit(5_000, "ms", "Cool-down of a credential after a refusal."),
  UPSTREAM_COOL_DOWN_MS_MAX: limit(300_000, "ms", "Longest cool-down that a `retry-after` can cause."),
};

const keys = {
  KEY_CACHE_ENTRIES_MAX: limit(100_000, "keys", "Keys that a process keeps in memory."),
  KEY_LOOKUPS_MAX: limit(100, "lookups", "Concurrent key lookups in the database."),
  CHANGE_POLL_INTERVAL_MS: limit(250, "ms", "Interval at which a process reads others' changes."),
};

const limitsAndBudgets = {
  KEY_REQUESTS_PER_MINUTE_MAX: limitFrom0(
    0,
    "requests",
    "Requests per minute of each key that has no limit of its own.",
  ),
  KEY_TOKENS_PER_MINUTE_MAX: limitFrom0(
    0,
    "tokens",
    "Tokens per minute of each key that has no limit of its own.",
  ),
  KEY_CONCURRENT_REQUESTS_MAX: limitFrom0(
    0,
    "requests",
    "Concurrent requests of each key that has no limit of its own.",
  ),
  PERSON_REQUESTS_PER_MINUTE_MAX: limitFrom0(0, "requests", "Requests per minute of all keys of a person."),
  PERSON_TOKENS_PER_MINUTE_MAX: limitFrom0(0, "tokens", "Tokens per minute of all keys of a person."),
  PERSON_CONCURRENT_REQUESTS_MAX: limitFrom0(0, "requests", "Concurrent requests of all keys of a person."),
  GATEWAY_REQUESTS_PER_MINUTE_MAX: limitFrom0(0, "requests", "Requests per minute of all keys."),
  GATEWAY_TOKENS_PER_MINUTE_MAX: limitFrom0(0, "tokens", "Tokens per minute of all keys."),
  PERSON_BUDGET_USD_PER_DAY_MAX: budget("Daily budget of all keys of a person, such as 0.5."),
  PERSON_BUDGET_USD_PER_MONTH_MAX: budget("Monthly budget of all keys of a person."),
  GATEWAY_BUDGET_USD_PER_DAY_MAX: budget("Daily budget of all keys."),
  GATEWAY_BUDGET_USD_PER_MONTH_MAX: budget("Monthly budget of all keys."),
  LIMIT_EXCHANGE_INTERVAL_MS: limit(
    250,
    "ms",
    "Interval at which processes share their counts through the database.",
  ),
  BUDGET_REFRESH_INTERVAL_MS: limit(1_000, "ms", "Interval at which a process reads what others spent."),
  VALKEY_URL: member(
    valkeyUrl.optional(),
    "URL",
    "Server for exact shared limits: `redis://user:password@host:6379/0`, or `rediss://` for TLS.",
  ),
  VALKEY_TIMEOUT_MS: limit(
    250,
    "ms",
    "Timeout of a command. After a timeout, processes count without Valkey.",
  ),
  LIMIT_WEBHOOK_URL: part(httpUrl.optional(), "URL", "Receiver of budget warnings at 80 % and 100 %."),
  LIMIT_WEBHOOK_SECRET: part(
    webhookSecret.optional(),
    "",
    "Secret of at least 32 bytes that signs these warnings.",
  ),
};

const usage = {
  USAGE_SYNC: part(
    z.enum(["on", "off"], "is unknown. Use on or off.").optional(),
    "",
    "`on` or `off`: whether usage records survive a power failure.",
    "`on` if `NODE_ENV` is `production`, else `off`",
  ),
  USAGE_RETENTION_DAYS: limitFrom0(
    400,
    "days",
    "Retention of usage records, on MySQL up to a month longer. 0 = unlimited. Sums never expire.",
  ),
  USAGE_UNKNOWN_MODELS_PER_HOUR_MAX: limitFrom0(
    100,
    "names",
    "Unknown model names that a process records per hour.",
  ),
  USAGE_QUERY_TIMEOUT_MS: limit(2_000, "ms", "Timeout of a query of the history. Slower ones get 503."),
  USAGE_RECORDS_PER_PAGE_MAX: limit(500, "records", "Largest page of usage records."),
  USAGE_SUMMARY_ROWS_MAX: limit(10_000, "rows", "Most rows of a summary."),
  USAGE_SPOOL_BYTES_MAX: limit(
    512 * 1024 * 1024,
    "bytes",
    "Usage records that may wait on the disk for the database.",
  ),
  USAGE_RESERVE_BYTES: limit(
    1024 * 1024,
    "bytes",
    "Disk space that each process keeps free for records of running requests when the disk is full.",
  ),
  USAGE_SEGMENT_BYTES_MAX: limit(1024 * 1024, "bytes", "Largest file of the spool."),
  USAGE_SEGMENT_AGE_MS_MAX: limit(10_000, "ms", "Oldest file of the spool that still receives records."),
  USAGE_BATCH_RECORDS_MAX: limit(2_000, "records", "Most records in one transaction."),
  USAGE_FLUSH_INTERVAL_MS: limit(250, "ms", "Interval at which records move from the spool to the database."),
  USAGE_ADOPT_INTERVAL_MS: limit(
    10_000,
    "ms",
    "Interval at which a process looks for records of dead processes.",
  ),
};

const metricsAndTraces = {
  METRICS_PORT: part(
    port.optional(),
    "port",
    "Port of `/metrics` for Prometheus. Keep it private. It must differ from `PORT` on the same host.",
  ),
  METRICS_HOST: part(z.string().optional(), "", "Address that `/metrics` listens on.", "the value of `HOST`"),
  // OpenTelemetry's own variables: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
  OTEL_EXPORTER_OTLP_ENDPOINT: part(
    httpUrl.optional(),
    "URL",
    "Base URL of the collector. The gateway sends traces to its `/v1/traces`.",
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: part(
    z
      .enum(["http/protobuf", "http/json"], "is not supported. Use http/protobuf or http/json.")
      .default("http/protobuf"),
    "",
    "`http/protobuf` or `http/json`.",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: part(headerPairs.default({}), "list", "Further headers, as `name=value`."),
  OTEL_EXPORTER_OTLP_TIMEOUT: part(
    wholeNumber("is not a number of milliseconds.", 1).default(10_000),
    "ms",
    "Timeout of an export.",
  ),
  OTEL_SERVICE_NAME: part(z.string().optional(), "", "Service name in traces.", "`model-gateway`"),
  OTEL_RESOURCE_ATTRIBUTES: part(
    attributePairs.default({}),
    "list",
    "Further resource attributes, as `name=value`.",
  ),
  OTEL_TRACES_SAMPLER: part(
    z
      .enum(
        [
          "always_on",
          "always_off",
          "traceidratio",
          "parentbased_always_on",
          "parentbased_always_off",
          "parentbased_traceidratio",
        ],
        "is not a sampler. Use always_on, always_off or traceidratio, each with or without the prefix parentbased_.",
      )
      .default("parentbased_always_on"),
    "",
    "`always_on`, `always_off` or `traceidratio`, each also with the prefix `parentbased_`.",
  ),
  OTEL_TRACES_SAMPLER_ARG: part(share.default(1), "share", "Sampled share of `traceidratio`: 0 to 1."),
  OTEL_BSP_SCHEDULE_DELAY: part(
    wholeNumber("is not a number of milliseconds.", 1).default(5_000),
    "ms",
    "Interval between two exports.",
  ),
  OTEL_BSP_MAX_QUEUE_SIZE: part(
    wholeNumber("is not a number of spans.", 1).default(2_048),
    "spans",
    "Most spans that wait for an export. The gateway drops further ones.",
  ),
};

/** The variables by the headings of README.md. */
export const sections = {
  Server: server,
  "Storage and secrets": storage,
  "Requests from clients": requests,
  "Kept responses": keptResponses,
  "Calls to providers": calls,
  "API keys": keys,
  "Limits and budgets": limitsAndBudgets,
  "Usage history": usage,
  "Metrics and traces": metricsAndTraces,
};

/** Excludes the variables with provider keys. */
export const variables = {
  ...server,
  ...storage,
  ...requests,
  ...keptResponses,
  ...calls,
  ...keys,
  ...limitsAndBudgets,
  ...usage,
  ...metricsAndTraces,
};

export type VariableName = keyof typeof variables;

export type Variable = {
  schema: z.ZodType;
  /**
   * How `Config` has the value of `EXAMPLE_MS`: a limit as `limits.exampleMs`, a member as `exampleMs` (null if it is
   * not set), a part only within another member, which `readConfig` forms.
   */
  kind: "limit" | "member" | "part";
  unit: string;
  meaning: string;
  /** The words for a default that the schema does not have. */
  ifUnset?: string | undefined;
};

export const environmentSchema = z.object(
  Object.fromEntries(Object.entries(variables).map(([variable, { schema }]) => [variable, schema])) as {
    [Name in VariableName]: (typeof variables)[Name]["schema"];
  },
);

export type Values = z.output<typeof environmentSchema>;

/** `Config.limits`: numbers by the variables' names in camel case. */
export type Settings = { readonly [Name in NameOf<"limit"> as CamelCase<Name>]: number };

/** The members of `Config` that are variables, by their names in camel case. */
export type Members = {
  readonly [Name in NameOf<"member"> as CamelCase<Name>]: undefined extends Values[Name]
    ? Exclude<Values[Name], undefined> | null
    : Values[Name];
};

type NameOf<Kind> = {
  [Name in VariableName]: (typeof variables)[Name]["kind"] extends Kind ? Name : never;
}[VariableName];

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** A whole number of at least 1. */
function limit(value: number, unit: string, meaning: string, least = 1) {
  const schema = wholeNumber("is not a whole number.", least).default(value);
  return { schema, kind: "limit", unit, meaning } as const satisfies Variable;
}

/** A whole number that may be 0. */
function limitFrom0(value: number, unit: string, meaning: string) {
  return limit(value, unit, meaning, 0);
}

/** A limit that may be 0, which is its default, or have decimals. */
function budget(meaning: string) {
  return { schema: amountUsd.default(0), kind: "limit", unit: "USD", meaning } as const satisfies Variable;
}

function member<Schema extends z.ZodType>(schema: Schema, unit: string, meaning: string, ifUnset?: string) {
  return { schema, kind: "member", unit, meaning, ifUnset } as const satisfies Variable;
}

function part<Schema extends z.ZodType>(schema: Schema, unit: string, meaning: string, ifUnset?: string) {
  return { schema, kind: "part", unit, meaning, ifUnset } as const satisfies Variable;
}
