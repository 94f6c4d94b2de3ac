import test from "ava";
import * as fc from "fast-check";
import { alarmDefinitions } from "../../infra/alarm-definitions.ts";
import { namesOf, repositoryOf } from "../../infra/names.ts";
import { connectionsAvailable, hasPerformanceInsights, isFargatePair, workersOf } from "../../infra/sizes.ts";
import { readStackConfig, StackConfigError } from "../../infra/stack-config.ts";
import { subnetBlocks } from "../../infra/subnet-blocks.ts";
import { exampleConfig } from "./helpers/run-program.ts";

type Changes = Record<string, string | null>;

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
    /gateway:memory is 8192, which Fargate does not offer with cpu \d+. Use a supported size: cpu 256 with 512 MiB, or 1024 to 2048 MiB in steps of 1024; cpu 512 /,
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

test("Fargate accepts only its own pairs of CPU and memory", (t) => {
  const pairs: [number, number, boolean][] = [
    [256, 512, true],
    [256, 2_048, true],
    [256, 3_072, false],
    [512, 512, false],
    [512, 1_024, true],
    [1_024, 8_192, true],
    [4_096, 30_720, true],
    [4_096, 31_744, false],
    [8_192, 20_480, true],
    [8_192, 21_504, false],
    [300, 1_024, false],
  ];
  for (const [cpu, memory, expected] of pairs) t.is(isFargatePair(cpu, memory), expected, `${cpu}/${memory}`);
});

test("a task runs one process per whole CPU", (t) => {
  t.deepEqual([256, 512, 1_024, 2_048, 4_096].map(workersOf), [1, 1, 1, 2, 4]);
});

test("connections grow with the database's memory, less a fifth", (t) => {
  t.is(connectionsAvailable("db.t4g.medium"), 273);
  t.is(connectionsAvailable("db.m7g.large"), 546);
  t.is(connectionsAvailable("db.r7g.large"), 1_092);
  t.is(connectionsAvailable("db.r7g.xlarge"), 2_184);
  t.is(connectionsAvailable("db.r7g.2xlarge"), 4_369);
});

test("the smallest databases have no Performance Insights", (t) => {
  t.deepEqual(["db.t4g.micro", "db.t4g.small", "db.t4g.medium"].map(hasPerformanceInsights), [
    false,
    false,
    true,
  ]);
});

test("subnets lie in their network and never overlap", (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 2, max: 3 }), (second, zones) => {
      const blocks = subnetBlocks(`10.${second}.0.0/16`, zones).flatMap((zone) => Object.values(zone));
      const starts = blocks.map((block) => /^10\.(\d+)\.(\d+)\.0\/20$/.exec(block));
      t.true(starts.every((match) => Number(match?.[1]) === second && Number(match?.[2]) % 16 === 0));
      t.is(new Set(blocks).size, zones * 3);
    }),
  );
});

test("generated names are valid in AWS", (t) => {
  const { prefix, cluster, logs } = namesOf("gateway", "a-stack-of-16-ch");
  t.true(`${prefix}-access-logs-`.length <= 37, "a bucket's prefix");
  t.true(cluster.length <= 32, "a load balancer's name");
  t.is(new Set(Object.values(logs)).size, 5);
});

test("the registry is derived from the image", (t) => {
  const digest = `@sha256:${"0".repeat(64)}`;
  const amazon = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/team/model-gateway";
  const arn = "arn:aws:ecr:eu-central-1:111122223333:repository/team/model-gateway";
  for (const image of [amazon, `${amazon}:1.2`, `${amazon}${digest}`, `${amazon}:1.2${digest}`])
    t.deepEqual(repositoryOf(image), { url: amazon, arn });
  t.deepEqual(repositoryOf(`ghcr.io/team/gateway${digest}`), { url: "ghcr.io/team/gateway", arn: null });
  t.deepEqual(repositoryOf("localhost:5000/gateway"), { url: "localhost:5000/gateway", arn: null });
});
