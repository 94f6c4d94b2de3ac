import { randomBytes } from "node:crypto";
import path from "node:path";
import test from "ava";
import { readConfig } from "../gateway/config/config.ts";
import { EnvironmentKeys } from "../gateway/config/environment-keys.ts";
import { limitVariables } from "./helpers/limit-variables.ts";
import { type Environment, problemsOf } from "./helpers/problems-of.ts";

test("an empty environment gives the defaults", (t) => {
  const { limits, ...config } = readConfig({});
  t.deepEqual(config, {
    host: "127.0.0.1",
    port: 8080,
    workers: 1,
    metrics: null,
    tracing: null,
    trustedProxies: 0,
    publicUrl: null,
    databaseUrl: `sqlite:${path.resolve("data/gateway.db")}`,
    dataDir: path.resolve("data"),
    masterKey: null,
    previousMasterKeys: [],
    kms: null,
    jwtSecrets: null,
    administrator: null,
    limitWebhook: null,
    valkeyUrl: null,
    responsesState: "memory",
    upstreamPrivateHosts: [],
    corsOrigins: [],
    environmentKeys: new EnvironmentKeys({}),
    makesFirstKey: true,
    syncUsage: false,
    logLevel: "info",
  });
  t.deepEqual(limits, Object.fromEntries(limitVariables.map(({ name, value }) => [name, value])));
});

test("an empty variable counts as unset", (t) => {
  const names = [
    "PORT",
    "PUBLIC_URL",
    "DATABASE_URL",
    "MASTER_KEY",
    "JWT_SECRET",
    "ADMIN_EMAIL",
    "LOG_LEVEL",
  ];
  t.deepEqual(readConfig(Object.fromEntries(names.map((name) => [name, ""]))), readConfig({}));
  const blank = { PORT: " ", METRICS_PORT: "\t", USAGE_RETENTION_DAYS: "  " };
  const problems = Object.keys(blank).map(
    (name) => `${name}: the value contains only spaces. Remove the variable, or set a value.`,
  );
  t.deepEqual(problemsOf(blank).toSorted(), problems.toSorted());
});

test("the database is in DATA_DIR by default", (t) => {
  t.is(readConfig({ DATA_DIR: "/var/lib/gateway" }).databaseUrl, "sqlite:/var/lib/gateway/gateway.db");
  t.is(readConfig({ DATA_DIR: "/a", DATABASE_URL: "sqlite:/b.db" }).databaseUrl, "sqlite:/b.db");
});

test("usage is synced to disk in production, or when configured", (t) => {
  t.true(readConfig({ NODE_ENV: "production" }).syncUsage);
  t.false(readConfig({ NODE_ENV: "production", USAGE_SYNC: "off" }).syncUsage);
  t.true(readConfig({ USAGE_SYNC: "on" }).syncUsage);
  t.false(readConfig({ NODE_ENV: "development" }).syncUsage);
});

/** The limits that may be 0, besides budgets. */
const mayBe0 =
  "STOP_DELAY_MS CONCURRENT_REQUESTS_MAX QUEUED_REQUESTS_PER_KEY_MAX USAGE_RETENTION_DAYS USAGE_UNKNOWN_MODELS_PER_HOUR_MAX KEY_REQUESTS_PER_MINUTE_MAX KEY_TOKENS_PER_MINUTE_MAX KEY_CONCURRENT_REQUESTS_MAX PERSON_REQUESTS_PER_MINUTE_MAX PERSON_TOKENS_PER_MINUTE_MAX PERSON_CONCURRENT_REQUESTS_MAX GATEWAY_REQUESTS_PER_MINUTE_MAX GATEWAY_TOKENS_PER_MINUTE_MAX";

for (const { name, variable, unit } of limitVariables) {
  const isUsd = unit === "USD";
  const hasZero = mayBe0.split(" ").includes(variable);
  test(`${variable} sets its limit, as ${isUsd ? "an amount of dollars" : "a whole number"}`, (t) => {
    // Some limits must not exceed another limit. With these values, 17 is valid for every limit.
    const others: Environment = {
      REQUEST_HEADERS_TIMEOUT_MS: "1",
      REQUEST_RECEIVE_TIMEOUT_MS: "1000000",
      REQUEST_BODY_BYTES_MAX: "1",
    };
    t.is(readConfig({ ...others, [variable]: "17" }).limits[name], 17);
    if (hasZero) t.is(readConfig({ ...others, [variable]: "0" }).limits[name], 0);
    const tooSmall = hasZero ? "-1" : "0";
    const wrongs = isUsd ? ["-0.01", "1000000.01", "$5", "1,5"] : [tooSmall, "1.5", "2147483648"];
    for (const wrong of [...wrongs, "-1", "many", "NaN", "Infinity"]) {
      const problems = problemsOf({ [variable]: wrong });
      t.true(
        problems.some((line) => line.startsWith(`${variable}: `)),
        wrong,
      );
    }
  });
}

test("a budget for a person or for all keys may have cents; empty or 0 disables it", (t) => {
  const { limits } = readConfig({
    PERSON_BUDGET_USD_PER_DAY_MAX: "0.5",
    PERSON_BUDGET_USD_PER_MONTH_MAX: "",
    GATEWAY_BUDGET_USD_PER_DAY_MAX: "0",
    GATEWAY_BUDGET_USD_PER_MONTH_MAX: "1000000",
  });
  t.is(limits.personBudgetUsdPerDayMax, 0.5);
  t.is(limits.personBudgetUsdPerMonthMax, 0);
  t.is(limits.gatewayBudgetUsdPerDayMax, 0);
  t.is(limits.gatewayBudgetUsdPerMonthMax, 1_000_000);
});

test("MASTER_KEY is 32 bytes in base64", (t) => {
  const key = randomBytes(32);
  t.deepEqual(readConfig({ MASTER_KEY: key.toString("base64") }).masterKey, key);
  t.deepEqual(readConfig({ MASTER_KEY: key.toString("base64url") }).masterKey, key);
  for (const wrong of [randomBytes(31), randomBytes(33), randomBytes(16), randomBytes(0)]) {
    const text = wrong.toString("base64") || "=";
    t.deepEqual(problemsOf({ MASTER_KEY: text }).length, 1, `${wrong.length} bytes`);
  }
  t.is(problemsOf({ MASTER_KEY: key.toString("hex") }).length, 1, "hex is no base64 of 32 bytes");
});

test("a MASTER_KEY with a character outside base64 is rejected", (t) => {
  const text = randomBytes(32).toString("base64");
  t.is(problemsOf({ MASTER_KEY: `${text.slice(0, 10)}*${text.slice(10)}` }).length, 1);
});

test("MASTER_KEY_PREVIOUS is a list of keys", (t) => {
  const [one, two] = [randomBytes(32), randomBytes(32)];
  const text = `${one.toString("base64")} , ${two.toString("base64url")}`;
  t.deepEqual(readConfig({ MASTER_KEY_PREVIOUS: text }).previousMasterKeys, [one, two]);
  t.is(problemsOf({ MASTER_KEY_PREVIOUS: `${one.toString("base64")},short` }).length, 1);
});

test("KMS_KEY_ID replaces MASTER_KEY, with an optional encryption context", (t) => {
  const read = (more: Environment) => readConfig({ KMS_KEY_ID: "alias/gateway", ...more }).kms;
  t.deepEqual(read({}), { keyId: "alias/gateway", encryptionContext: { app: "gateway" } });
  t.deepEqual(read({ KMS_ENCRYPTION_CONTEXT: "app=gateway, stack=a=b" })?.encryptionContext, {
    app: "gateway",
    stack: "a=b",
  });
  for (const wrong of ["gateway", "app=", "=gateway", "app=gateway,", ","]) {
    t.is(problemsOf({ KMS_ENCRYPTION_CONTEXT: wrong }).length, 1, wrong);
  }
  const both = problemsOf({ KMS_KEY_ID: "alias/gateway", MASTER_KEY: randomBytes(32).toString("base64") });
  t.deepEqual(both, [
    "KMS_KEY_ID: KMS replaces MASTER_KEY, but both are set. Rename MASTER_KEY to MASTER_KEY_PREVIOUS, so that the gateway can decrypt existing provider keys.",
  ]);
});

test("JWT_SECRET is a ring of secrets of at least 32 bytes, newest first", (t) => {
  const [newest, older] = ["n".repeat(32), "é".repeat(16)];
  t.deepEqual(readConfig({ JWT_SECRET: newest }).jwtSecrets, [newest]);
  t.deepEqual(readConfig({ JWT_SECRET: `${newest} , ${older}` }).jwtSecrets, [newest, older]);
  for (const wrong of ["x".repeat(31), `${newest},short`, `${newest},`, ",", " ".repeat(40)]) {
    t.is(problemsOf({ JWT_SECRET: wrong }).length, 1, wrong);
  }
});

test("DATABASE_URL accepts SQLite and MySQL", (t) => {
  const right = [
    "sqlite:gateway.db",
    "sqlite:/var/lib/with space/gateway.db",
    "mysql://user:password@host:3306/name",
    "mysql://user@host/name",
    "mysql://user:p%40ss%2Fword@[::1]:3306/name?ssl=false",
    "mysql://user:password@db.example.com/name?ssl=true",
    "mysql://user:password@db.example.com/name?ssl-ca=/etc/db.pem",
    "mysql://user@db.example.com/name?ssl=rds&auth=iam",
  ];
  for (const url of right) t.is(readConfig({ DATABASE_URL: url }).databaseUrl, url);
  const wrong =
    "sqlite: mysql: mysql://user:password@host:3306 mysql://host/ " +
    "postgres://u:p@host/name gateway.db mariadb://u:p@host/name mysql://u:p@host:99999/name mysql://u:p/ss@host/name";
  for (const url of wrong.split(" ")) t.is(problemsOf({ DATABASE_URL: url }).length, 1, url);
});

test("UPSTREAM_PRIVATE_HOSTS is a list of host:port, or *", (t) => {
  const read = (text: string) => readConfig({ UPSTREAM_PRIVATE_HOSTS: text }).upstreamPrivateHosts;
  t.deepEqual(read("*"), ["*"]);
  t.deepEqual(read("LocalHost:11434, 10.0.0.5:8000 ,[::1]:80,"), [
    "localhost:11434",
    "10.0.0.5:8000",
    "[::1]:80",
  ]);
  for (const wrong of [
    "localhost",
    "localhost:",
    ":80",
    "http://localhost:80",
    "::1:80",
    "10.0.0.0/8",
    "a b:80",
    "**",
    "localhost:eighty",
    "localhost:99999",
    "localhost:0",
  ]) {
    t.is(problemsOf({ UPSTREAM_PRIVATE_HOSTS: wrong }).length, 1, wrong);
  }
});

test("PUBLIC_URL is an http(s) address and loses its trailing slash", (t) => {
  t.is(readConfig({ PUBLIC_URL: "https://gateway.example.com/" }).publicUrl, "https://gateway.example.com");
  t.is(readConfig({ PUBLIC_URL: "http://10.0.0.1:8080/llm" }).publicUrl, "http://10.0.0.1:8080/llm");
  for (const wrong of ["gateway.example.com", "ftp://gateway.example.com", "https://"]) {
    t.is(problemsOf({ PUBLIC_URL: wrong }).length, 1, wrong);
  }
});

test("PORT accepts 0 to 65535", (t) => {
  for (const right of [0, 1, 65_535]) t.is(readConfig({ PORT: String(right) }).port, right);
  for (const wrong of ["-1", "65536", "80.5", "http"]) t.is(problemsOf({ PORT: wrong }).length, 1, wrong);
});

test("ADMIN_EMAIL and ADMIN_PASSWORD require each other", (t) => {
  const both = { ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "correct horse" };
  t.deepEqual(readConfig(both).administrator, { email: "ada@example.com", password: "correct horse" });
  t.regex(problemsOf({ ADMIN_EMAIL: both.ADMIN_EMAIL }).join(), /^ADMIN_PASSWORD: the value is missing/);
  t.regex(problemsOf({ ADMIN_PASSWORD: both.ADMIN_PASSWORD }).join(), /^ADMIN_EMAIL: the value is missing/);
  t.is(problemsOf({ ...both, ADMIN_PASSWORD: "x".repeat(257) }).length, 1);
});
