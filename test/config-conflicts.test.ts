import { randomBytes } from "node:crypto";
import test from "ava";
import { type Environment, problemsOf } from "./helpers/problems-of.ts";

test("conflicts between variables are reported together with invalid values", (t) => {
  const conflicts: Environment = {
    WORKERS: "2",
    REQUEST_RECEIVE_TIMEOUT_MS: "10",
    KMS_KEY_ID: "alias/gateway",
    MASTER_KEY: randomBytes(32).toString("base64"),
    LIMIT_WEBHOOK_URL: "https://example.com/hook",
    ADMIN_EMAIL: "ada@example.com",
    METRICS_PORT: "8080",
  };
  const together = ["ADMIN_PASSWORD", "KMS_KEY_ID", "LIMIT_WEBHOOK_URL", "METRICS_PORT"];
  together.push("REQUEST_RECEIVE_TIMEOUT_MS", "WORKERS");
  const namesIn = (environment: Environment) =>
    problemsOf(environment)
      .map((line) => line.slice(0, line.indexOf(":")))
      .toSorted();
  t.deepEqual(namesIn(conflicts), together);
  t.deepEqual(namesIn({ ...conflicts, LOG_LEVEL: "loud", KEY_REQUESTS_PER_MINUTE_MAX: "-1" }), [
    ...together.slice(0, 1),
    "KEY_REQUESTS_PER_MINUTE_MAX",
    ...together.slice(1, 3),
    "LOG_LEVEL",
    ...together.slice(3),
  ]);
});

test("an invalid variable is not reported again as a conflict", (t) => {
  for (const [environment, name] of [
    [{ WORKERS: "2", DATABASE_URL: "postgres://host/name" }, "DATABASE_URL"],
    [{ ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "short" }, "ADMIN_PASSWORD"],
    [{ ADMIN_EMAIL: "nobody", ADMIN_PASSWORD: "correct horse" }, "ADMIN_EMAIL"],
    [{ LIMIT_WEBHOOK_URL: "https://example.com", LIMIT_WEBHOOK_SECRET: "short" }, "LIMIT_WEBHOOK_SECRET"],
  ] satisfies [Environment, string][]) {
    const problems = problemsOf(environment);
    t.is(problems.length, 1, problems.join());
    t.true(problems[0]?.startsWith(`${name}: `));
  }
});

test("metrics need their own port, unless they have their own host", (t) => {
  const same: Environment[] = [{ PORT: "9000", METRICS_PORT: "9000" }, { METRICS_PORT: "8080" }];
  for (const ports of same) {
    t.regex(problemsOf(ports).join(), /^METRICS_PORT: \d+ is also the value of PORT/);
    t.deepEqual(problemsOf({ ...ports, METRICS_HOST: "127.0.0.2" }), []);
  }
  t.deepEqual(problemsOf({ PORT: "0", METRICS_PORT: "0" }), []);
});
