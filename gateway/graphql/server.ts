import { parse } from "graphql";
import { createYoga, type Plugin, type YogaServerInstance } from "graphql-yoga";
import type { Log } from "../log.ts";
import type { GraphqlContext } from "./builder.ts";
import { checkDocument, documentTokensMax } from "./document-limits.ts";
import { formatError } from "./format-error.ts";
import { createSchema } from "./schema.ts";

type ServerOptions = { path: string; recordsPerPageMax: number; log: Log };

/** GraphQL over HTTP, for requests that have been let in. This file is what takes long to import. */
export function createGraphqlServer({ path, recordsPerPageMax, log }: ServerOptions): GraphqlServer {
  return createYoga<GraphqlContext>({
    schema: createSchema(),
    graphqlEndpoint: path,
    plugins: [withLimits(recordsPerPageMax), withOurErrors(log)],
    maskedErrors: false,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
    // Documents are short, and a cache of them would be a memory that anybody can fill.
    parserAndValidationCache: false,
    // Node's own.
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

/** Yoga could mask errors by itself, but knows nothing of the request then. */
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
