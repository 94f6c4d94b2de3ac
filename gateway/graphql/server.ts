import { ReadableStream as Stream } from "node:stream/web";
import { GraphQLError, parse } from "graphql";
import { createYoga, type Plugin, type YogaServerInstance } from "graphql-yoga";
import type { Log } from "../log.ts";
import type { GraphqlContext } from "./builder.ts";
import { checkDocument, documentTokensMax } from "./document-limits.ts";
import { toJsonParts } from "./lists-in-turns.ts";
import { createSchema } from "./schema.ts";
import { errorStatuses, toGatewayError } from "../errors.ts";

type ServerOptions = { path: string; recordsPerPageMax: number; log: Log };

/** `graphql.ts` imports this file at the first query, because GraphQL's libraries load slowly. */
export function createGraphqlServer({ path, recordsPerPageMax, log }: ServerOptions): GraphqlServer {
  return createYoga<GraphqlContext>({
    schema: createSchema(),
    graphqlEndpoint: path,
    plugins: [withLimits(recordsPerPageMax), withOurErrors(log), withParts],
    maskedErrors: false,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    // Documents are short, and any user could fill a cache.
    parserAndValidationCache: false,
    // `graphql.ts` passes Node's own `Request`. Yoga's default classes are a different implementation.
    fetchAPI: { Request, Response, Headers, URL, URLSearchParams, ReadableStream, TextEncoder, TextDecoder },
  });
}

export type GraphqlServer = YogaServerInstance<GraphqlContext, object>;

function withLimits(recordsPerPageMax: number): Plugin<object, GraphqlContext> {
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, maxTokens: documentTokensMax }));
      return ({ result, replaceParseResult }) => {
        if (result === null || result instanceof Error) return;
        try {
          checkDocument(result, recordsPerPageMax);
        } catch (error) {
          replaceParseResult(error);
        }
      };
    },
  };
}

/** Formats errors with the request's ID, which Yoga's masking cannot add. */
function withOurErrors(log: Log): Plugin<object, GraphqlContext> {
  return {
    onResultProcess({ result, setResult, serverContext }) {
      const results = Array.isArray(result) ? result : [result];
      for (const each of results) {
        if (!("errors" in each) || !each.errors) continue;
        const errors = each.errors.map((error) => formatError(error, serverContext.requestId, log));
        setResult({ ...each, errors });
      }
    },
  };
}

/** Yoga would write a whole response at once. It still writes everything but the data. */
const withParts: Plugin<object, GraphqlContext> = {
  onResultProcess({ request, result, resultProcessor, setResultProcessor }) {
    if (!resultProcessor || Array.isArray(result) || !("data" in result) || !result.data) return;
    const { data, ...others } = result;
    setResultProcessor(
      async (_result, fetchAPI, accepted) => {
        const rest = await resultProcessor({ ...others, data: {} }, fetchAPI, accepted);
        const text = await rest.text();
        const parts = partsOf(text.slice(0, -"{}}".length), data);
        return new fetchAPI.Response(Stream.from(parts) as ReadableStream, rest);
      },
      request.headers.get("accept") ?? "application/json",
    );
  },
};

async function* partsOf(beginning: string, data: object): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(beginning);
  for await (const part of toJsonParts(data)) yield encoder.encode(part);
  yield encoder.encode("}");
}

/** GraphQL's own errors before execution keep their messages. Other errors get a message that may be shown. */
function formatError(thrown: unknown, requestId: string, log: Log): GraphQLError {
  const own = thrown instanceof GraphQLError ? thrown : null;
  let cause = own ? own.originalError : thrown;
  while (cause instanceof GraphQLError) cause = cause.originalError;
  // Scalars reject invalid values with a `TypeError`.
  if (own && (!cause || cause instanceof TypeError) && own.path === undefined) {
    return withExtensions(own, { status: 400, code: "invalid_value", requestId });
  }
  const error = toGatewayError(cause);
  if (error.code === "internal_error")
    log.error({ requestId, error }, "a query failed with an internal error");
  const shown = new GraphQLError(error.message, { nodes: own?.nodes, path: own?.path });
  const { code, param, retryAfterSeconds } = error;
  return withExtensions(shown, { status: errorStatuses[code], code, param, retryAfterSeconds, requestId });
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
  // Yoga reads `http` for the response's status and headers, and removes it.
  return new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    path: error.path,
    extensions: { ...shown, http: { status, headers } },
  });
}
