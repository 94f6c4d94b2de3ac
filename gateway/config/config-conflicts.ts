import { availableParallelism } from "node:os";
import type { Values } from "./variables.ts";

export function findConflicts(values: Values, wrong: { has(variable: string): boolean }): Conflict[] {
  return conflicts.flatMap(({ of, find }): Conflict[] => {
    // An invalid variable has no value to compare.
    const message = of.some((variable) => wrong.has(variable)) ? null : find(values);
    return message === null ? [] : [[of[0], message]];
  });
}

type Conflict = [variable: string, message: string];

type Name = keyof Values;

/** The message is about the first variable. */
const conflicts: { of: [Name, ...Name[]]; find(values: Values): string | null }[] = [
  {
    of: ["WORKERS", "DATABASE_URL"],
    find({ WORKERS, DATABASE_URL }) {
      if (countWorkers(WORKERS, DATABASE_URL) === 1 || canHaveSeveral(DATABASE_URL)) return null;
      return `${WORKERS} workers require MySQL or MariaDB, because SQLite allows one writing process. Set DATABASE_URL to a mysql:// URL, or WORKERS to 1.`;
    },
  },
  {
    of: ["METRICS_PORT", "METRICS_HOST", "PORT", "HOST"],
    find({ HOST, PORT, METRICS_HOST = HOST, METRICS_PORT = 0 }) {
      if (PORT === 0 || METRICS_PORT !== PORT || METRICS_HOST !== HOST) return null;
      return `${PORT} is also the value of PORT, but metrics have their own listener. Use another port, or set METRICS_HOST.`;
    },
  },
  {
    of: ["REQUEST_RECEIVE_TIMEOUT_MS", "REQUEST_HEADERS_TIMEOUT_MS"],
    find({ REQUEST_RECEIVE_TIMEOUT_MS, REQUEST_HEADERS_TIMEOUT_MS }) {
      if (REQUEST_RECEIVE_TIMEOUT_MS >= REQUEST_HEADERS_TIMEOUT_MS) return null;
      return `${REQUEST_RECEIVE_TIMEOUT_MS} is less than REQUEST_HEADERS_TIMEOUT_MS. Use ${REQUEST_HEADERS_TIMEOUT_MS} or more.`;
    },
  },
  {
    of: ["REQUEST_BODIES_BYTES_MAX", "REQUEST_BODY_BYTES_MAX"],
    find({ REQUEST_BODIES_BYTES_MAX, REQUEST_BODY_BYTES_MAX }) {
      if (REQUEST_BODIES_BYTES_MAX >= 3 * REQUEST_BODY_BYTES_MAX) return null;
      return `${REQUEST_BODIES_BYTES_MAX} is less than three times REQUEST_BODY_BYTES_MAX, so one body can exceed the share of a key. Use ${3 * REQUEST_BODY_BYTES_MAX} or more, or reduce REQUEST_BODY_BYTES_MAX.`;
    },
  },
  {
    of: ["RESPONSES_STATE", "VALKEY_URL"],
    find({ RESPONSES_STATE, VALKEY_URL }) {
      if (RESPONSES_STATE !== "valkey" || VALKEY_URL !== undefined) return null;
      return '"valkey" requires VALKEY_URL. Set VALKEY_URL, or use memory or off.';
    },
  },
  {
    of: ["RESPONSES_STATE", "WORKERS", "DATABASE_URL"],
    find({ RESPONSES_STATE, WORKERS, DATABASE_URL }) {
      if (RESPONSES_STATE !== "memory" || countWorkers(WORKERS, DATABASE_URL) === 1) return null;
      return '"memory" requires 1 worker, because a follow-up may reach another process. Use valkey or off, or set WORKERS to 1.';
    },
  },
  {
    of: ["KMS_KEY_ID", "MASTER_KEY"],
    find({ KMS_KEY_ID, MASTER_KEY }) {
      if (KMS_KEY_ID === undefined || MASTER_KEY === undefined) return null;
      return "KMS replaces MASTER_KEY, but both are set. Rename MASTER_KEY to MASTER_KEY_PREVIOUS, so that the gateway can decrypt existing provider keys.";
    },
  },
  {
    of: ["LIMIT_WEBHOOK_URL", "LIMIT_WEBHOOK_SECRET"],
    find({ LIMIT_WEBHOOK_URL, LIMIT_WEBHOOK_SECRET }) {
      if ((LIMIT_WEBHOOK_URL === undefined) === (LIMIT_WEBHOOK_SECRET === undefined)) return null;
      return "only one of LIMIT_WEBHOOK_URL and LIMIT_WEBHOOK_SECRET is set. Set both, or neither.";
    },
  },
  {
    of: ["ADMIN_EMAIL", "ADMIN_PASSWORD"],
    find: ({ ADMIN_EMAIL, ADMIN_PASSWORD }) =>
      ADMIN_EMAIL === undefined && ADMIN_PASSWORD !== undefined ? missing : null,
  },
  {
    of: ["ADMIN_PASSWORD", "ADMIN_EMAIL"],
    find: ({ ADMIN_EMAIL, ADMIN_PASSWORD }) =>
      ADMIN_EMAIL !== undefined && ADMIN_PASSWORD === undefined ? missing : null,
  },
];

const missing = "the value is missing. Set both ADMIN_EMAIL and ADMIN_PASSWORD, or neither.";

/** `auto` means one process per core, or a single process with SQLite. */
export function countWorkers(workers: Values["WORKERS"], databaseUrl: string | undefined): number {
  if (workers !== "auto") return workers;
  return canHaveSeveral(databaseUrl) ? availableParallelism() : 1;
}

/** Without a URL, the database is SQLite. */
function canHaveSeveral(databaseUrl = "sqlite:"): boolean {
  return !databaseUrl.startsWith("sqlite:");
}
