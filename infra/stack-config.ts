import * as pulumi from "@pulumi/pulumi";
import * as z from "zod";
import { connectionsAvailable, fargatePairs, isFargatePair, workersOf } from "./sizes.ts";

/**
 * infra/Pulumi.<stack>.yaml sets the keys of `schema`, with the prefix `gateway:`. infra/README.md explains the
 * keys.
 */
export type StackConfig = z.output<typeof schema> & { stack: string; isProduction: boolean };

/**
 * Reads the stack's configuration from Pulumi's string values, keyed `<project>:<key>`. Throws one
 * `StackConfigError` that lists every missing, invalid and unknown key.
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
    : [
        `The stack name "${stack}" is invalid. Use up to 16 lower-case letters, digits and hyphens, starting with a letter.`,
      ];
  const parsed = schema.safeParse(given);
  if (!parsed.success)
    problems.push(
      ...parsed.error.issues.flatMap((issue) => explain(issue, given).map((line) => prefix + line)),
    );
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

function explain(issue: z.core.$ZodIssue, given: Record<string, string>): string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${key} is an unknown key. Remove the key, or correct its name.`);
  const key = issue.path.join(".");
  const value = given[key];
  return [
    value === undefined
      ? `${key} is missing. Set ${key}.`
      : `${key} is "${value.slice(0, 60)}". ${issue.message}`,
  ];
}

function contradictions(config: z.output<typeof schema>): string[] {
  const isProduction = config.environment === "production";
  const hasCertificate = config.certificateArn !== undefined || config.hostedZoneId !== undefined;
  const connections = connectionsAvailable(config.databaseClass);
  // During a deployment, up to twice as many tasks hold connections. Each process has its own pool.
  const wanted = config.tasksMax * 2 * workersOf(config.cpu) * config.databaseConnectionsMax;
  const rules: [broken: boolean, problem: string][] = [
    [
      isProduction && !digest.test(config.image),
      `image is "${config.image}", without a digest. In production, append @sha256:<digest>.`,
    ],
    [
      !hasCertificate && isProduction,
      "certificateArn is missing, but production requires TLS. Set certificateArn, or hostedZoneId for a new certificate.",
    ],
    [
      !hasCertificate && !isProduction && !config.allowHttp,
      "certificateArn is missing. Set certificateArn or hostedZoneId, or in development allowHttp to true.",
    ],
    [
      isProduction && config.allowHttp,
      "allowHttp is true, but production requires TLS. Set allowHttp to false.",
    ],
    [
      hasCertificate && config.allowHttp,
      "allowHttp is true, but the stack has a certificate. Set allowHttp to false.",
    ],
    [
      hasCertificate && config.domainName === undefined,
      "domainName is missing, but the certificate requires it. Set domainName.",
    ],
    [
      config.certificateArn !== undefined && config.hostedZoneId !== undefined,
      "certificateArn and hostedZoneId are both set. Set certificateArn for an existing certificate, or hostedZoneId for a new one.",
    ],
    [
      !isFargatePair(config.cpu, config.memory),
      `memory is ${config.memory}, which Fargate does not offer with cpu ${config.cpu}. Use a supported size: ${fargatePairs}.`,
    ],
    [
      config.natGateways > config.zones,
      `natGateways is ${config.natGateways}, more than zones. Use at most ${config.zones}.`,
    ],
    [
      config.tasksMax < config.tasksMin,
      `tasksMax is ${config.tasksMax}, less than tasksMin. Use at least ${config.tasksMin}.`,
    ],
    [isProduction && config.tasksMin < 2, `tasksMin is ${config.tasksMin}. In production, use at least 2.`],
    [
      isProduction && !config.databaseMultiAz,
      "databaseMultiAz is false. In production, set databaseMultiAz to true.",
    ],
    [
      isProduction && config.backupDays < 7,
      `backupDays is ${config.backupDays}. In production, use at least 7.`,
    ],
    [
      config.databaseStorageGibMax * 10 < config.databaseStorageGib * 11,
      `databaseStorageGibMax is ${config.databaseStorageGibMax}. Use at least ${Math.ceil((config.databaseStorageGib * 11) / 10)}, 10 % above databaseStorageGib.`,
    ],
    [
      wanted > connections,
      `databaseConnectionsMax allows up to ${wanted} connections, but ${config.databaseClass} has about ${connections}. Lower databaseConnectionsMax, or use a larger databaseClass.`,
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
}

const flag = z.enum(["true", "false"], "Use true or false.").transform((text) => text === "true");
const text = (pattern: RegExp, problem: string) => z.string().regex(pattern, problem);

const whole = (min: number, max: number) => {
  const problem = `Use a whole number from ${min} to ${max}.`;
  return z
    .string()
    .regex(/^\d+$/, problem)
    .transform(Number)
    .pipe(z.number().min(min, problem).max(max, problem));
};

/** In days. CloudWatch Logs supports only certain periods. */
const logDays = ["1", "3", "5", "7", "14", "30", "60", "90", "180", "365"] as const;

const schema = z.strictObject({
  environment: z.enum(["production", "development"], "Use production or development.").default("production"),
  region: text(/^[a-z]{2}(-[a-z]+)+-\d$/, "Use an AWS region, such as eu-central-1."),
  accountId: text(/^\d{12}$/, "Use a 12-digit AWS account ID."),
  image: text(
    /^[\w.-]+(:\d+)?(\/[\w.-]+)+(:[\w.-]+)?(@sha256:[0-9a-f]{64})?$/,
    "Use the name of a container image, such as example.com/model-gateway:1.",
  ),
  adminEmail: z.email("Use an email address, such as ada@example.com."),
  domainName: text(
    /^([a-z0-9-]+\.)+[a-z]{2,}$/,
    "Use a domain name, such as gateway.example.com.",
  ).optional(),
  hostedZoneId: text(/^Z[A-Z0-9]+$/, "Use the ID of a Route 53 zone, such as Z0123456789.").optional(),
  certificateArn: text(/^arn:aws[\w-]*:acm:/, "Use the ARN of an ACM certificate.").optional(),
  allowHttp: flag.default(false),
  zones: whole(2, 3).default(2),
  natGateways: whole(1, 3).default(2),
  cidr: text(
    /^(10\.\d{1,3}|172\.(1[6-9]|2\d|3[01])|192\.168)\.0\.0\/16$/,
    "Use a private range that ends in .0.0/16, such as 10.20.0.0/16.",
  ).default("10.20.0.0/16"),
  privateEndpoints: flag.default(false),
  cpu: whole(256, 16_384).default(512),
  memory: whole(512, 122_880).default(1024),
  tasksMin: whole(1, 1_000).default(2),
  tasksMax: whole(1, 1_000).default(10),
  streamSecondsMax: whole(60, 3_600).default(900),
  databaseClass: text(/^db\.[a-z0-9]+\.[a-z0-9]+$/, "Use a database class, such as db.t4g.medium.").default(
    "db.t4g.medium",
  ),
  databaseMultiAz: flag.default(true),
  databaseStorageGib: whole(20, 65_536).default(20),
  databaseStorageGibMax: whole(22, 65_536).default(200),
  databaseConnectionsMax: whole(1, 1_000).default(10),
  backupDays: whole(1, 35).default(14),
  logDays: z
    .enum(logDays, `Use one of ${logDays.join(", ")}.`)
    .default("30")
    .transform(Number),
  waf: z.enum(["off", "count", "block"], "Use off, count or block.").default("off"),
  alarmEmail: z.email("Use an email address, such as ada@example.com.").optional(),
});
