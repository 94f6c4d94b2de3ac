import type { VariableName } from "../gateway/config/variables.ts";
import { databasePort, gatewayPort, metricsPort } from "./ports.ts";
import { workersOf } from "./sizes.ts";
import type { StackConfig } from "./stack-config.ts";
import { drainSeconds, keepAliveSeconds, upstreamFirstByteSeconds } from "./timing.ts";

type GatewayEnvironmentOptions = {
  config: StackConfig;
  publicUrl: string;
  databaseHost: string;
  providerKeyArn: string;
  encryptionContext: Record<string, string>;
};

/** The gateway's environment in its task, without secrets. A test checks that the gateway accepts each value. */
export function gatewayEnvironment(options: GatewayEnvironmentOptions): Record<string, string> {
  const { config, publicUrl, databaseHost, providerKeyArn, encryptionContext } = options;
  return {
    HOST: "0.0.0.0",
    PORT: String(gatewayPort),
    METRICS_PORT: String(metricsPort),
    PUBLIC_URL: publicUrl,
    // The load balancer is the only proxy, and the only route to the task.
    TRUSTED_PROXIES: "1",
    WORKERS: String(workersOf(config.cpu)),
    DATABASE_URL: databaseUrl({ user: appUser, host: databaseHost }),
    DATABASE_CONNECTIONS_MAX: String(config.databaseConnectionsMax),
    DATA_DIR: dataDir,
    // A follow-up request may reach another task, which lacks the kept response.
    RESPONSES_STATE: "off",
    KMS_KEY_ID: providerKeyArn,
    KMS_ENCRYPTION_CONTEXT: Object.entries(encryptionContext)
      .map(([name, value]) => `${name}=${value}`)
      .join(","),
    ADMIN_EMAIL: config.adminEmail,
    UPSTREAM_FIRST_BYTE_TIMEOUT_MS: String(upstreamFirstByteSeconds * 1_000),
    UPSTREAM_TOTAL_TIMEOUT_MS: String(config.streamSecondsMax * 1_000),
    KEEP_ALIVE_TIMEOUT_MS: String(keepAliveSeconds * 1_000),
    DRAIN_TIMEOUT_MS: String(drainSeconds * 1_000),
  } satisfies GatewayVariables;
}

export function migrateEnvironment({ databaseHost }: { databaseHost: string }): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl({ user: migrateUser, host: databaseHost }),
    DATA_DIR: dataDir,
  } satisfies GatewayVariables;
}

/** Rejects names that the gateway does not know. */
export type GatewayVariables = { [Name in VariableName]?: string };

/** `ssl=rds` requires a certificate from Amazon. `auth=iam` replaces the password with a token of the task's role. */
function databaseUrl({ user, host }: { user: string; host: string }): string {
  return `mysql://${user}@${host}:${databasePort}/gateway?ssl=rds&auth=iam`;
}

/** The task's volume, the only writable folder. */
export const dataDir = "/data";

/** The service's database user. It can read and write rows, and change the partitions of usage records. */
export const appUser = "gateway";

export const migrateUser = "gateway_migrate";
