import type { IncomingHttpHeaders } from "node:http";
import type { RequestHandler } from "express";
import { type ClientHeaders, converse } from "../completions/converse.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { modelEndpoint, type ModelEndpointOptions } from "./model-endpoint.ts";

/** An endpoint for clients that speak another dialect than chat completions. */
export function dialectEndpoint(options: ModelEndpointOptions, dialect: Dialect): RequestHandler {
  const headerNames = passedHeaders[dialect.endpointName] ?? [];
  return modelEndpoint(
    options,
    dialect.endpointName,
    (completeOptions, exchange, body, headers) =>
      converse(completeOptions, exchange, body, dialect, pickHeaders(headers, headerNames)),
    dialect,
  );
}

/** What a native upstream gets of the client's headers; all else stays here. */
const passedHeaders: Record<string, string[]> = {
  messages: ["anthropic-version", "anthropic-beta"],
};

function pickHeaders(headers: IncomingHttpHeaders, names: string[]): ClientHeaders {
  const picked: ClientHeaders = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string") picked[name] = value;
  }
  return picked;
}
