import test from "ava";
import { alarmDefinitions } from "../../infra/alarm-definitions.ts";
import { namesOf } from "../../infra/names.ts";
import { readStackConfig, StackConfigError } from "../../infra/stack-config.ts";
import { exampleConfig } from "./helpers/run-program.ts";

type Changes = Record<string, string | null>;

/** Invalid configurations with the expected message. */
const refused: [string, Changes, RegExp][] = [
  ["no account", { accountId: null }, /gateway:accountId is missing/],
  ["no image", { image: null }, /gateway:image is missing/],
  [
    "an image without a digest",
    { image: "example.com/model-gateway:1" },
    /gateway:image is "example.com\/model-gateway:1", without a digest. In production, append @sha256/,
  ],
  [
    "no certificate",
    { hostedZoneId: null },
    /gateway:certificateArn is missing, but production requires TLS. Set certificateArn, or hostedZoneId/,
  ],
  ["plain HTTP", { allowHttp: "true" }, /gateway:allowHttp is true, but production requires TLS/],
  ["a certificate for no domain", { domainName: null }, /gateway:domainName is missing/],
  [
    "two certificates",
    { certificateArn: "arn:aws:acm:x" },
    /gateway:certificateArn and hostedZoneId are both set/,
  ],
  ["a misspelt key", { tasksMinimum: "2" }, /gateway:tasksMinimum is an unknown key/],
  ["a public database", { databasePublic: "true" }, /gateway:databasePublic is an unknown key/],
  ["one task", { tasksMin: "1" }, /gateway:tasksMin is 1. In production, use at least 2/],
  [
    "a database in one zone",
    { databaseMultiAz: "false" },
    /gateway:databaseMultiAz is false. In production, set databaseMultiAz to true/,
  ],
  ["six days of backups", { backupDays: "6" }, /gateway:backupDays is 6. In production, use at least 7/],
  [
    "memory that Fargate has not",
    { memory: "8192" },
    /gateway:memory is 8192, which Fargate does not offer with cpu \d+. Use one of 256: 1024-2048/,
  ],
  [
    "more ways out than zones",
    { natGateways: "3" },
    /gateway:natGateways is 3, more than zones. Use at most 2/,
  ],
  ["fewer at most than at least", { tasksMax: "1" }, /gateway:tasksMax is 1, less than tasksMin/],
  [
    "connections that the database has not",
    { tasksMax: "20" },
    /gateway:databaseConnectionsMax allows up to 400/,
  ],
  [
    "no room to grow",
    { databaseStorageGib: "200" },
    /gateway:databaseStorageGibMax is \d+. Use at least 220, 10 % above/,
  ],
  ["a number in words", { tasksMin: "two" }, /gateway:tasksMin is "two". Use a whole number from 1 to 1000/],
  ["an invalid flag", { privateEndpoints: "yes" }, /gateway:privateEndpoints is "yes". Use true or false/],
  ["days that CloudWatch does not know", { logDays: "31" }, /gateway:logDays is "31". Use one of/],
  ["public addresses", { cidr: "8.8.0.0/16" }, /gateway:cidr is "8.8.0.0\/16". Use a private range/],
  ["an invalid e-mail address", { adminEmail: "me" }, /gateway:adminEmail is "me". Use an email address/],
];

for (const [title, changes, message] of refused) {
  test(`the configuration is rejected: ${title}`, (t) => {
    t.throws(() => read("prod", changes), { instanceOf: StackConfigError, message });
  });
}

test("all errors are reported at once with the commands that fix them", (t) => {
  const error = t.throws(() => read("prod", { accountId: "1", region: null, image: null }));
  for (const key of ["accountId", "region", "image"]) t.true(error.message.includes(`gateway:${key} `));
  t.regex(error.message, /pulumi config set <key> <value> --stack prod/);
});

test("a stack whose name cannot be part of names is rejected", (t) => {
  t.throws(() => readStackConfig(exampleConfig("prod"), "gateway", "Prod_1"), {
    message: /stack name "Prod_1"/,
  });
});

test("production is the default and needs few settings", (t) => {
  const config = read("prod", { environment: null, alarmEmail: null, waf: null });
  t.like(config, { isProduction: true, tasksMin: 2, databaseMultiAz: true, backupDays: 14, waf: "off" });
});

test("development may be small and plain", (t) => {
  t.like(read("dev", {}), { isProduction: false, allowHttp: true, databaseMultiAz: false, natGateways: 1 });
  t.throws(() => read("dev", { allowHttp: null }), {
    message:
      /gateway:certificateArn is missing. Set certificateArn or hostedZoneId, or in development allowHttp/,
  });
});

test("keys of other projects are ignored", (t) => {
  t.notThrows(() =>
    readStackConfig({ ...exampleConfig("prod"), "aws:region": "us-east-1" }, "gateway", "prod"),
  );
});

function read(stack: "dev" | "prod", changes: Changes) {
  const changed = Object.entries(changes).map(([key, value]) => [`gateway:${key}`, value ?? ""]);
  return readStackConfig({ ...exampleConfig(stack), ...Object.fromEntries(changed) }, "gateway", stack);
}

test("the alarm for database connections knows the processes per task", (t) => {
  const thresholdOf = (cpu: string, memory: string) => {
    const config = read("prod", { cpu, memory, databaseClass: "db.r6g.xlarge" });
    const alarms = alarmDefinitions(config, namesOf("gateway", "prod"));
    return alarms.find(({ part }) => part === "database-connections")?.threshold ?? 0;
  };
  t.is(thresholdOf("4096", "8192"), 4 * thresholdOf("1024", "2048"));
});
