import type { TestGateway } from "./test-gateway.ts";

export async function askHistory<Data = unknown>(
  gateway: Pick<TestGateway, "url">,
  accessToken: string | undefined,
  query: unknown,
  { variables, headers = {}, method = "POST", body }: AskOptions = {},
): Promise<HistoryAnswer<Data>> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method,
    headers: {
      ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }),
      "content-type": "application/json",
      ...headers,
    },
    ...(method === "POST" && { body: body ?? JSON.stringify({ query, variables }) }),
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text) as Partial<HistoryAnswer<Data>>;
  return { status: response.status, headers: response.headers, text, data, errors: errors ?? [] };
}

type AskOptions = {
  variables?: Record<string, unknown>;
  headers?: Record<string, string>;
  method?: string;
  /** Replaces the body that is built from the query. */
  body?: string;
};

type HistoryAnswer<Data> = {
  status: number;
  headers: Headers;
  text: string;
  data: Data | undefined;
  errors: { message: string; path?: unknown[]; extensions: Record<string, unknown> }[];
};
