import { resolve } from "node:path";
import { findConflicts, countWorkers } from "./config-conflicts.ts";
import { StartError } from "../errors.ts";
import { EnvironmentKeys } from "./environment-keys.ts";
import { readTracing } from "./read-tracing.ts";
import {
  environmentSchema,
  type Members,
  type Settings,
  type Values,
  type Variable,
  variables,
} from "./variables.ts";

/** Everything that the environment configures, read once at start. `Members` are variables as they are. */
export type Config = ReturnType<typeof readConfig>;

/** Throws one `ConfigError` for all invalid variables. Its message quotes no value that resembles a secret. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env) {
  // Many deployment tools pass an unset variable as an empty string.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const data = readVariables(given);
  const dataDir = resolve(data.DATA_DIR);
  const workers = countWorkers(data.WORKERS, data.DATABASE_URL);
  const responsesState: NonNullable<Values["RESPONSES_STATE"]> =
    data.RESPONSES_STATE ?? (workers === 1 ? "memory" : "off");
  return Object.freeze({
    ...(pick("member", data) as Members),
    workers,
    /** The address of the metrics endpoint. Null disables it. */
    metrics:
      data.METRICS_PORT === undefined
        ? null
        : { host: data.METRICS_HOST ?? data.HOST, port: data.METRICS_PORT },
    /** The destination of traces. Null disables tracing. */
    tracing: readTracing(data),
    databaseUrl: data.DATABASE_URL ?? `sqlite:${resolve(dataDir, "gateway.db")}`,
    dataDir,
    /** Whether the first start prints an API key. Not with MySQL or in production, whose logs would keep it. */
    makesFirstKey: data.NODE_ENV !== "production" && (data.DATABASE_URL ?? "sqlite:").startsWith("sqlite:"),
    /** Earlier master keys, which open old secrets and seal no new ones. */
    previousMasterKeys: data.MASTER_KEY_PREVIOUS,
    /** The AWS KMS key that wraps the data keys. Null without KMS. */
    kms:
      data.KMS_KEY_ID === undefined
        ? null
        : { keyId: data.KMS_KEY_ID, encryptionContext: data.KMS_ENCRYPTION_CONTEXT },
    /** The secrets of access and refresh tokens, newest first. Null if a key file in the data folder replaces them. */
    jwtSecrets: data.JWT_SECRET ?? null,
    administrator:
      data.ADMIN_EMAIL !== undefined && data.ADMIN_PASSWORD !== undefined
        ? { email: data.ADMIN_EMAIL, password: data.ADMIN_PASSWORD }
        : null,
    /** The receiver of budget warnings. Null sends no warnings. */
    limitWebhook:
      data.LIMIT_WEBHOOK_URL !== undefined && data.LIMIT_WEBHOOK_SECRET !== undefined
        ? { url: data.LIMIT_WEBHOOK_URL, secret: data.LIMIT_WEBHOOK_SECRET }
        : null,
    /** The store of translated responses for follow-ups. */
    responsesState,
    environmentKeys: new EnvironmentKeys(given),
    /** Whether usage records are flushed to the device, to survive a power failure. */
    syncUsage: data.USAGE_SYNC === undefined ? data.NODE_ENV === "production" : data.USAGE_SYNC === "on",
    limits: Object.freeze(pick("limit", data) as Settings),
  });
}

/** The values of a kind of variables, by the variables' names in camel case. */
function pick(wanted: Variable["kind"], data: Values): unknown {
  const members = Object.entries(variables)
    .filter(([, { kind }]) => kind === wanted)
    .map(([variable]) => {
      const name = variable.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      return [name, data[variable as keyof Values] ?? null];
    });
  return Object.fromEntries(members);
}

function readVariables(given: Record<string, string | undefined>): Values {
  const { error } = environmentSchema.safeParse(given, withoutCompilation);
  // The first problem of a variable causes the later problems.
  const wrong = new Map<string, string>();
  for (const { path, message } of error?.issues.toReversed() ?? []) {
    const variable = String(path[0]);
    wrong.set(variable, `${nameValue(variable, given[variable])} ${message}`);
  }
  for (const [variable, value] of Object.entries(given)) {
    // A blank value would become the number 0.
    if (variable in variables && value?.trim() === "") {
      wrong.set(variable, "the value contains only spaces. Remove the variable, or set a value.");
    }
  }
  // All variables are optional, so the valid variables can be parsed alone.
  const right = Object.entries(given).filter(([variable]) => !wrong.has(variable));
  const data = environmentSchema.parse(Object.fromEntries(right), withoutCompilation);
  const problems = [...[...wrong].toReversed(), ...findConflicts(data, wrong)];
  if (problems.length === 0) return data;
  throw new ConfigError(problems.map(([variable, message]) => `${variable}: ${message}`));
}

/** Without `jitless`, Zod compiles the parser, which takes longer than the two parses. */
const withoutCompilation = { jitless: true };

/** The subject of a variable's error message: the value in quotation marks, unless it may be a secret. */
function nameValue(variable: string, value = ""): string {
  if (isSecret(variable) || resemblesSecret(value)) return "the value";
  // Newlines and escape sequences could forge log lines.
  const text = value.slice(0, shownLengthMax).replace(/\p{C}/gu, "");
  return `"${text}${value.length > shownLengthMax ? "…" : ""}"`;
}

const shownLengthMax = 60;

/** A URL may contain a password, and `ADMIN_EMAIL` may contain a password by mistake. A limit is only a number. */
function isSecret(variable: string): boolean {
  return (
    variables[variable as keyof Values].kind !== "limit" &&
    /URL|ENDPOINT|KEY|SECRET|PASSWORD|TOKEN|HEADERS|CREDENTIAL|CONTEXT|ATTRIBUTES|EMAIL/.test(variable)
  );
}

/** A key in the wrong variable is a long word of letters and digits. A URL with a password contains `@`. */
function resemblesSecret(value: string): boolean {
  const words = value.split(/[^\w+/=-]+/);
  return (
    value.includes("@") || words.some((word) => word.length >= 20 && /\d/.test(word) && /[a-z]/i.test(word))
  );
}

export class ConfigError extends StartError {
  override readonly name = "ConfigError";

  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
  }
}
