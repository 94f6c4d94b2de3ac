import Sqlite from "better-sqlite3";
import type { RowDataPacket } from "mysql2/promise";

export async function recordedRequests(databaseUrl: string): Promise<RecordedRequest[]> {
  if (databaseUrl.startsWith("sqlite:")) {
    const database = new Sqlite(databaseUrl.slice("sqlite:".length), { readonly: true });
    try {
      return database.prepare<[], RecordedRequest>(query).all();
    } finally {
      database.close();
    }
  }
  const { createConnection } = await import("mysql2/promise");
  const connection = await createConnection({ uri: databaseUrl, connectTimeout: 120_000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(query);
    return rows as RecordedRequest[];
  } finally {
    await connection.end();
  }
}

export type RecordedRequest = {
  id: string;
  provider: string;
  attempts: number;
  status: "SUCCEEDED" | "FAILED" | "CANCELLED" | "INTERRUPTED";
  inputTokens: number | null;
  outputTokens: number | null;
  estimated: 0 | 1;
};

const query = `SELECT id, provider, attempts, status, input_tokens AS inputTokens, output_tokens AS outputTokens, estimated
               FROM usage_records`;
