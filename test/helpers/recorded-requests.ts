import { queryDatabase } from "./query-database.ts";

export async function recordedRequests(databaseUrl: string): Promise<RecordedRequest[]> {
  return (await queryDatabase(databaseUrl, query)) as RecordedRequest[];
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
