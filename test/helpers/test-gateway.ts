import { randomBytes } from "node:crypto";
import type { ExecutionContext } from "ava";
import type { UserRow } from "../../db/entities/user.ts";
import type { AppRouter } from "../../gateway/trpc/app-router.ts";
import { hashPassword } from "../../gateway/auth/password-hasher.ts";
import { readConfig } from "../../gateway/config/config.ts";
import { createId } from "../../gateway/ids.ts";
import { createLog } from "../../gateway/log.ts";
import { type Runtime, systemRuntime } from "../../gateway/runtime.ts";
import { startGateway, type RunningGateway } from "../../gateway/start/start-gateway.ts";
import { watchConservation } from "./conservation.ts";
import { hangMs } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { createMigratedDatabase, type DatabaseKind } from "./test-database.ts";
import { createTestFolder } from "./test-folder.ts";
import { createTRPCClient, httpLink, type TRPCClient } from "@trpc/client";

/** Starts a gateway on a free port. By default, it has a new SQLite database and a signed-in administrator. */
export async function startTestGateway(
  t: Pick<ExecutionContext, "teardown">,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const environment: Record<string, string> = {
    PORT: String(isPortReused ? (reusedPort = await freePort(reusedPort)) : 0),
    DATA_DIR: await createTestFolder(t),
    DATABASE_URL:
      options.environment?.["DATABASE_URL"] ?? (await createMigratedDatabase(t, options.kind ?? "sqlite")),
    UPSTREAM_PRIVATE_HOSTS: "*",
    USAGE_FLUSH_INTERVAL_MS: "20",
    DRAIN_TIMEOUT_MS: "2000",
    ...patience,
    ...options.environment,
  };
  const log: string[] = [];
  const runtime = {
    ...systemRuntime(createLog("debug", { write: (line) => log.push(line) })),
    hashStrength: weakestStrength,
    ...(options.runtime?.now && { monotonicNow: options.runtime.now }),
    ...options.runtime,
  };
  const gateway = await startGateway(readConfig(environment), runtime);
  const checkConservation = watchConservation(gateway.services, environment["DATABASE_URL"] ?? "");
  let renewal: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;
  const close = () => {
    clearInterval(renewal);
    return (closing ??= gateway.close().then(checkConservation));
  };
  t.teardown(close);
  let accessToken = "";
  if (!options.withoutAdministrator) {
    accessToken = await signInAdministrator(gateway, runtime);
    const renew = async () => void (accessToken = await startSession(gateway));
    // A token is valid for ten minutes. On a busy machine, the tests that share a gateway may take longer.
    renewal = setInterval(() => void renew().catch(() => {}), 240_000).unref();
  }
  const admin = createConsoleClient(gateway.url, () => accessToken);
  return {
    ...gateway,
    close,
    admin,
    get accessToken() {
      return accessToken;
    },
    log,
    environment,
  };
}

/** Test files share a machine, so what is only slow must not count as unavailable, silent, gone or over. */
export const patience = {
  STREAM_PING_INTERVAL_MS: String(hangMs),
  REQUEST_HEADERS_TIMEOUT_MS: String(hangMs),
  REQUEST_RECEIVE_TIMEOUT_MS: String(hangMs),
  CLIENT_STALL_TIMEOUT_MS: String(hangMs),
  DATABASE_TIMEOUT_MS: String(hangMs),
  DATABASE_CONNECT_TIMEOUT_MS: String(hangMs),
  VALKEY_TIMEOUT_MS: String(hangMs),
  UPSTREAM_CONNECT_TIMEOUT_MS: String(hangMs),
  UPSTREAM_IDLE_TIMEOUT_MS: String(hangMs),
  UPSTREAM_COOL_DOWN_MS: String(hangMs),
  QUEUE_WAIT_MS_MAX: String(hangMs),
  USAGE_QUERY_TIMEOUT_MS: String(hangMs),
};

/** From now on, this file's gateways listen on the same port, one after another. */
export function reusePort(): void {
  isPortReused = true;
}

let isPortReused = false;
let reusedPort = 0;

export type TestGateway = RunningGateway & {
  /** A signed-in administrator's client of `/trpc`. */
  admin: TRPCClient<AppRouter>;
  accessToken: string;
  /** The gateway's log, as JSON lines. */
  log: string[];
  environment: Record<string, string>;
};

type TestGatewayOptions = {
  kind?: DatabaseKind;
  /** Extends or replaces the test defaults. Gateways with the same DATABASE_URL share a database. */
  environment?: Record<string, string>;
  runtime?: Partial<Runtime>;
  /** Creates no administrator, and `admin` is not signed in. */
  withoutAdministrator?: boolean;
};

export function createConsoleClient(
  url: string,
  accessToken?: string | (() => string),
): TRPCClient<AppRouter> {
  // Compressing thousands of responses would take a fiftieth of the suite's time.
  const encoding = { "accept-encoding": "identity" };
  const headers = () => {
    if (accessToken === undefined) return encoding;
    const token = typeof accessToken === "string" ? accessToken : accessToken();
    return { ...encoding, authorization: `Bearer ${token}` };
  };
  return createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc`, headers })] });
}

/** Signs a person in. Returns the person's client. */
export async function signIn(
  url: string,
  { email, password }: { email: string; password: string },
): Promise<TRPCClient<AppRouter>> {
  const { accessToken } = await createConsoleClient(url).auth.signIn.mutate({ email, password });
  return createConsoleClient(url, accessToken);
}

export const administrator = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };

/**
 * Creates the administrator if missing, and starts a session without the sign-in endpoint, which would hash the
 * password again.
 */
async function signInAdministrator({ services }: RunningGateway, runtime: Runtime): Promise<string> {
  const { database, audit, sessions } = services;
  const session = await database.write(async (repositories) => {
    const known = await repositories.users.findByEmail(administrator.email);
    const user = known ?? newAdministrator(runtime);
    if (!known) await repositories.users.insert(user);
    const action = known ? "user.signIn" : "user.setUp";
    await audit.record(repositories, { ...user, address: "127.0.0.1" }, action, user);
    return sessions.start(repositories, user);
  });
  return session.accessToken;
}

/** Starts another session of the administrator, and writes nothing to the audit log. */
async function startSession({ services: { database, sessions } }: RunningGateway): Promise<string> {
  const session = await database.write(async (repositories) => {
    const user = await repositories.users.findByEmail(administrator.email);
    return user && sessions.start(repositories, user);
  });
  if (!session) throw new Error("The administrator has another address.");
  return session.accessToken;
}

function newAdministrator(runtime: Runtime): UserRow {
  const { name, email } = administrator;
  const createdAt = new Date(runtime.now());
  const id = createId("usr", runtime);
  const usual = { status: "active", keepKeys: false, lastSignInAt: null } as const;
  return { id, name, email, passwordHash, role: "admin", ...usual, createdAt };
}

/** The weakest parameters that argon2id accepts. The default ones take a tenth of a second per password. */
export const weakestStrength = { parallelism: 1, memory: 8, passes: 1 };
const passwordHash = await hashPassword(administrator.password, {
  randomBytes,
  hashStrength: weakestStrength,
});

export async function createKey(
  gateway: Pick<TestGateway, "admin">,
  models: string[] = ["demo/echo"],
): Promise<{ id: string; value: string }> {
  const { key, value } = await gateway.admin.keys.create.mutate({ name: "Test key", models });
  return { id: key.id, value };
}

/** Flushes the recorder and returns up to 100 usage records of a key, newest first. */
export async function usageOf({ services }: TestGateway, keyId: string, countMax = 100) {
  await services.recorder.flush();
  return services.database.read(({ usageRecords }) => usageRecords.listByKey(keyId, countMax));
}
