import { randomBytes } from "node:crypto";
import test from "ava";
import { configVariables } from "../gateway/config/config.ts";
import { limitVariables } from "../gateway/config/limit-variables.ts";
import { type Environment, problemsOf } from "./helpers/problems-of.ts";

test("one message lists every problem with the variable's name", (t) => {
  const wrong: Environment = {
    PORT: "eighty",
    PUBLIC_URL: "gateway.example.com",
    DATABASE_URL: "postgres://u:p@host/name",
    MASTER_KEY: "short",
    JWT_SECRET: "short",
    ADMIN_EMAIL: "nobody",
    ADMIN_PASSWORD: "short",
    UPSTREAM_PRIVATE_HOSTS: "localhost",
    USAGE_SYNC: "often",
    LOG_LEVEL: "loud",
    DRAIN_TIMEOUT_MS: "soon",
  };
  const problems = problemsOf(wrong);
  for (const name of Object.keys(wrong)) {
    t.is(problems.filter((line) => line.startsWith(`${name}: `)).length, 1, name);
  }
  t.is(problems.length, Object.keys(wrong).length);
});

test("no value of a variable that can hold a secret is quoted", (t) => {
  const canary = "canary-3f9a1";
  const names =
    "PUBLIC_URL DATABASE_URL VALKEY_URL MASTER_KEY MASTER_KEY_PREVIOUS KMS_KEY_ID KMS_ENCRYPTION_CONTEXT JWT_SECRET ADMIN_EMAIL ADMIN_PASSWORD LIMIT_WEBHOOK_URL LIMIT_WEBHOOK_SECRET OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS OTEL_RESOURCE_ATTRIBUTES HOST DATA_DIR";
  for (const name of names.split(" ")) {
    const problems = problemsOf({ PORT: "wrong", [name]: canary });
    t.true(problems.length >= 1);
    t.false(problems.join("\n").includes(canary), name);
  }
  t.deepEqual(
    configVariables.filter((name) =>
      problemsOf({ [name]: `${canary}%` })
        .join("\n")
        .includes(canary),
    ),
    [...Object.values(limitVariables).map(({ variable }) => variable), ...quoted.split(" ")],
  );
  const url = `mysql://root:${canary}@host:notaport/name`;
  t.false(problemsOf({ DATABASE_URL: url }).join("\n").includes(canary));
});

/** The variables besides limits that cannot hold a secret. */
const quoted =
  "OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_BSP_SCHEDULE_DELAY OTEL_BSP_MAX_QUEUE_SIZE OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG PORT WORKERS METRICS_PORT TRUSTED_PROXIES RESPONSES_STATE UPSTREAM_PRIVATE_HOSTS USAGE_SYNC LOG_LEVEL";

test("other values are quoted, unless they resemble a secret", (t) => {
  const problemOf = (value: string) => problemsOf({ PORT: value }).join();
  const rule = "is not a port. Use a whole number from 0 to 65535.";
  t.is(problemOf("eighty"), `PORT: "eighty" ${rule}`);
  t.is(problemOf("80\n\u001b[31mADMIN"), `PORT: "80[31mADMIN" ${rule}`);
  t.is(problemOf("é".repeat(61)), `PORT: "${"é".repeat(60)}…" ${rule}`);
  for (const secret of [
    randomBytes(32).toString("base64"),
    "sk-0123456789abcdefghij",
    "http://ada:pw@host",
  ]) {
    t.is(problemOf(secret), `PORT: the value ${rule}`);
  }
});
