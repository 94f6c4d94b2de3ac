import type { TadaDocumentNode } from "gql.tada";
import { session } from "./session.svelte.ts";

export class GraphqlError extends Error {
  override readonly name = "GraphqlError";
  readonly code: string | null;
  readonly requestId: string | null;

  constructor(message: string, code: string | null, requestId: string | null) {
    super(message);
    this.code = code;
    this.requestId = requestId;
  }
}

type Answer<Data> = { data?: Data | null; errors?: { message: string; extensions?: { code?: string } }[] };

/** Queries the usage history. Throws a `GraphqlError` if the query fails. */
export async function askGraphql<Data, Variables>(
  query: TadaDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  let response = await send(query, variables);
  if (response.status === 401) {
    await session.renew();
    response = await send(query, variables);
  }
  const requestId = response.headers.get("x-request-id");
  const { data, errors }: Answer<Data> = await response.json().catch(() => ({}));
  const [error] = errors ?? [];
  if (error || !data) {
    const message =
      error?.message ?? `The gateway returned HTTP status ${response.status}. Retry in a moment.`;
    throw new GraphqlError(message, error?.extensions?.code ?? null, requestId);
  }
  return data;
}

async function send(query: unknown, variables: unknown): Promise<Response> {
  const token = await session.token();
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  };
  return fetch("/graphql", init).catch(() => {
    throw new GraphqlError(
      "The gateway cannot be reached. Check that it is running and that you are online.",
      null,
      null,
    );
  });
}
