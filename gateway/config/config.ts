import { resolve } from "node:path";
import * as z from "zod";
import {
  corsOrigins,
  databaseUrl,
  encryptionContext,
  httpUrl,
  jwtSecret,
  masterKey,
  masterKeys,
  nameValue,
  port,
  privateHosts,
  valkeyUrl,
  webhookSecret,
  wholeNumber,
} from "./config-values.ts";
import { findConflicts, countWorkers, workersSetting } from "./config-conflicts.ts";
import { StartError } from "../errors.ts";
import { type LimitVariable, type Settings, limitVariables } from "./limit-variables.ts";
import { EnvironmentKeys } from "./environment-keys.ts";
import { readTracing, type TracingConfig, tracingVariables } from "./tracing-variables.ts";
import { type TrustedProxies, trustedProxiesSetting } from "../http/trusted-proxies.ts";

/** Everything that the environment configures, read once at start. */
export type Config = Readonly<{
  host: string;
  port: number;
  workers: number;
  /** The address of the metrics endpoint. Null disables it. */
  metrics: Readonly<{ host: string; port: number }> | null;
  /** The destination of traces. Null disables tracing. */
  tracing: TracingConfig | null;
  /** The proxies whose forwarded client addresses are trusted. */
  trustedProxies: TrustedProxies;
  /** The public URL, without a trailing slash. Null if it is not configured. */
  publicUrl: string | null;
  /** The origins whose pages may call `/v1`, or `*` for all. */
  corsOrigins: string[];
  databaseUrl: string;
  dataDir: string;
  /** The 32-byte key for sealing secrets. Null if KMS or a key file in the data folder replaces it. */
  masterKey: Buffer | null;
  /** Earlier master keys, which open old secrets and seal no new ones. */
  previousMasterKeys: Buffer[];
  /** The AWS KMS key that wraps the data keys. Null without KMS. */
  kms: { keyId: string; encryptionContext: Record<string, string> } | null;
  /**
   * Whether the first start creates and prints an API key. False with MySQL. Also false in production,
   * because logs would store the key.
   */
  makesFirstKey: boolean;
  /** The secrets of access and refresh tokens, newest first. Null if a key file in the data folder replaces them. */
  jwtSecrets: string[] | null;
  /** The receiver of budget warnings. Null sends no warnings. */
  limitWebhook: { url: string; secret: string } | null;
  /**
   * The Valkey server for limits and kept responses. If null, processes synchronize their limit counts through
   * the database.
   */
  valkeyUrl: string | null;
  /** The store of translated responses for follow-ups. */
  responsesState: ResponsesState;
  administrator: { email: string; password: string } | null;
  /** The allowed private upstreams as `host:port`, or `*` for all. */
  upstreamPrivateHosts: string[];
  environmentKeys: EnvironmentKeys;
  /** Whether usage records are flushed to the device, to survive a power failure. */
  syncUsage: boolean;
  logLevel: "debug" | "info" | "warn" | "error" | "silent";
  limits: Settings;
}>;

/** Throws one `ConfigError` for all invalid variables. Its message quotes no value that resembles a secret. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  // Many deployment tools pass an unset variable as an empty string.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const data = readVariables(given);
  const dataDir = resolve(data.DATA_DIR);
  const workers = countWorkers(data.WORKERS, data.DATABASE_URL);
  return Object.freeze({
    host: data.HOST,
    port: data.PORT,
    workers,
    metrics:
      data.METRICS_PORT === undefined
        ? null
        : { host: data.METRICS_HOST ?? data.HOST, port: data.METRICS_PORT },
    tracing: readTracing(data),
    trustedProxies: data.TRUSTED_PROXIES,
    publicUrl: data.PUBLIC_URL ?? null,
    corsOrigins: data.CORS_ORIGINS,
    databaseUrl: data.DATABASE_URL ?? `sqlite:${resolve(dataDir, "gateway.db")}`,
    dataDir,
    makesFirstKey: data.NODE_ENV !== "production" && (data.DATABASE_URL ?? "sqlite:").startsWith("sqlite:"),
    masterKey: data.MASTER_KEY ?? null,
    previousMasterKeys: data.MASTER_KEY_PREVIOUS,
    kms:
      data.KMS_KEY_ID === undefined
        ? null
        : { keyId: data.KMS_KEY_ID, encryptionContext: data.KMS_ENCRYPTION_CONTEXT },
    jwtSecrets: data.JWT_SECRET ?? null,
    administrator:
      data.ADMIN_EMAIL !== undefined && data.ADMIN_PASSWORD !== undefined
        ? { email: data.ADMIN_EMAIL, password: data.ADMIN_PASSWORD }
        : null,
    limitWebhook:
      data.LIMIT_WEBHOOK_URL !== undefined && data.LIMIT_WEBHOOK_SECRET !== undefined
        ? { url: data.LIMIT_WEBHOOK_URL, secret: data.LIMIT_WEBHOOK_SECRET }
        : null,
    valkeyUrl: data.VALKEY_URL ?? null,
    responsesState: data.RESPONSES_STATE ?? (workers === 1 ? "memory" : "off"),
    upstreamPrivateHosts: data.UPSTREAM_PRIVATE_HOSTS,
    environmentKeys: new EnvironmentKeys(given),
    syncUsage: data.USAGE_SYNC === undefined ? data.NODE_ENV === "production" : data.USAGE_SYNC === "on",
    logLevel: data.LOG_LEVEL,
    limits: Object.freeze(
      Object.fromEntries(
        Object.entries(limitVariables).map(([limit, { variable }]) => [limit, data[variable]]),
      ) as Settings,
    ),
  });
}

function readVariables(given: Record<string, string | undefined>): z.output<typeof variables> {
  const { error } = variables.safeParse(given, withoutCompilation);
  // The first problem of a variable causes the later problems.
  const wrong = new Map<string, string>();
  for (const { path, message } of error?.issues.toReversed() ?? []) {
    const variable = String(path[0]);
    wrong.set(variable, `${nameValue(variable, given[variable])} ${message}`);
  }
  for (const [variable, value] of Object.entries(given)) {
    // A blank value would become the number 0.
    if (variable in variables.shape && value?.trim() === "") {
      wrong.set(variable, "the value contains only spaces. Remove the variable, or set a value.");
    }
  }
  // All variables are optional, so the valid variables can be parsed alone.
  const right = Object.entries(given).filter(([variable]) => !wrong.has(variable));
  const data = variables.parse(Object.fromEntries(right), withoutCompilation);
  const problems = [...[...wrong].toReversed(), ...findConflicts(data, wrong)];
  if (problems.length === 0) return data;
  throw new ConfigError(problems.map(([variable, message]) => `${variable}: ${message}`));
}

/** Without `jitless`, Zod compiles the parser, which takes longer than the two parses. */
const withoutCompilation = { jitless: true };

export class ConfigError extends StartError {
  override readonly name = "ConfigError";

  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
  }
}

const responsesStates = ["memory", "valkey", "off"] as const;

type ResponsesState = (typeof responsesStates)[number];

const limit = (least: number) => wholeNumber("is not a whole number.", least);

const usdProblem = "is not an amount in US dollars. Use a number from 0 to 1000000, such as 20 or 0.5.";
const usd = z.coerce.number(usdProblem).min(0, usdProblem).max(1_000_000, usdProblem);

const limits = Object.fromEntries(
  Object.values(limitVariables).map(({ variable, value, ...more }) => [
    variable,
    ("isUsd" in more ? usd : limit("least" in more ? more.least : 1)).default(value),
  ]),
) as Record<LimitVariable, z.ZodDefault<ReturnType<typeof limit>>>;

const variables = z.object({
  ...limits,
  ...tracingVariables,
  HOST: z.string().default("127.0.0.1"),
  PORT: port.default(8080),
  WORKERS: workersSetting.default(1),
  METRICS_PORT: port.optional(),
  METRICS_HOST: z.string().optional(),
  TRUSTED_PROXIES: trustedProxiesSetting.default(0),
  PUBLIC_URL: httpUrl.optional(),
  CORS_ORIGINS: corsOrigins.default([]),
  DATABASE_URL: databaseUrl.optional(),
  DATA_DIR: z.string().default("data"),
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_PREVIOUS: masterKeys.default([]),
  KMS_KEY_ID: z.string().trim().max(2048, "is too long. Use the ARN, ID or alias of a KMS key.").optional(),
  KMS_ENCRYPTION_CONTEXT: encryptionContext.default({ app: "gateway" }),
  JWT_SECRET: jwtSecret.optional(),
  ADMIN_EMAIL: z.email("is not an email address. Use an address such as ada@example.com.").optional(),
  ADMIN_PASSWORD: z
    .string()
    .min(10, "has fewer than 10 characters. Use 10 to 256 characters.")
    .max(256, "has more than 256 characters. Use 10 to 256 characters.")
    .optional(),
  LIMIT_WEBHOOK_URL: httpUrl.optional(),
  LIMIT_WEBHOOK_SECRET: webhookSecret.optional(),
  VALKEY_URL: valkeyUrl.optional(),
  RESPONSES_STATE: z.enum(responsesStates, "is unknown. Use memory, valkey or off.").optional(),
  UPSTREAM_PRIVATE_HOSTS: privateHosts.default([]),
  USAGE_SYNC: z.enum(["on", "off"], "is unknown. Use on or off.").optional(),
  NODE_ENV: z.string().optional(),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"], "is unknown. Use debug, info, warn, error or silent.")
    .default("info"),
});

/** Excludes the variables with provider keys. */
export const configVariables = Object.keys(variables.shape);
