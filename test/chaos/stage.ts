import { randomBytes } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { ExecutionContext } from "ava";
import { freePort } from "../helpers/free-port.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { type GatewayProcess, startGatewayProcess } from "../helpers/gateway-process.ts";
import { type createConsoleClient, patience, signIn } from "../helpers/test-gateway.ts";
import { type RecordedRequest, recordedRequests } from "../helpers/recorded-requests.ts";

/** A gateway process that can be killed and restarted at the same address, with one upstream. */
export type Stage = {
  url: string;
  key: string;
  model: string;
  /** Returns the running process, which `restart` replaces. */
  gateway(): GatewayProcess;
  restart(): Promise<void>;
  /** Reads the usage records directly from the database. */
  records(): Promise<RecordedRequest[]>;
  readonly console: ReturnType<typeof createConsoleClient>;
  /** Replaces the client of `console`, because access tokens are short-lived. */
  signIn(): Promise<void>;
};

type StageOptions = {
  upstream: { url: string };
  dataDir: string;
  databaseUrl: string;
  /** The database URL for `records`, if `databaseUrl` points to a proxy that can fail. */
  ownDatabaseUrl?: string;
  environment?: Record<string, string>;
  /** A file in `seeded-bugs/` that the gateway loads, to prove that the test detects the bug. */
  bug?: string | undefined;
};

export async function setStage(t: ExecutionContext, options: StageOptions): Promise<Stage> {
  const { upstream, dataDir, databaseUrl, ownDatabaseUrl = databaseUrl, environment, bug } = options;
  const admin = { email: "ada@example.com", password: randomBytes(12).toString("hex") };
  const all = {
    PORT: String(await freePort()),
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    UPSTREAM_PRIVATE_HOSTS: "*",
    LOG_LEVEL: "warn",
    USAGE_ADOPT_INTERVAL_MS: "500",
    ...patience,
    ...environment,
    ...(bug && {
      NODE_OPTIONS: `--import=${pathToFileURL(path.join(import.meta.dirname, "seeded-bugs", bug))}`,
    }),
  };
  let gateway = startGatewayProcess(t, all);
  const url = await gateway.listening();
  let console = await signIn(url, admin);
  const { value, model } = await connectUpstream({ admin: console }, upstream);
  return {
    url,
    model,
    key: value,
    get console() {
      return console;
    },
    async signIn() {
      console = await signIn(url, admin);
    },
    gateway: () => gateway,
    async restart() {
      gateway = startGatewayProcess(t, all);
      await gateway.listening();
    },
    records: () => recordedRequests(ownDatabaseUrl),
  };
}
