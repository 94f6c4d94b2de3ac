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
    /gateway:image must end in @sha256/,
  ],
  [
    "no certificate",
    { hostedZoneId: null },
    /gateway:certificateArn, or hostedZoneId for a new certificate, is missing/,
  ],
  ["plain HTTP", { allowHttp: "true" }, /gateway:allowHttp must not be true in production/],
  ["a certificate for no domain", { domainName: null }, /gateway:domainName is missing/],
  [
    "two certificates",
    { certificateArn: "arn:aws:acm:x" },
    /gateway:certificateArn and hostedZoneId are mutually exclusive/,
  ],
  ["a misspelt key", { tasksMinimum: "2" }, /gateway:tasksMinimum is an unknown key/],
  ["a public database", { databasePublic: "true" }, /gateway:databasePublic is an unknown key/],
  ["one task", { tasksMin: "1" }, /gateway:tasksMin must be at least 2/],
  ["a database in one zone", { databaseMultiAz: "false" }, /gateway:databaseMultiAz must be true/],
  ["six days of backups", { backupDays: "6" }, /gateway:backupDays must be at least 7/],
  [
    "memory that Fargate has not",
    { memory: "8192" },
    /gateway:memory does not match cpu: the combinations are 256: 1024-2048/,
  ],
  ["more ways out than zones", { natGateways: "3" }, /gateway:natGateways must not be more than zones/],
  ["fewer at most than at least", { tasksMax: "1" }, /gateway:tasksMax must not be less/],
  [
    "connections that the database has not",
    { tasksMax: "20" },
    /gateway:databaseConnectionsMax is too large: up to 400/,
  ],
  ["no room to grow", { databaseStorageGib: "200" }, /gateway:databaseStorageGibMax must be/],
  ["a number in words", { tasksMin: "two" }, /gateway:tasksMin must be a whole number from 1 to 1000/],
  ["an invalid flag", { privateEndpoints: "yes" }, /gateway:privateEndpoints must be true or false/],
  ["days that CloudWatch does not know", { logDays: "31" }, /gateway:logDays must be one of/],
  ["public addresses", { cidr: "8.8.0.0/16" }, /gateway:cidr must be private/],
  ["an invalid e-mail address", { adminEmail: "me" }, /gateway:adminEmail must be an email address/],
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
    message: /gateway:certificateArn or hostedZoneId is missing/,
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
