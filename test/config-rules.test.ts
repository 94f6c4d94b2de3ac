import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type { IncomingMessage } from "node:http";
import test from "ava";
import { ConfigError, readConfig } from "../gateway/config/config.ts";
import { variables } from "../gateway/config/variables.ts";
import { limitVariables } from "./helpers/limit-variables.ts";
import { type Environment, problemsOf } from "./helpers/problems-of.ts";
import { clientAddressOf } from "../gateway/http/trusted-proxies.ts";
import { Browser } from "./helpers/browser.ts";
import { administrator, startTestGateway } from "./helpers/test-gateway.ts";

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
    Object.keys(variables)
      .filter((name) =>
        problemsOf({ [name]: `${canary}%` })
          .join("\n")
          .includes(canary),
      )
      .toSorted(),
    [...limitVariables.map(({ variable }) => variable), ...quoted.split(" ")].toSorted(),
  );
  const url = `mysql://root:${canary}@host:notaport/name`;
  t.false(problemsOf({ DATABASE_URL: url }).join("\n").includes(canary));
});

/** The variables besides limits that cannot hold a secret. */
const quoted =
  "OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_BSP_SCHEDULE_DELAY OTEL_BSP_MAX_QUEUE_SIZE OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG PORT WORKERS METRICS_PORT TRUSTED_PROXIES CORS_ORIGINS RESPONSES_STATE UPSTREAM_PRIVATE_HOSTS USAGE_SYNC LOG_LEVEL";

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

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };

test("without a collector tracing is off, whatever the other variables", (t) => {
  t.is(readConfig({ OTEL_SERVICE_NAME: "gateway", OTEL_TRACES_SAMPLER: "always_on" }).tracing, null);
  t.is(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }).tracing, null);
});

test("a collector is the only required setting", (t) => {
  t.deepEqual(readConfig(endpoint).tracing, {
    url: "http://localhost:4318/v1/traces",
    protocol: "http/protobuf",
    headers: {},
    timeoutMs: 10_000,
    delayMs: 5_000,
    queueSpansMax: 2_048,
    serviceName: "model-gateway",
    attributes: {},
    sampler: "parentbased_always_on",
    sampledShare: 1,
  });
});

test("lists use OpenTelemetry's format, and OTEL_SERVICE_NAME beats the attribute", (t) => {
  const attributes = "service.name=one, team=a%2Cb%20c,,empty=,city=%E6%9D%B1%E4%BA%AC,a/b=c";
  const { tracing } = readConfig({ ...endpoint, OTEL_RESOURCE_ATTRIBUTES: attributes });
  t.deepEqual(tracing?.attributes, {
    "service.name": "one",
    team: "a,b c",
    empty: "",
    city: "東京",
    "a/b": "c",
  });
  t.is(tracing?.serviceName, "one");
  const named = { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_SERVICE_NAME: "two" };
  t.is(readConfig(named).tracing?.serviceName, "two");
});

const wrong: [variable: string, value: string, message: string][] = [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "is not an http or https URL"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", '"grpc" is not supported'],
  ["OTEL_EXPORTER_OTLP_HEADERS", "Bearer hush", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=1%0d%0ab: hush", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=hush%zz", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a/b=hush", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=hush%E6%9D%B1", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "0", "is out of range. Use a whole number from 1 to 2147483647."],
  ["OTEL_RESOURCE_ATTRIBUTES", "hush", "is not a list of name=value pairs"],
  ["OTEL_TRACES_SAMPLER", "xray", "is not a sampler"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", '"1.5" is not a share of the traces'],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "many", "is not a number of spans"],
];

for (const [variable, value, message] of wrong) {
  test(`${variable} rejects ${value.replaceAll("%", "")}`, (t) => {
    const [problem = "", ...more] = problemsOf({ ...endpoint, [variable]: value });
    t.true(problem.startsWith(`${variable}: `) && problem.includes(message), problem);
    t.deepEqual(more, []);
    t.false(problem.includes("hush"));
  });
}

test("an unknown option in a MySQL URL is rejected", (t) => {
  const url = "mysql://user:password@db.example.com/name";
  for (const [options, message] of [
    ["?sslmode=require", /unknown option. Use only ssl, ssl-ca and auth/],
    ["?ssl=yes", /unknown ssl option. Use ssl=true, ssl=rds or ssl=false/],
    ['?ssl={"rejectUnauthorized":false}', /unknown ssl option. Use ssl=true, ssl=rds or ssl=false/],
    ["?ssl=", /unknown ssl option. Use ssl=true, ssl=rds or ssl=false/],
    ["?ssl=rds&ssl-ca=/etc/db.pem", /unusable ssl-ca option/],
    ["?ssl=false&ssl-ca=/etc/db.pem", /unusable ssl-ca option/],
    ["?auth=token&ssl=rds", /Use auth=password or auth=iam/],
    ["?auth=iam", /the token would be sent unencrypted. Add ssl=rds/],
    ["?auth=iam&ssl=false", /Add ssl=rds/],
  ] as const) {
    const [problem = "", ...more] = problemsOf({ DATABASE_URL: url + options });
    t.regex(problem, message, options);
    t.deepEqual(more, []);
  }
  for (const host of ["10.0.0.5", "[::1]"]) {
    const [problem = ""] = problemsOf({ DATABASE_URL: `mysql://user:password@${host}/name?ssl=true` });
    t.regex(problem, /an IP address as its host, but certificates are for host names/);
  }
  t.is(problemsOf({ DATABASE_URL: "mysql://user:100%@db.example.com/name" }).length, 1);
});

test("WORKERS is a number or one per core, and more than one requires MySQL", (t) => {
  const DATABASE_URL = "mysql://user:password@db.example.com/name";
  t.is(readConfig({ DATABASE_URL, WORKERS: "3" }).workers, 3);
  t.is(readConfig({ DATABASE_URL, WORKERS: "auto" }).workers, availableParallelism());
  t.is(readConfig({ WORKERS: "auto" }).workers, 1);
  t.is(readConfig({ WORKERS: "1" }).workers, 1);
  t.throws(() => readConfig({ WORKERS: "2" }), {
    message: /problem:\n {2}WORKERS: 2 workers require MySQL/,
  });
  for (const WORKERS of ["0", "-1", "1.5", "all", "1000"]) {
    t.throws(() => readConfig({ DATABASE_URL, WORKERS }), {
      message: /problem:\n {2}WORKERS: ".+" is not a number of workers/,
    });
  }
});

function addressOf(trusted: string, from: string, forwardedFor?: string): string {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: trusted });
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  return clientAddressOf({ headers, socket: { remoteAddress: from } } as IncomingMessage, trustedProxies);
}

test("without configured proxies no forwarded address is trusted", (t) => {
  t.is(addressOf("", "10.0.0.1", "203.0.113.7"), "10.0.0.1");
  t.is(addressOf("0", "10.0.0.1", "203.0.113.7"), "10.0.0.1");
});

test("a proxy count takes that many steps back and ignores the client's own entries", (t) => {
  t.is(addressOf("1", "10.0.0.1", "203.0.113.7"), "203.0.113.7");
  t.is(addressOf("1", "10.0.0.1", "1.1.1.1, 203.0.113.7"), "203.0.113.7");
  t.is(addressOf("2", "10.0.0.1", "1.1.1.1, 203.0.113.7, 10.0.0.2"), "203.0.113.7");
  t.is(addressOf("2", "10.0.0.1", "203.0.113.7"), "203.0.113.7", "fewer than were said");
  t.is(addressOf("1", "10.0.0.1"), "10.0.0.1");
});

test("listed proxies are trusted only up to the last of them", (t) => {
  const trusted = "10.0.0.0/8, fd00::/8,192.0.2.1";
  t.is(addressOf(trusted, "10.1.2.3", "203.0.113.7"), "203.0.113.7");
  t.is(addressOf(trusted, "::ffff:10.1.2.3", "203.0.113.7"), "203.0.113.7");
  t.is(addressOf(trusted, "fd00::1", "2001:db8::7"), "2001:db8::7");
  t.is(addressOf(trusted, "192.0.2.1", "1.1.1.1, 203.0.113.7, 10.9.9.9"), "203.0.113.7");
  t.is(addressOf(trusted, "192.0.2.2", "203.0.113.7"), "192.0.2.2", "no proxy of ours");
  t.is(addressOf(trusted, "203.0.113.9", "10.0.0.1"), "203.0.113.9", "nor by saying so");
});

test("invalid addresses are skipped, and ports and brackets are removed", (t) => {
  for (const wrong of ["", "unknown", "<script>", "203.0.113.7 or 1=1", "999.1.1.1", ",,,"]) {
    t.is(addressOf("1", "10.0.0.1", wrong), "10.0.0.1", wrong);
  }
  t.is(addressOf("1", "10.0.0.1", "203.0.113.7:4711"), "203.0.113.7");
  t.is(addressOf("1", "10.0.0.1", "[2001:db8::7]:4711"), "2001:db8::7");
});

test("an invalid list stops the start", (t) => {
  for (const TRUSTED_PROXIES of [
    "-1",
    "100",
    "yes",
    "10.0.0.0/33",
    "10.0.0.0/8/8",
    "10.0.0.1,,",
    "fd00::/129",
    "host",
  ]) {
    t.throws(() => readConfig({ TRUSTED_PROXIES }), { instanceOf: ConfigError }, TRUSTED_PROXIES);
  }
});

test("the audit log and the sign-in limit use the client's address", async (t) => {
  const gateway = await startTestGateway(t, { environment: { TRUSTED_PROXIES: "127.0.0.1" } });
  const signIn = (account: string, forwardedFor: string, from?: string) =>
    new Browser(gateway).call("auth.signIn", {
      input: { email: account, password: administrator.password },
      headers: { "x-forwarded-for": forwardedFor },
      ...(from !== undefined && { from }),
    });
  t.is((await signIn(administrator.email, "1.1.1.1, 203.0.113.7")).status, 200);
  const { items } = await gateway.admin.audit.list.query({});
  t.is(items[0]?.address, "203.0.113.7");

  const guess = (index: number) => signIn(`nobody${index}@example.com`, "203.0.113.8");
  const codes = await Promise.all(Array.from({ length: 51 }, async (_, index) => (await guess(index)).code));
  t.is(codes.filter((code) => code === "TOO_MANY_REQUESTS").length, 1);
  t.is((await signIn(administrator.email, "203.0.113.9")).status, 200, "others are not concerned");
  // A client that is not a proxy is counted by its own address.
  t.is((await signIn(administrator.email, "203.0.113.8", "127.0.5.1")).status, 200);
});
