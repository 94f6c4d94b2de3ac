import { GraphQLError } from "graphql";
import { toGatewayError } from "../errors.ts";
import type { Log } from "../log.ts";
import { statusOf } from "./error-statuses.ts";

/**
 * Anything that was thrown while a query was answered, in words and with the request's id. What GraphQL itself finds wrong
 * with a document has words already.
 */
export function formatError(thrown: unknown, requestId: string, log: Log): GraphQLError {
  const own = thrown instanceof GraphQLError ? thrown : null;
  let cause = own ? own.originalError : thrown;
  while (cause instanceof GraphQLError) cause = cause.originalError;
  // A scalar that refuses a value says what is wrong with it, as a TypeError of ours.
  if (own && (!cause || cause instanceof TypeError) && own.path === undefined) {
    return withExtensions(own, { status: 400, code: "invalid_value", requestId });
  }
  const error = toGatewayError(cause);
  if (error.code === "internal_error")
    log.error({ requestId, error }, "a query failed by a mistake of the gateway");
  const shown = new GraphQLError(error.message, { nodes: own?.nodes, path: own?.path });
  const { code, param, retryAfterSeconds } = error;
  return withExtensions(shown, { status: statusOf(error), code, param, retryAfterSeconds, requestId });
}

type Extensions = {
  status: number;
  code: string;
  requestId: string;
  param?: string | null;
  retryAfterSeconds?: number | null;
};

function withExtensions(
  error: GraphQLError,
  { status, retryAfterSeconds, ...shown }: Extensions,
): GraphQLError {
  const headers: Record<string, string> = retryAfterSeconds
    ? { "retry-after": String(retryAfterSeconds) }
    : {};
  // Yoga makes the response's status and headers of `http`, and takes it out.
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    extensions: { ...shown, http: { status, headers } },
  });
}
