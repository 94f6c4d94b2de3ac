import * as pulumi from "@pulumi/pulumi";
import * as z from "zod";
import { connectionsAvailable, fargatePairs, isFargatePair, workersOf } from "./sizes.ts";

/**
 * A stack's configuration. Every key is `gateway:<key>` in infra/Pulumi.<stack>.yaml. infra/README.md explains them.
 */
export type StackConfig = z.output<typeof schema> & { stack: string; isProduction: boolean };

/**
 * Reads the stack's configuration from Pulumi's texts under `<project>:<key>`. Throws one `StackConfigError`
 * that lists every missing, invalid and unknown key.
 */
export function readStackConfig(values: Record<string, string>, project: string, stack: string): StackConfig {
  const prefix = `${project}:`;
  const given = Object.fromEntries(
    Object.entries(values)
      .filter(([key, value]) => key.startsWith(prefix) && value !== "")
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );
  const problems = stackName.test(stack)
    ? []
    : [`The stack name "${stack}" is invalid: use up to 16 lower-case letters, digits and hyphens.`];
  const parsed = schema.safeParse(given);
  if (!parsed.success)
    problems.push(...parsed.error.issues.flatMap((issue) => explain(issue).map((line) => prefix + line)));
  else problems.push(...contradictions(parsed.data).map((line) => prefix + line));
  if (!parsed.success || problems.length > 0) throw new StackConfigError(stack, problems);
  return { ...parsed.data, stack, isProduction: parsed.data.environment === "production" };
}

/** Pulumi shows the message of a `RunError` without a stack trace. */
export class StackConfigError extends pulumi.RunError {
  constructor(stack: string, problems: string[]) {
    const advice = `Set each with: pulumi config set <key> <value> --stack ${stack}`;
    super([`The stack configuration is invalid:`, ...problems, advice].join("\n  "));
  }
}

const stackName = /^[a-z][a-z0-9-]{0,15}$/;
const digest = /@sha256:[0-9a-f]{64}$/;

function explain(issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => `${key} is an unknown key`);
  const missing = issue.code === "invalid_type" && issue.input === undefined;
  return [`${issue.path.join(".")} ${missing ? "is missing" : issue.message}`];
}

/** Checks that need several keys. */
function contradictions(config: z.output<typeof schema>): string[] {
  const isProduction = config.environment === "production";
  const hasCertificate = config.certificateArn !== undefined || config.hostedZoneId !== undefined;
  const connections = connectionsAvailable(config.databaseClass);
  // A deployment doubles the tasks with connections, and each process has its own pool.
  const wanted = config.tasksMax * 2 * workersOf(config.cpu) * config.databaseConnectionsMax;
  const rules: [broken: boolean, problem: string][] = [
    [isProduction && !digest.test(config.image), "image must end in @sha256:<digest> in production"],
    [
      !hasCertificate && isProduction,
      "certificateArn, or hostedZoneId for a new certificate, is missing: production requires TLS",
    ],
    [
      !hasCertificate && !isProduction && !config.allowHttp,
      "certificateArn or hostedZoneId is missing: in development, allowHttp: true also works",
    ],
    [isProduction && config.allowHttp, "allowHttp must not be true in production"],
    [hasCertificate && config.allowHttp, "allowHttp must not be true with a certificate"],
    [hasCertificate && config.domainName === undefined, "domainName is missing: the certificate requires it"],
    [
      config.certificateArn !== undefined && config.hostedZoneId !== undefined,
      "certificateArn and hostedZoneId are mutually exclusive: use an existing certificate, or create one in the zone",
    ],
    [
      !isFargatePair(config.cpu, config.memory),
      `memory does not match cpu: the combinations are ${fargatePairs}`,
    ],
    [config.natGateways > config.zones, "natGateways must not be more than zones"],
    [config.tasksMax < config.tasksMin, "tasksMax must not be less than tasksMin"],
    [isProduction && config.tasksMin < 2, "tasksMin must be at least 2 in production"],
    [isProduction && !config.databaseMultiAz, "databaseMultiAz must be true in production"],
    [isProduction && config.backupDays < 7, "backupDays must be at least 7 in production"],
    [
      config.databaseStorageGibMax < config.databaseStorageGib * 1.1,
      "databaseStorageGibMax must be at least 10 % above databaseStorageGib",
    ],
    [
      wanted > connections,
      `databaseConnectionsMax is too large: up to ${wanted} connections are used, ${config.databaseClass} has about ${connections}`,
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
}

const flag = z.enum(["true", "false"], "must be true or false").transform((text) => text === "true");
const text = (pattern: RegExp, problem: string) => z.string().regex(pattern, problem);

const whole = (min: number, max: number) => {
  const problem = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, problem)
    .transform(Number)
    .pipe(z.number().min(min, problem).max(max, problem));
};

/** The retention days that CloudWatch Logs supports. */
const logDays = ["1", "3", "5", "7", "14", "30", "60", "90", "180", "365"] as const;

const schema = z.strictObject({
  environment: z
    .enum(["production", "development"], "must be production or development")
    .default("production"),
  region: text(/^[a-z]{2}(-[a-z]+)+-\d$/, "must be a region, such as eu-central-1"),
  accountId: text(/^\d{12}$/, "must be the 12 digits of an AWS account"),
  image: text(/^[\w.-]+(:\d+)?(\/[\w.-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/, "is not an image name"),
  adminEmail: z.email("must be an email address"),
  domainName: text(/^([a-z0-9-]+\.)+[a-z]{2,}$/, "must be a domain name").optional(),
  hostedZoneId: text(/^Z[A-Z0-9]+$/, "must be the ID of a Route 53 zone").optional(),
  certificateArn: text(/^arn:aws[\w-]*:acm:/, "must be the ARN of a certificate").optional(),
  allowHttp: flag.default(false),
  zones: whole(2, 3).default(2),
  natGateways: whole(1, 3).default(2),
  cidr: text(
    /^(10\.\d{1,3}|172\.(1[6-9]|2\d|3[01])|192\.168)\.0\.0\/16$/,
    "must be private and end in .0.0/16",
  ).default("10.20.0.0/16"),
  privateEndpoints: flag.default(false),
  cpu: whole(256, 16_384).default(512),
  memory: whole(512, 122_880).default(1024),
  tasksMin: whole(1, 1_000).default(2),
  tasksMax: whole(1, 1_000).default(10),
  streamSecondsMax: whole(60, 3_600).default(900),
  databaseClass: text(/^db\.[a-z0-9]+\.[a-z0-9]+$/, "must be a class, such as db.t4g.medium").default(
    "db.t4g.medium",
  ),
  databaseMultiAz: flag.default(true),
  databaseStorageGib: whole(20, 65_536).default(20),
  databaseStorageGibMax: whole(22, 65_536).default(200),
  databaseConnectionsMax: whole(1, 1_000).default(10),
  backupDays: whole(1, 35).default(14),
  logDays: z
    .enum(logDays, `must be one of ${logDays.join(", ")}`)
    .default("30")
    .transform(Number),
  waf: z.enum(["off", "count", "block"], "must be off, count or block").default("off"),
  alarmEmail: z.email("must be an email address").optional(),
});
